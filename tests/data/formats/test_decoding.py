"""Streams of words: each violation by name, count and byte; any cut of the bytes; any processor."""

from __future__ import annotations

import struct
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.formats.columns import Columns
from evsurf.data.formats.damage import VIOLATIONS, Damage, DamageError
from evsurf.data.formats.decoding import WORD, Decoder, Layout, unwritten
from tests.data.formats import encoders as enc

SIZE = (480, 640)


def decoded(layout, payload: bytes, *, cuts=(), size=SIZE, position=0, **options):
    damage = options.pop("damage", Damage())
    decoder = Decoder(layout, size, damage, position=position, **options)
    edges = [0, *sorted(cuts), len(payload)]
    parts = [decoder.feed(payload[a:b]) for a, b in pairwise(edges)]
    decoder.finish()
    return rows(Columns.joined(parts)), {
        name: (found.count, found.first) for name, found in damage.violations.items()
    }


def rows(found: Columns) -> list[tuple[int, int, int, int]]:
    return [(int(x), int(y), int(t), int(p)) for x, y, t, p in zip(*found, strict=True)]


# EVT 3.0 in words: time 4096 + 5, row 7.
START = (0x8001, 0x6005, 0x0007)
NEXT = 0x2803  # A good event: column 3, ON.
GOOD = (3, 7, 4101, 1)

EVT3 = {
    "column outside": ((*START, 0x2000 | 700, NEXT), [GOOD], {"out_of_bounds": (1, 6)}),
    "row outside": ((0x8001, 0x6005, 500, NEXT, 7, NEXT), [GOOD], {"out_of_bounds": (1, 6)}),
    "vector over the edge": (
        (*START, 0x3000 | 636, 0x4FFF, 0x4000, 0x5000, NEXT),
        [(636 + k, 7, 4101, 0) for k in range(4)] + [GOOD],
        {"out_of_bounds": (8, 8)},
    ),
    "time backwards": (
        (*START, NEXT, 0x6004, NEXT, 0x6005, NEXT),
        [GOOD, GOOD],
        {"time_backwards": (1, 10)},
    ),
    "upper time backwards": (
        (*START, NEXT, 0x8000, 0x6005, NEXT, 0x8001, 0x6005, NEXT),
        [GOOD, GOOD],
        {"time_high_backwards": (1, 8), "time_backwards": (1, 12)},
    ),
    "upper time jumps by more than half its range": (
        (*START, NEXT, 0x8FFF, 7, 0x2803),
        [GOOD, (3, 7, 0xFFF << 12, 1)],
        {"time_high_gap": (1, 8)},
    ),
    "no time yet": ((7, NEXT, 0x6005, NEXT, *START, NEXT), [GOOD], {"missing_time": (2, 2)}),
    "no row yet": ((0x8001, 0x6005, NEXT, 7, NEXT), [GOOD], {"missing_row": (1, 4)}),
    "no vector base yet": (
        (*START, 0x4001, 0x4001, 0x5001, NEXT),
        [GOOD],
        {"missing_vector_base": (3, 6)},
    ),
    "vector breaks off, and the next word is not swallowed": (
        (*START, 0x3002, 0x4003, NEXT, 0x3002, 0x4001, 0x4001, 0x5001, NEXT),
        [
            *((2, 7, 4101, 0), (3, 7, 4101, 0), GOOD),
            *((2, 7, 4101, 0), (14, 7, 4101, 0), (26, 7, 4101, 0), GOOD),
        ],
        {"partial_vector": (1, 8)},
    ),
    "vector of its last part only": (
        (*START, 0x3002, 0x5081, NEXT),
        [(2, 7, 4101, 0), (9, 7, 4101, 0), GOOD],
        {"partial_vector": (1, 8)},
    ),
    "vector cut off by the end": (
        (*START, NEXT, 0x3002, 0x4001),
        [GOOD, (2, 7, 4101, 0)],
        {"partial_vector": (1, 10)},
    ),
    "count breaks off": (
        (*START, 0xE014, 0xF123, NEXT, 0xE016, 0xF123, 0xF456, 0x7007, NEXT),
        [GOOD, GOOD],
        {"partial_continuation": (1, 6)},
    ),
    "unknown words": ((*START, 0x1000, 0xD000, NEXT), [GOOD], {"unknown_word": (2, 6)}),
}

HIGH = 8 << 28 | 2  # EVT 2: time 128.


def cd(x, y, low, p):
    return p << 28 | low << 22 | x << 11 | y


EVT2 = {
    "outside": (
        (HIGH, cd(640, 7, 1, 1), cd(3, 480, 1, 1), cd(3, 7, 2, 1)),
        {"out_of_bounds": (2, 4)},
    ),
    "time backwards": (
        (HIGH, cd(1, 1, 1, 0), cd(1, 1, 0, 0), cd(3, 7, 2, 1)),
        {"time_backwards": (1, 8)},
    ),
    "upper time backwards": (
        (HIGH, 8 << 28 | 1, HIGH, cd(3, 7, 2, 1)),
        {"time_high_backwards": (1, 4)},
    ),
    "no time yet": ((cd(3, 7, 2, 1), HIGH, cd(3, 7, 2, 1)), {"missing_time": (1, 0)}),
    "unknown words": ((HIGH, 5 << 28, cd(3, 7, 2, 1)), {"unknown_word": (1, 4)}),
    "nothing": ((HIGH, 0xA << 28, 0xE << 28, 0xF << 28, cd(3, 7, 2, 1)), {}),
}


@pytest.mark.parametrize("case", EVT3)
def test_evt3_violations_have_their_name_count_and_byte(case):
    words, events, found = EVT3[case]
    assert decoded("evt3", enc.words16(*words)) == (events, found)
    assert set(found) <= set(VIOLATIONS)


@pytest.mark.parametrize("case", [case for case in EVT3 if EVT3[case][2]])
def test_strict_damage_raises_at_its_byte(case):
    words, _, found = EVT3[case]
    name, (_, first) = min(found.items(), key=lambda item: item[1][1])
    with pytest.raises(DamageError) as caught:
        decoded("evt3", enc.words16(*words), damage=Damage(strict=True), position=100)
    assert (caught.value.violation, caught.value.offset) == (name, 100 + first)


@pytest.mark.parametrize("case", EVT2)
def test_evt2_violations_have_their_name_count_and_byte(case):
    words, found = EVT2[case]
    events, damage = decoded("evt2", enc.words32(*words))
    assert events[-1] == (3, 7, 130, 1)
    assert damage == found


@pytest.mark.parametrize("case", EVT2)
@pytest.mark.parametrize("layout", ["evt21", "evt21_swapped"])
def test_evt21_violations_have_their_name_count_and_byte(case, layout):
    words, found = EVT2[case]
    halves = [pair for w in words for pair in ((w, 1) if layout == "evt21_swapped" else (1, w))]
    events, damage = decoded(layout, enc.words32(*halves))
    assert events[-1] == (3, 7, 130, 1)
    assert damage == {name: (count, 2 * first) for name, (count, first) in found.items()}


def test_an_evt21_vector_over_the_edge_keeps_what_is_inside():
    payload = enc.words32(0, HIGH, 0xF0000003, cd(638, 7, 1, 1))
    events, damage = decoded("evt21", payload)
    assert events == [(638, 7, 129, 1), (639, 7, 129, 1)]
    assert damage == {"out_of_bounds": (4, 8)}


@pytest.mark.parametrize(
    ("bad", "found"),
    [
        ((640, 0, 20, 1), {"out_of_bounds": (1, 8)}),
        ((0, 480, 20, 1), {"out_of_bounds": (1, 8)}),
        ((0, 0, 9, 1), {"time_backwards": (1, 8)}),
    ],
)
def test_dat_violations_have_their_name_count_and_byte(bad, found):
    payload = enc.dat([(1, 2, 10, 0), bad, (3, 4, 30, 1)])
    assert decoded("dat", payload) == ([(1, 2, 10, 0), (3, 4, 30, 1)], found)


def test_atis_violations_have_their_name_count_and_byte():
    payload = enc.atis([(1, 2, 10, 0), (34, 0, 11, 0), (1, 1, 9, 0), (3, 4, 8200, 1)])
    events, damage = decoded("atis", payload, size=(34, 34))
    assert events == [(1, 2, 10, 0), (3, 4, 8200, 1)]
    assert damage == {"out_of_bounds": (1, 5), "time_backwards": (1, 10)}


def test_the_worked_bytes_of_the_descriptions():
    assert decoded("dat", bytes.fromhex("e803000077c01810"))[0] == [(119, 99, 1000, 1)]
    assert decoded("atis", bytes.fromhex("050a810203"))[0] == [(5, 10, 66051, 1)]


def test_late_events_are_handed_out_where_that_is_asked_for_and_noted_all_the_same():
    events = [(1, 2, 10, 0), (1, 2, 5, 1), (1, 2, 9, 1), (1, 2, 10, 1)]
    payloads: dict[Layout, bytes] = {"dat": enc.dat(events), "atis": enc.atis(events)}
    for layout, payload in payloads.items():
        found, damage = decoded(layout, payload, keep_unsorted=True)
        assert found == events
        assert damage == {"time_backwards": (2, WORD[layout])}


@pytest.mark.parametrize("layout", WORD)
def test_bytes_that_are_no_whole_word_are_truncated(layout: Layout):
    _, damage = decoded(layout, bytes(WORD[layout] - 1), position=50)
    assert damage == {"truncated": (WORD[layout] - 1, 50)}
    assert decoded(layout, b"") == ([], {})


def test_upper_times_beyond_all_limits_are_refused():
    # A gigabyte of jumps would get there; a state that is there already does so too.
    high = (1 << 61) - 64
    decoder = Decoder("evt2", SIZE, Damage())
    decoder.core.restore(struct.pack("<6q4i", 0, high, high, 0, 0, 0, -1, -1, 0, 0))
    ahead = (high >> 6) + 2 & 0xFFFFFFF
    found = decoder.feed(enc.words32(8 << 28 | ahead, cd(3, 7, 2, 1)))
    assert rows(found) == [(3, 7, high + 2, 1)]
    assert decoder.damage.violations["time_out_of_range"].first == 0


@st.composite
def streams(draw: st.DrawFn):
    """Random words of each kind, most of them likely ones, so that all states are reached."""
    layout: Layout = draw(st.sampled_from(list(WORD)))
    seed = draw(st.integers(0, 2**32 - 1))
    random = np.random.default_rng(seed)
    count = draw(st.integers(0, 300))
    if layout == "evt3":
        kinds = [0x0, 0x2, 0x2, 0x3, 0x4, 0x4, 0x5, 0x6, 0x8, 0xE, 0xF, 0x7, 0xA, 0x1]
        words = random.choice(kinds, count).astype(np.uint16) << 12
        words |= random.integers(0, 2**12, count).astype(np.uint16)
        words[words >> 12 == 8] &= 0x8003
        triples = random.random(count) < 0.3
        for i in np.flatnonzero(triples)[:-3]:
            words[i : i + 3] = (
                words[i : i + 3] & 0xFFF | np.array([4, 4, 5]).astype(np.uint16) << 12
            )
        payload = words.astype("<u2").tobytes()
    elif layout.startswith("evt2"):
        words = random.integers(0, 2**32, count, dtype=np.uint64).astype(np.uint32)
        words &= np.uint32(0x1FFFFFFF)
        words[random.random(count) < 0.2] |= np.uint32(0x80000000)
        words[words >> 31 == 1] &= np.uint32(0x80000003)
        payload = words.astype("<u4").tobytes()
    else:
        payload = random.bytes(count * WORD[layout] + int(random.integers(0, 4)))
    return layout, payload


@given(streams(), st.data())
def test_any_cut_of_the_bytes_gives_the_same(stream, data):
    layout, payload = stream
    size = data.draw(st.sampled_from([None, SIZE, (2048, 2048)]))
    late = data.draw(st.booleans())
    cuts = data.draw(st.lists(st.integers(0, len(payload)), max_size=8))
    whole = decoded(layout, payload, size=size, keep_unsorted=late)
    assert decoded(layout, payload, size=size, keep_unsorted=late, cuts=cuts) == whole


@given(streams(), st.integers(40, 100))
def test_little_room_gives_the_same(stream, capacity):
    layout, payload = stream
    whole, damage = decoded(layout, payload)
    decoder = Decoder(layout, SIZE, Damage())
    block, found = np.frombuffer(payload, np.uint8), []
    while len(block) >= WORD[layout]:
        room = unwritten(capacity).part(0, capacity)
        taken, written = decoder.decode(block, room)
        assert taken
        found += rows(room.part(0, written))
        block = block[taken:]
    decoder.end(len(block))
    assert found == whole
    assert {n: (v.count, v.first) for n, v in decoder.damage.violations.items()} == damage


@given(streams())
def test_sorted_in_bounds_or_not_at_all(stream):
    layout, payload = stream
    events, _ = decoded(layout, payload)
    times = [t for _, _, t, _ in events]
    assert times == sorted(times)
    assert all(0 <= x < 640 and 0 <= y < 480 for x, y, _, _ in events)


@pytest.mark.parametrize("count", [0, 1, 64, 100_000])
def test_room_has_the_types_of_events_and_nothing_in_common(count):
    room = unwritten(count)
    assert all(len(column) >= count for column in room)
    for number, column in enumerate(room):
        column[:] = number % 2
    assert [int(column.sum()) for column in room] == [0, room.length, 0, room.length]
    assert [str(column.dtype) for column in room] == ["int16", "int16", "int64", "bool"]
