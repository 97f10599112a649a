"""What is made is made once, and nothing half made stays."""

from __future__ import annotations

import pytest

from evsurf.data.datasets.made import MadeRecordings
from evsurf.events import Events


class Two(MadeRecordings):
    name = "two"
    version = 3
    classes = ("none", "one")
    made = 0
    broken: type[BaseException] | None = None

    def _make(self, writer):
        type(self).made += 1
        writer.add(Events.empty((3, 4)), 0)
        if self.broken is not None:
            raise self.broken
        writer.add(Events.from_arrays([1], [2], [3], [True], size=(3, 4)), "one")


@pytest.fixture(autouse=True)
def _none_made(monkeypatch):
    monkeypatch.setattr(Two, "made", 0)


def test_the_first_use_makes_and_the_second_does_not(tmp_path):
    first, second = Two(tmp_path), Two(tmp_path)
    assert Two.made == 1
    assert first[1] == second[1] == (Events.from_arrays([1], [2], [3], [True], size=(3, 4)), 1)
    assert (len(first), first.targets, first.size) == (2, [0, 1], (3, 4))
    assert repr(first) == "Two('train': 2 recordings of 2 classes, 3x4)"


def test_splits_seeds_and_versions_lie_side_by_side(tmp_path, monkeypatch):
    folders = {Two(tmp_path).folder, Two(tmp_path, "test").folder, Two(tmp_path, seed=5).folder}
    assert {folder.name for folder in folders} == {"train-0-3", "test-0-3", "train-5-3"}
    monkeypatch.setattr(Two, "version", 4)
    Two(tmp_path)
    assert Two.made == 4


def test_recordings_are_counted_from_the_end_too_and_not_beyond(tmp_path):
    data = Two(tmp_path)
    assert data[-1][1] == 1
    with pytest.raises(IndexError, match="index 2 is outside the 2 samples"):
        data[2]


def test_transforms_are_applied(tmp_path):
    data = Two(tmp_path, transform=len, target_transform=str)
    assert list(map(data.__getitem__, (0, 1))) == [(0, "0"), (1, "1")]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_what_was_interrupted_leaves_nothing(tmp_path, monkeypatch, error):
    monkeypatch.setattr(Two, "broken", error)
    with pytest.raises(error):
        Two(tmp_path)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(Two, "broken", None)
    assert len(Two(tmp_path)) == 2


def test_of_two_that_make_at_once_the_first_one_stays(tmp_path):
    class Slow(Two):
        def _make(self, writer):
            if Slow.made < 1:
                Slow.made += 1
                Slow(tmp_path)
            super()._make(writer)

    Slow.made = 0
    assert len(Slow(tmp_path)) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["train-0-3"]
