"""MVSEC is read lazily, by time and by frame, in its true layout."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

from evsurf.data.datasets import MVSEC, MissingDataError, MVSECSequence
from evsurf.data.formats import FormatError
from tests.data.datasets.files import rows

h5py = pytest.importorskip("h5py")

START = 1_504_645_177.42
# Seconds from the start: three events before the second frame, two before the third.
TIMES = [0.0, 0.010, 0.029998, 0.030002, 0.045, 0.061]
FRAMES = [0.0, 0.030, 0.060, 0.090]
INDICES = [-1, 3, 5, 5]


def write(root: Path, name: str = "indoor_flying1") -> Path:
    """A sequence with six events, four frames, three depth images and flows."""
    root.mkdir(parents=True, exist_ok=True)
    with h5py.File(root / f"{name}_data.hdf5", "w") as file:
        camera = file.create_group("davis/left")
        columns = [np.arange(6) * 60, np.arange(6) * 50, START + np.array(TIMES)]
        camera["events"] = np.stack([*columns, np.array([1, -1, 1, -1, 1, -1])], 1)
        camera["image_raw"] = (np.arange(4)[:, None, None] * np.ones((1, 260, 346))).astype("u1")
        camera["image_raw_ts"] = START + np.array(FRAMES)
        camera["image_raw_event_inds"] = np.array(INDICES)
        right = file.create_group("davis/right")
        right["events"] = camera["events"][:1]
    with h5py.File(root / f"{name}_gt.hdf5", "w") as file:
        camera = file.create_group("davis/left")
        camera["depth_image_raw"] = np.full((3, 260, 346), [[[1.5]], [[2.5]], [[np.nan]]], "f4")
        camera["depth_image_rect"] = np.full((3, 260, 346), 7.0, "f4")
        camera["depth_image_raw_ts"] = START + np.arange(3) * 0.05
        camera["pose"] = np.stack([np.eye(4) * (i + 1) for i in range(3)])
        camera["pose_ts"] = START + np.arange(3) * 0.05
        camera["flow_dist"] = np.full((3, 2, 260, 346), 9.0)
        camera["flow_dist_ts"] = START + np.arange(3) * 0.05
    return root


def write_flow(root: Path, name: str = "indoor_flying1") -> Path:
    x = np.arange(3)[:, None, None] + np.zeros((1, 260, 346))
    path = root / f"{name}_gt_flow_dist.npz"
    np.savez(path, timestamps=START + np.arange(3) * 0.05, x_flow_dist=x, y_flow_dist=-2 * x)
    return path


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    folder = write(tmp_path_factory.mktemp("mvsec") / "indoor_flying")
    write_flow(folder)
    return folder.parent


def microseconds(*seconds: float) -> list[int]:
    return [round((START + s) * 1e6) for s in seconds]


def sequence(root: Path) -> MVSECSequence:
    return MVSEC(root, "indoor_flying1").sequence("indoor_flying1")


def test_events_between_two_frames_by_time(root):
    flight = sequence(root)
    events = flight.between_frames(0, 1)
    assert events.size == (260, 346)
    assert events.t.tolist() == microseconds(*TIMES[:3])
    assert rows(events)[1][:2] == (60, 50)
    assert events.p.tolist() == [True, False, True]
    assert flight.between_frames(1, 3).t.tolist() == microseconds(*TIMES[3:])
    assert len(flight.between_frames(2, 2)) == 0


def test_events_between_two_frames_by_index(root):
    """As the file's own indices have it; -1 says that nothing came before."""
    flight = sequence(root)
    assert flight.between_frames(0, 1, by="index").t.tolist() == microseconds(*TIMES[:3])
    assert flight.between_frames(1, 2, by="index").t.tolist() == microseconds(*TIMES[3:5])
    assert len(flight.between_frames(2, 3, by="index")) == 0


def test_the_wrong_way_round_is_refused(root):
    with pytest.raises(ValueError, match="first = 2 must not be after last = 1"):
        sequence(root).between_frames(2, 1)
    with pytest.raises(IndexError, match="index 9 is outside the 4 samples"):
        sequence(root).between_frames(0, 9)


def test_frames_depth_pose_and_flow(root):
    flight = sequence(root)
    assert flight.frame_times.tolist() == microseconds(*FRAMES)
    assert flight.frame_event_indices.tolist() == INDICES
    assert flight.frame(2).dtype == torch.uint8
    assert flight.frame(-1).unique().tolist() == [3]
    assert flight.depth_times.tolist() == microseconds(0, 0.05, 0.1)
    assert flight.depth(1).unique().tolist() == [2.5]
    assert flight.depth(2).isnan().all()
    assert flight.depth(0, rectified=True).unique().tolist() == [7.0]
    assert torch.equal(flight.pose(1), 2 * torch.eye(4).double())
    assert flight.pose_times.tolist() == flight.depth_times.tolist()
    assert flight.flow_times.tolist() == flight.depth_times.tolist()
    assert flight.flow(2).shape == (2, 260, 346)
    assert flight.flow(2)[:, 5, 7].tolist() == [2.0, -4.0]


def test_flow_comes_from_the_other_file_where_there_is_no_npz(tmp_path):
    flight = sequence(write(tmp_path))
    assert flight.flow_file is None
    assert flight.flow(1).unique().tolist() == [9.0]
    assert len(flight.flow_times) == 3


def test_samples_are_pairs_of_frames_of_all_sequences(tmp_path):
    for name in ("indoor_flying1", "outdoor_day1"):
        write(tmp_path, name)
    data = MVSEC(tmp_path, ["outdoor_day1", "indoor_flying1"], step=2)
    assert len(data) == 4
    events, pair = data[3]
    assert (pair.sequence, pair.first, pair.last) == ("indoor_flying1", 1, 3)
    assert [pair.t0, pair.t1] == microseconds(0.030, 0.090)
    assert events.t.tolist() == microseconds(*TIMES[3:])
    assert pair.frames[:, 0, 0].tolist() == [1, 3]
    assert [data[i][1].sequence for i in range(4)] == ["outdoor_day1"] * 2 + ["indoor_flying1"] * 2
    assert len(list(data)) == 4
    assert "4 pairs of frames 2 apart, of outdoor_day1, indoor_flying1" in repr(data)


def test_a_sequence_shorter_than_a_step_has_no_samples(root):
    assert len(MVSEC(root, "indoor_flying1", step=4)) == 0


def test_workers_get_the_same_samples(root):
    data = MVSEC(root, "indoor_flying1", transform=len, target_transform=lambda pair: pair.first)
    expected = [data[i] for i in range(3)]
    assert expected == [(3, 0), (2, 1), (1, 2)]
    loader = torch.utils.data.DataLoader(
        data, batch_size=None, num_workers=1, multiprocessing_context="fork"
    )
    assert [(int(a), int(b)) for a, b in loader] == expected


def test_a_sequence_can_be_sent_to_another_process(root):
    copy = pickle.loads(pickle.dumps(sequence(root)))
    assert copy.frame(1).unique().tolist() == [1]


def test_what_is_missing_is_named(tmp_path, root):
    with pytest.raises(
        MissingDataError, match=r"needs the file indoor_flying1_data.hdf5 in .*mvsec/"
    ):
        MVSEC(tmp_path, "indoor_flying1")
    write(tmp_path)
    (tmp_path / "indoor_flying1_gt.hdf5").unlink()
    with pytest.raises(MissingDataError, match="without its file"):
        sequence(tmp_path).depth(0)
    with pytest.raises(ValueError, match="is none of indoor_flying1"):
        MVSEC(root, "indoor_flying1").sequence("indoor_flying2")


def test_the_right_camera_has_no_frames_outdoors(root):
    with pytest.raises(FormatError, match="davis/right/image_raw_ts. The right camera has no"):
        MVSEC(root, "indoor_flying1", camera="right")
