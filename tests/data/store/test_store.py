"""Stores: what is written is read, and what is damaged is refused."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.formats.damage import FormatError
from evsurf.data.store import Store, StoreWriter
from evsurf.events import EventBatch, Events
from tests.events.strategies import recordings

SIZE = (2, 4)
FIRST = Events.from_arrays([3, 0, 1], [1, 1, 0], [10, 25, 25], [1, 0, 1], SIZE)
SECOND = Events.from_arrays([2, 1], [0, 1], [5, 7], [0, 0], SIZE)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of three samples, the second of them empty."""
    with StoreWriter(tmp_path / "a.store", classes=["car", "street"]) as writer:
        writer.add(FIRST, "street", name="first.dat")
        writer.add(Events.empty(SIZE), 0, name="zweiter é 2.dat")
        writer.add([SECOND[:1], SECOND[1:]], 1, name="third.dat")
    return tmp_path / "a.store"


def _write(path: Path, *samples) -> None:
    with StoreWriter(path) as writer:
        for events, target in samples:
            writer.add(events, target)


def _batch(store: Store, indices: list[int]) -> tuple[EventBatch, torch.Tensor]:
    batch, targets = store.batch(indices)
    assert targets is not None
    return batch, targets


def test_what_is_written_is_read(path):
    store = Store(path)
    assert list(store) == [(FIRST, 1), (Events.empty(SIZE), 0), (SECOND, 1)]
    assert [store.target(i) for i in range(3)] == [1, 0, 1]
    assert store.lengths.tolist() == [3, 0, 2]
    assert [store.name(i) for i in range(3)] == ["first.dat", "zweiter é 2.dat", "third.dat"]
    assert (len(store), store.num_events, store.size) == (3, 5, SIZE)
    assert store.classes == ("car", "street")
    assert repr(store) == "Store('a.store', 3 samples, 5 events, 2x4)"
    store.verify()


def test_samples_are_counted_from_the_end_too_and_there_is_none_beyond(path):
    store = Store(path)
    assert store[-1] == (SECOND, 1)
    with pytest.raises(IndexError, match="sample 3 does not exist: the store has 3"):
        store[3]


def test_columns_are_plain_npy_files(path):
    assert np.load(path / "x.npy").tolist() == [3, 0, 1, 2, 1]
    assert np.load(path / "p.npy").tolist() == [True, False, True, False, False]
    assert np.load(path / "t.npy", mmap_mode="r").tolist() == [10, 25, 25, 5, 7]
    assert np.load(path / "offsets.npy").tolist() == [0, 3, 3, 5]


def test_samples_share_memory_with_the_file_and_changing_them_leaves_it_alone(path):
    store = Store(path)
    before = (path / "x.npy").read_bytes()
    events = store[0][0]
    assert events.x.data_ptr() == store[0][0].x.data_ptr()
    events.x[0] = 0
    assert (path / "x.npy").read_bytes() == before
    assert Store(path)[0][0] == FIRST


def test_a_batch_holds_the_samples_in_the_order_asked_for(path):
    store = Store(path)
    batch, targets = _batch(store, [2, 0, 1, -1])
    assert batch == EventBatch.pack([SECOND, FIRST, Events.empty(SIZE), SECOND])
    assert targets.tolist() == [1, 1, 0, 1]
    assert targets.dtype == torch.int64
    assert store.batch([0, 1, 2])[0].unpack() == [FIRST, Events.empty(SIZE), SECOND]
    assert store.batch([])[0] == EventBatch.pack([], SIZE)


def test_a_window_holds_the_events_from_its_start_up_to_its_stop(path):
    store = Store(path)
    assert store.window(10, 25).t.tolist() == [10]
    assert store.window(11, 26).t.tolist() == [25, 25]
    assert store.window(-9, 99, sample=2) == SECOND
    assert len(store.window(0, 0)) == 0
    assert store.window(-(2**99), 2**99) == FIRST
    with pytest.raises(ValueError, match="start = 3 is after stop = 2"):
        store.window(3, 2)


@given(st.lists(recordings(size=(3, 4)), min_size=1, max_size=5), st.data())
def test_any_recordings_come_back_one_by_one_in_batches_and_in_windows(
    tmp_path_factory, samples, data
):
    path = tmp_path_factory.mktemp("any") / "a.store"
    with StoreWriter(path) as writer:
        for events in samples:
            writer.add(events)
    store = Store(path)
    store.verify()
    assert [events for events, _ in store] == samples
    chosen = data.draw(st.lists(st.integers(0, len(samples) - 1), max_size=6))
    assert store.batch(chosen) == (EventBatch.pack([samples[i] for i in chosen], (3, 4)), None)
    t0, t1 = sorted(data.draw(st.tuples(st.integers(-1, 10), st.integers(-1, 10))))
    assert store.window(t0, t1) == samples[0].between(t0, t1)


def test_pickled_it_is_its_path(path):
    store = Store(path, size=(9, 9))
    pickled = pickle.dumps(store)
    assert len(pickled) < 300
    assert pickle.loads(pickled)[0] == store[0]
    assert pickle.loads(pickled).size == (9, 9)


def test_targets_keep_their_shape_and_single_numbers_have_pythons_width(tmp_path):
    cases: dict[str, Any] = {
        "bool": ([True, False], torch.tensor([True, False])),
        "small": ([np.uint8(3), np.uint8(255)], torch.tensor([3, 255])),
        "float": ([0.5, 2], torch.tensor([0.5, 2.0], dtype=torch.float64)),
        "flow": (
            [torch.zeros(2, 3), torch.ones(2, 3)],
            torch.arange(2.0).view(2, 1, 1).expand(2, 2, 3),
        ),
    }
    for name, (given_targets, batched) in cases.items():
        with StoreWriter(tmp_path / name) as writer:
            for target in given_targets:
                writer.add(FIRST, target)
        store = Store(tmp_path / name)
        _, targets = _batch(store, [0, 1])
        assert targets.dtype == batched.dtype
        assert torch.equal(targets, batched)
        assert torch.equal(torch.as_tensor(store.target(1)), torch.as_tensor(given_targets[1]))


def test_samples_that_differ_in_size_need_a_canvas_to_share_a_batch(tmp_path):
    wide = Events.from_arrays([6], [0], [0], [1], (1, 7))
    with StoreWriter(tmp_path / "a.store") as writer:
        writer.add(FIRST)
        writer.add(wide)
    store = Store(tmp_path / "a.store")
    assert store.size is None
    assert [store[0][0], store[1][0]] == [FIRST, wide]
    assert repr(store).endswith("sizes differ)")
    with pytest.raises(ValueError, match=r"differ in size.*Store\(path, size=\(height, width\)\)"):
        store.batch([0, 1])
    batch, _ = Store(tmp_path / "a.store", size=(2, 7)).batch([1, 0])
    assert batch.size == (2, 7)
    assert batch[0].x.tolist() == [6]
    with pytest.raises(
        ValueError, match=r"the largest of which needs \(height, width\) = \(2, 7\)"
    ):
        Store(tmp_path / "a.store", size=(2, 6))


def test_a_folder_that_is_no_store_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no store at .*: it has no index\.json"):
        Store(tmp_path)


@pytest.mark.parametrize("name", ["x", "t", "p", "offsets", "targets", "names"])
def test_a_file_that_was_cut_off_or_lost_is_refused_when_the_store_is_opened(path, name):
    file = path / f"{name}.npy"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    with pytest.raises(FormatError, match=rf"{name}\.npy has .* bytes.*cut off"):
        Store(path)
    file.write_bytes(whole + b"\0")
    with pytest.raises(FormatError, match="it is another file"):
        Store(path)
    file.unlink()
    with pytest.raises(FormatError, match=rf"is damaged: it has no {name}\.npy"):
        Store(path)


def test_a_file_of_objects_is_never_unpickled(path):
    file = path / "x.npy"
    file.write_bytes(file.read_bytes().replace(b"'<i2'", b"'|O' "))
    with pytest.raises(FormatError, match="header that its index contradicts"):
        Store(path)


def test_a_changed_value_is_found_by_its_checksum(path):
    file = path / "p.npy"
    whole = bytearray(file.read_bytes())
    whole[-1] ^= 1
    file.write_bytes(whole)
    store = Store(path)
    assert len(store[2][0]) == 2
    with pytest.raises(FormatError, match=r"p\.npy is damaged.*checksum"):
        store.verify()


@pytest.mark.parametrize(
    ("column", "value", "event"),
    [("x", 4, 1), ("x", -1, 1), ("y", 2, 1), ("t", 4, 1), ("t", 2**62 + 1, 1), ("p", 2, 1)],
)
def test_an_event_that_cannot_be_one_is_refused_before_it_is_handed_out(path, column, value, event):
    file = path / f"{column}.npy"
    raw = bytearray(file.read_bytes())
    width = {"x": 2, "y": 2, "t": 8, "p": 1}[column]
    raw[-width:] = value.to_bytes(width, "little", signed=True)
    file.write_bytes(raw)
    store = Store(path)
    assert store[0] == (FIRST, 1), "a neighbour in the same block is whole"
    message = rf"sample 2 \(third\.dat\) is damaged: its event {event} "
    takes: list[Callable[[], object]] = [lambda: store[2], lambda: store.batch([0, 2])]
    # A window ends before times that no event can have.
    takes += [lambda: store.window(0, 99, sample=2)] if value < 99 else []
    for take in takes:
        with pytest.raises(FormatError, match=message):
            take()


def test_events_of_a_later_block_are_looked_at_too(tmp_path):
    n = 200_000
    zeros = torch.zeros(n, dtype=torch.int16)
    events = Events(zeros, zeros, torch.arange(n), zeros.bool(), (1, 1))
    with StoreWriter(tmp_path / "a.store") as writer:
        writer.add(events[:1])
        writer.add(events)
    file = tmp_path / "a.store" / "t.npy"
    raw = bytearray(file.read_bytes())
    # The first of the second block comes before the last of the first.
    raw[128 + 8 * 65536 : 128 + 8 * 65537] = (7).to_bytes(8, "little")
    file.write_bytes(raw)
    store = Store(tmp_path / "a.store")
    assert len(store.window(0, 65_000, sample=1)) == 65_000
    with pytest.raises(FormatError, match=r"sample 1 \(1\) is damaged: its event 65535 "):
        store.window(65_000, 66_000, sample=1)
    assert len(store.window(130_000, 200_000, sample=1)) == 70_000


def test_offsets_that_cannot_be_some_are_refused(path):
    file = path / "offsets.npy"
    raw = bytearray(file.read_bytes())
    raw[-16:-8] = (9).to_bytes(8, "little")
    file.write_bytes(raw)
    with pytest.raises(FormatError, match=r"offsets\.npy is damaged"):
        Store(path)[0]


def _changed(text: str, *, keys: tuple[str, ...], value: Any) -> str:
    content = inner = json.loads(text)
    for key in keys[:-1]:
        inner = inner[key]
    inner[keys[-1]] = value
    return json.dumps(content)


BROKEN: dict[str, Any] = {
    "not JSON": lambda text: text[:-5],
    "not text": lambda _: "\ud800",
    "too deep": lambda _: "[" * 100_000,
    "a list": lambda _: "[]",
    "NaN": lambda text: text.replace('"samples": 3', '"samples": NaN'),
    "another format": lambda text: text.replace("evsurf store", "other store"),
    "a later version": lambda text: text.replace('"version": 1', '"version": 2'),
    "no events": lambda text: text.replace('"events"', '"vents"'),
    **{
        f"{'.'.join(keys)} = {value!r}": partial(_changed, keys=keys, value=value)
        for keys, value in [
            (("samples",), -1),
            (("samples",), True),
            (("samples",), 2),
            (("events",), 10**30),
            (("events",), 5.0),
            (("size",), [0, 4]),
            (("size",), [2, 4, 1]),
            (("size",), None),
            (("classes",), [1]),
            (("notes",), {"a": 1}),
            (("columns",), []),
            (("columns", "../x"), {"dtype": "<i2", "shape": [5], "sha256": "0" * 64}),
            (("columns", "x", "shape"), [6]),
            (("columns", "x", "shape"), [-1]),
            (("columns", "x", "shape"), 5),
            (("columns", "x", "dtype"), "|O"),
            (("columns", "x", "sha256"), "0"),
            (("columns", "targets", "dtype"), "|O"),
            (("columns", "targets", "shape"), [4]),
            (("columns", "names", "dtype"), "|S99999999999"),
            (("columns", "names", "dtype"), "|S²"),
        ]
    },
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_hostile_index_is_refused(path, name):
    file = path / "index.json"
    text = BROKEN[name](file.read_text(encoding="utf-8"))
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(FormatError, match=r"index\.json is not the index of a store"):
        Store(path)


def test_a_store_is_there_only_when_it_is_whole(tmp_path):
    with pytest.raises(TypeError, match="must be a number"):
        _write(tmp_path / "a.store", (FIRST, 1), (FIRST, object()))
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_there_stays_unless_it_shall_be_overwritten(path):
    with pytest.raises(FileExistsError, match="overwrite=True replaces it"):
        StoreWriter(path)
    with StoreWriter(path, overwrite=True) as writer:
        writer.add(SECOND)
        assert len(Store(path)) == 3
    assert list(Store(path)) == [(SECOND, None)]
    assert [one.name for one in path.parent.iterdir()] == ["a.store"]


def test_what_is_no_store_is_never_replaced(tmp_path):
    (tmp_path / "thesis").mkdir()
    with pytest.raises(FileExistsError, match="it is no store"):
        StoreWriter(tmp_path / "thesis", overwrite=True)


def test_the_writer_refuses_what_a_store_cannot_hold(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        StoreWriter(tmp_path / "no" / "a.store")
    writer = StoreWriter(tmp_path / "a.store", classes=["car"])
    with pytest.raises(ValueError, match="target = 'cat' is none of the classes car"):
        writer.add(FIRST, "cat")
    with pytest.raises(TypeError, match="must be a number"):
        writer.add(FIRST, {"a": 1})
    with pytest.raises(ValueError, match="name = "):
        writer.add(FIRST, name="a\0b")
    with pytest.raises(ValueError, match="events has no piece"):
        writer.add([])
    writer.discard()
    with pytest.raises(ValueError, match="no sample was added"), StoreWriter(tmp_path / "b.store"):
        pass
    with pytest.raises(ValueError, match="sample 1 has no target"):
        _write(tmp_path / "c", (FIRST, 1), (FIRST, None))
    with pytest.raises(ValueError, match="share a shape"):
        _write(tmp_path / "d", (FIRST, [1]), (FIRST, [1, 2]))
    assert list(tmp_path.iterdir()) == []


def test_pieces_of_one_recording_follow_each_other(tmp_path):
    with (
        pytest.raises(ValueError, match="pieces of one recording follow"),
        StoreWriter(tmp_path / "a.store") as writer,
    ):
        writer.add([FIRST, SECOND])
    with pytest.raises(ValueError, match="a piece has size"), StoreWriter(tmp_path / "b") as writer:
        writer.add([FIRST, Events.empty((1, 1))])
