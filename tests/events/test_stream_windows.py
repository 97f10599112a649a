import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf.events import Events
from evsurf.events.stream_windows import _Held, windows_of_pieces
from evsurf.events.windows import rule_of
from tests.events.strategies import recordings

NONE = {"duration": None, "count": None, "at": None, "stride": None, "start": None, "partial": None}
RULES = [
    {"duration": 3},
    {"duration": 5, "stride": 2},
    {"duration": 2, "stride": 7, "start": 1},
    {"duration": 4, "partial": False},
    {"count": 3},
    {"count": 3, "partial": True},
    {"count": 4, "stride": 1},
    {"count": 2, "stride": 5, "partial": True},
    {"at": [(3, 6), (0, 9), (9, 12), (2, 2), (1, 4)]},
    {"at": [9, 4, 7, 100], "duration": 4},
    {"at": []},
]


def pieces_of(events: Events, cuts: list[int]) -> list[Events]:
    borders = [0, *sorted(min(cut, len(events)) for cut in cuts), len(events)]
    return [events[a:b] for a, b in itertools.pairwise(borders)]


@given(recordings(), st.sampled_from(RULES), st.lists(st.integers(0, 20), max_size=6))
def test_windows_of_a_stream_are_those_of_the_whole_under_any_cut(events, options, cuts):
    rule = rule_of(**(NONE | options))
    found = windows_of_pieces(pieces_of(events, cuts), rule, events.size)
    whole = events.windows(**options)
    few = 40
    assert list(itertools.islice(found, few)) == list(itertools.islice(whole, few))
    if len(whole) < few:
        assert next(found, None) is None


def test_a_window_comes_as_soon_as_it_is_over():
    pieces = iter(
        Events.from_arrays([0, 0], [0, 0], [t, t + 5], [0, 1], (1, 1)) for t in range(0, 100, 10)
    )
    found = windows_of_pieces(pieces, rule_of(**NONE | {"duration": 10}), (1, 1))
    assert next(found).t.tolist() == [0, 5]
    # Event 10 said that the first window is over; nothing later has been asked for.
    assert next(pieces).t.tolist() == [20, 25]


@pytest.mark.parametrize("options", [{"duration": 20}, {"count": 4}, {"duration": 1, "stride": 50}])
def test_only_open_windows_are_held(options):
    held = _Held(rule_of(**NONE | options), Events.empty((1, 1)))
    most = 0
    for start in range(0, 3000, 10):
        t = list(range(start, start + 10))
        held.add(Events.from_arrays([0] * 10, [0] * 10, t, [0] * 10, (1, 1)))
        list(held.up_to(held._rule.complete(held.first, held.reached)))
        most = max(most, sum(piece.t.untyped_storage().nbytes() for piece in held._pieces))
    assert most <= 8 * 40
