"""`FlowWorlds` is made once, the same everywhere, and its flow is that of its frames and events."""

from __future__ import annotations

import pickle

import pytest
import torch

from evsurf.data.datasets import flow_worlds
from evsurf.data.datasets.flow_worlds import ClipPlan, FlowWorlds

SIZE = (65, 86)
PLANS = {
    "train": [ClipPlan("drive", 0, 0.1, SIZE), ClipPlan("drive", 1, 0.1, SIZE)],
    "val": [ClipPlan("drive", 100, 0.1, SIZE)],
    "test": [ClipPlan("fly", 0, 0.13, SIZE)],
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("worlds")


@pytest.fixture(autouse=True)
def _short_clips(monkeypatch):
    monkeypatch.setitem(flow_worlds._PLANS, "small", PLANS)


def test_samples_hold_what_is_between_two_frames(root):
    data = FlowWorlds(root, "test")
    assert len(data) == 4
    assert repr(data) == "FlowWorlds('test': 4 pairs 1 apart in 1 clips of fly, 0.13 s)"
    for sample in (data[0], data[3]):
        start, stop = sample.times
        assert stop - start == pytest.approx(31_646, abs=1)
        assert sample.events.size == SIZE
        assert bool(((sample.events.t >= start) & (sample.events.t < stop)).all())
        assert sample.frames.shape == (2, *SIZE)
        assert sample.flow is not None
        assert sample.visible is not None
        assert float(sample.visible.float().mean()) > 0.5
    assert data[0].frames[1].equal(data[1].frames[0])
    assert sum(len(data[k].events) for k in range(4)) > 100


def test_the_flow_is_that_of_the_scene_and_may_be_left_out(root):
    data = FlowWorlds(root, "test", dt=2)
    sample = data[1]
    flow, visible = data.scene(0).flow(*sample.times)
    assert len(data) == 3
    assert sample.flow is not None
    assert sample.flow.equal(flow)
    assert sample.visible is not None
    assert sample.visible.equal(visible)
    without = FlowWorlds(root, "test", dt=2, flow=False)[1]
    assert without.flow is None
    assert without.visible is None
    assert without.events == sample.events


def test_clips_are_made_once_and_the_same_anew(root, tmp_path, monkeypatch):
    first = FlowWorlds(root, "test", flow=False)[2]
    assert FlowWorlds(tmp_path, "test", flow=False)[2].events == first.events
    monkeypatch.setattr(flow_worlds, "make_clip", lambda *_: pytest.fail("made again"))
    again = FlowWorlds(root, "test", flow=False)[2]
    assert again.events == first.events
    assert again.frames.equal(first.frames)


@pytest.mark.slow
def test_processes_make_what_one_makes(root, tmp_path):
    alone, together = (
        FlowWorlds(place, "train", flow=False, workers=workers)
        for place, workers in ((root, 1), (tmp_path, 2))
    )
    assert len(alone) == 8
    for k in range(8):
        assert alone[k].events == together[k].events
        assert alone[k].frames.equal(together[k].frames)


def test_a_data_set_goes_to_workers_without_its_scenes(root):
    data = FlowWorlds(root, "test")
    sample = data[0]
    copied = pickle.loads(pickle.dumps(data))
    assert copied._scenes == {}
    assert sample.flow is not None
    assert torch.equal(copied[0].flow, sample.flow)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"split": "night"}, "split must be one of train, val, test, got 'night'"),
        ({"size": "vast"}, "size must be one of small, full, got 'vast'"),
        ({"dt": 0}, "dt = 0 must be at least 1 frame"),
    ],
)
def test_what_does_not_exist_is_refused(root, own_errors, arguments, message):
    with pytest.raises(ValueError, match=message):
        FlowWorlds(root, **arguments)


def test_there_is_no_sample_beyond_the_last(root):
    with pytest.raises(IndexError):
        FlowWorlds(root, "test", flow=False)[4]
