"""Windows of files, with a format that keeps its events in memory and counts what is read of it."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

from evsurf.data.formats.columns import Columns
from evsurf.data.formats.files import open_recording, write
from evsurf.data.formats.reader import Format, Header, Options, Reader, SeekableReader
from evsurf.data.formats.recording import Recording
from evsurf.events import EventBatch, Events

SIZE = (4, 5)
TIMES = np.sort(np.random.default_rng(0).integers(1000, 3000, 500))
ALL = Columns(
    (np.arange(500) % 5).astype(np.int16),
    (np.arange(500) % 4).astype(np.int16),
    TIMES,
    np.arange(500) % 3 == 0,
)
EVENTS = Events.from_arrays(ALL.x, ALL.y, ALL.t, ALL.p, SIZE)


class FromTheFront(Reader):
    header = Header(SIZE, "header")
    opened = 0

    def __init__(self, path: Path, options: Options) -> None:
        super().__init__(path, options)
        type(self).opened += 1

    def pieces(self, count):
        for start in range(0, 500, min(count, 64)):
            yield ALL.part(start, min(start + min(count, 64), 500))

    def close(self):
        pass


class Anywhere(FromTheFront, SeekableReader):
    parts = 0

    def __len__(self):
        return 500

    def part(self, start, stop):
        type(self).parts += 1
        return ALL.part(start, stop)

    def position(self, t):
        return int(np.searchsorted(TIMES, t))


def recognises_nothing(head: bytes, path: Path) -> bool:
    return False


def opened(reader: type[Reader]) -> Recording:
    made = Format("made up", "for tests", (".none",), recognises_nothing, reader)
    return Recording(Path("none"), made, Options())


RULES = [
    {"duration": 100},
    {"duration": 300, "stride": 70},
    {"duration": 10, "stride": 300},
    {"count": 64},
    {"count": 30, "stride": 400, "partial": True},
    {"at": [(1500, 1600), (1550, 1620)]},
    {"at": [1500, 2500, 1200], "duration": 50},
    {"at": []},
]


@pytest.mark.parametrize("reader", [FromTheFront, Anywhere])
@pytest.mark.parametrize("options", RULES)
def test_windows_of_a_file_are_those_of_its_events(reader, options):
    windows = opened(reader).windows(**options)
    expected = list(EVENTS.windows(**options))
    assert list(windows) == expected
    if reader is Anywhere:
        assert len(windows) == len(expected)
        assert [windows[k] for k in range(len(windows))] == expected
        assert windows[1:3] == expected[1:3]


def test_without_random_access_windows_have_neither_numbers_nor_length():
    windows = opened(FromTheFront).windows(duration=100)
    for ask in (lambda: len(windows), lambda: windows[0]):
        with pytest.raises(TypeError, match=r"made up, has no random access\. Loop over them"):
            ask()


def test_far_apart_windows_are_read_where_they_are():
    Anywhere.parts = 0
    assert len(list(opened(Anywhere).windows(duration=10, stride=500))) == 4
    assert Anywhere.parts > 3
    Anywhere.parts = 0
    assert len(list(opened(Anywhere).windows(duration=10))) == 199
    # Only the ends, to know how many windows there are; the rest came from one pass.
    assert Anywhere.parts < 5


def test_each_worker_of_a_loader_opens_the_file_for_itself():
    recording = opened(Anywhere)
    before = Anywhere.opened
    copy = pickle.loads(pickle.dumps(recording.windows(duration=100)))
    assert Anywhere.opened == before + 1
    assert copy[3] == EVENTS.windows(duration=100)[3]
    loader = torch.utils.data.DataLoader(
        recording.windows(duration=100), batch_size=4, collate_fn=EventBatch.pack, num_workers=1
    )
    assert torch.cat([batch.t for batch in loader]).tolist() == TIMES.tolist()


@pytest.mark.parametrize("name", ["made.raw", "made.dat"])
def test_windows_of_a_written_file_travel_to_another_process(tmp_path, name):
    write(EVENTS, tmp_path / name)
    with open_recording(tmp_path / name) as recording:
        windows = recording.windows(duration=100)
        copy = pickle.loads(pickle.dumps(windows))
        assert list(copy) == list(windows) == list(EVENTS.windows(duration=100))
        copy._recording.close()


def test_a_guessed_size_goes_along_to_the_copy():
    class Silent(Anywhere):
        header = Header()

    recording = opened(Silent)
    with pytest.warns(UserWarning, match="guess"):
        assert recording.size == SIZE
    assert recording.reopened().size == SIZE


def test_the_printed_form_names_file_and_rule():
    text = repr(opened(FromTheFront).windows(count=5, stride=2))
    assert text == "RecordingWindows(Recording('none', made up, 4x5): 5 events, 2 events apart)"
