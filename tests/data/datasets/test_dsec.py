"""DSEC-Flow is read in the layouts of its archives, its flow to the last bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from evsurf.data import collate
from evsurf.data.datasets import DSECFlow, MissingDataError
from evsurf.data.datasets.dsec import read_flow, rectified
from evsurf.data.formats import FormatError
from evsurf.events import Events
from tests.data.datasets.files import rows
from tests.data.datasets.pngs import png

h5py = pytest.importorskip("h5py")

OFFSET = 49_599_300_523


def write_events(folder: Path, times: list[int]) -> None:
    """DSEC's layout: times without the offset, and an index by the millisecond."""
    folder.mkdir(parents=True)
    t = np.array(times, np.uint32)
    with h5py.File(folder / "events.h5", "w") as file:
        file["events/x"] = np.arange(len(t), dtype=np.uint16) * 100
        file["events/y"] = np.arange(len(t), dtype=np.uint16) * 50
        file["events/t"] = t
        file["events/p"] = np.arange(len(t), dtype=np.uint8) % 2
        file["t_offset"] = np.int64(OFFSET)
        last = times[-1] // 1_000
        file["ms_to_idx"] = np.searchsorted(t, np.arange(last + 1) * 1_000).astype(np.uint64)
    with h5py.File(folder / "rectify_map.h5", "w") as file:
        rows, columns = np.mgrid[:480, :640]
        file["rectify_map"] = np.stack([columns + 1.4, rows - 0.6], 2).astype(np.float32)


def picture(seed: int = 0) -> np.ndarray:
    values = np.random.default_rng(seed).integers(0, 2**16, (480, 640, 3), np.uint16)
    values[..., 2] = values[..., 2] > 40_000
    return values


def write_flow(folder: Path, windows: list[tuple[int, int]], small: bytes) -> None:
    (folder / "forward").mkdir(parents=True)
    lines = [f"{OFFSET + t0}, {OFFSET + t1}" for t0, t1 in windows]
    text = "\n".join(["# from_timestamp_us, to_timestamp_us", *lines])
    (folder / "forward_timestamps.txt").write_text(text + "\n")
    for i in range(len(windows)):
        (folder / "forward" / f"{2 * i + 2:06}.png").write_bytes(small)


@pytest.fixture(scope="module")
def flow_png() -> bytes:
    # Filtered as the usual writers do where it matters; the whole picture would take seconds.
    return png(picture(), [0])


TIMES = [0, 30_000, 99_999, 100_000, 150_000, 199_999, 200_000]
WINDOWS = [(0, 100_000), (100_000, 200_000)]


@pytest.fixture(scope="module")
def root(tmp_path_factory, flow_png) -> Path:
    """Two archives beside each other, as they are unpacked."""
    folder: Path = tmp_path_factory.mktemp("dsec")
    for name in ("thun_00_a", "zurich_city_01_a"):
        write_events(folder / "train_events" / name / "events" / "left", TIMES)
        write_flow(folder / "train_optical_flow" / name / "flow", WINDOWS, flow_png)
    write_events(folder / "train_events" / "no_flow" / "events" / "left", TIMES)
    return folder


def test_a_sample_has_the_events_of_its_flow(root):
    data = DSECFlow(root, "train")
    assert data.sequences == ("thun_00_a", "zurich_city_01_a")
    assert len(data) == 4
    events, window = data[3]
    assert (window.sequence, window.number) == ("zurich_city_01_a", 4)
    assert (window.t0, window.t1) == (OFFSET + 100_000, OFFSET + 200_000)
    assert (events.t - OFFSET).tolist() == [100_000, 150_000, 199_999]
    assert events.x.tolist() == [300, 400, 500]
    assert events.size == (480, 640)
    assert len(list(data)) == 4
    assert "4 flows of 2 sequences, 480x640" in repr(data)


def test_windows_make_a_batch(root):
    data = DSECFlow(root, target_transform=vars)
    batch, windows = collate([data[0], data[3]])
    assert (len(batch), batch.size) == (2, (480, 640))
    assert windows["flow"].shape == (2, 2, 480, 640)
    assert windows["valid"].shape == (2, 480, 640)
    assert windows["sequence"] == ["thun_00_a", "zurich_city_01_a"]
    assert windows["t0"].tolist() == [OFFSET, OFFSET + 100_000]


def test_flow_is_exact(root):
    _, window = DSECFlow(root, sequences="thun_00_a")[0]
    expected = picture()
    for channel in range(2):
        values = (expected[..., channel].astype(float) - 2**15) / 128
        assert np.array_equal(window.flow[channel].numpy(), values)
    assert np.array_equal(window.valid.numpy(), expected[..., 2] > 0)


def test_flow_by_hand(tmp_path):
    values = np.zeros((480, 640, 3), np.uint16)
    values[3, 7] = 2**15 + 128, 2**15 - 64, 1
    (tmp_path / "a.png").write_bytes(png(values, [2]))
    flow, valid = read_flow(tmp_path / "a.png")
    assert flow[:, 3, 7].tolist() == [1.0, -0.5]
    assert flow[:, 0, 0].tolist() == [-256.0, -256.0]
    assert valid.nonzero().tolist() == [[3, 7]]


def test_a_picture_of_another_kind_is_refused(tmp_path):
    (tmp_path / "a.png").write_bytes(png(np.zeros((4, 6, 3), np.uint16)))
    with pytest.raises(FormatError, match="must be 480 x 640 x 3 of 16 bits, and is 4 x 6 x 3"):
        read_flow(tmp_path / "a.png")


def test_all_in_one_folder_is_found_too(tmp_path, flow_png):
    write_events(tmp_path / "train" / "thun_00_a" / "events_left", TIMES)
    write_flow(tmp_path / "train" / "thun_00_a" / "flow", WINDOWS[:1], flow_png)
    data = DSECFlow(tmp_path)
    assert [len(events) for events, _ in list(data)] == [3]


def test_events_are_moved_to_the_rectified_picture(root):
    """The map adds 1.4 to the columns and takes 0.6 from the rows: nearest are 1 and -1."""
    plain, _ = DSECFlow(root)[0]
    moved, _ = DSECFlow(root, rectify=True)[0]
    assert [row[:2] for row in rows(plain)] == [(0, 0), (100, 50), (200, 100)]
    # The first one leaves the picture at the top.
    assert [row[:2] for row in rows(moved)] == [(101, 49), (201, 99)]
    assert torch.equal(moved.t, plain.t[1:])
    assert torch.equal(moved.p, plain.p[1:])


def test_the_map_itself_can_be_had(root):
    data = DSECFlow(root)
    assert data.rectify_map("thun_00_a")[7, 3].tolist() == pytest.approx([4.4, 6.4])
    with pytest.raises(ValueError, match="name = 'thun' is none of thun_00_a, zurich_city_01_a"):
        data.rectify_map("thun")


def test_a_missing_or_strange_map_is_named(tmp_path, flow_png):
    folder = tmp_path / "a" / "events" / "left"
    write_events(folder, TIMES)
    write_flow(tmp_path / "a" / "flow", WINDOWS, flow_png)
    with h5py.File(folder / "rectify_map.h5", "w") as file:
        file["rectify_map"] = np.zeros((4, 6, 2), np.float32)
    with pytest.raises(FormatError, match="480 x 640 x 2, and has"):
        DSECFlow(tmp_path, rectify=True)[0]
    with h5py.File(folder / "rectify_map.h5", "w") as file:
        file["other"] = np.zeros(3)
    with pytest.raises(FormatError, match="has no rectify_map"):
        DSECFlow(tmp_path).rectify_map("a")
    (folder / "rectify_map.h5").unlink()
    with pytest.raises(MissingDataError, match="a has no rectify_map.h5 beside"):
        DSECFlow(tmp_path).rectify_map("a")


def test_no_events_stay_none():
    nothing = Events.empty((480, 640))
    assert rectified(nothing, np.zeros((480, 640, 2), np.float32)) == nothing


def test_test_has_times_and_no_flow(tmp_path):
    write_events(tmp_path / "test_events" / "thun_01_a" / "events" / "left", TIMES)
    folder = tmp_path / "test_forward_optical_flow_timestamps"
    folder.mkdir()
    lines = ["# from_timestamp_us, to_timestamp_us, file_index"]
    lines += [f"{OFFSET}, {OFFSET + 100_000}, 820"]
    (folder / "thun_01_a.csv").write_text("\n".join(lines))
    events, window = DSECFlow(tmp_path, "test")[0]
    assert len(events) == 3
    assert (window.number, window.flow, window.valid) == (820, None, None)


def test_times_and_pictures_must_be_as_many(tmp_path, flow_png):
    write_events(tmp_path / "a" / "events" / "left", TIMES)
    write_flow(tmp_path / "a" / "flow", WINDOWS, flow_png)
    (tmp_path / "a" / "flow" / "forward" / "000002.png").unlink()
    with pytest.raises(FormatError, match="has 2 times, and .* has 1 pictures"):
        DSECFlow(tmp_path)


def test_a_wrong_line_of_times_is_named(tmp_path, flow_png):
    write_events(tmp_path / "a" / "events" / "left", TIMES)
    write_flow(tmp_path / "a" / "flow", WINDOWS, flow_png)
    (tmp_path / "a" / "flow" / "forward_timestamps.txt").write_text("# from, to\n1, x\n")
    with pytest.raises(FormatError, match="line 2: '1, x' is not 2 whole numbers"):
        DSECFlow(tmp_path)


def test_what_is_missing_is_named(tmp_path, root):
    with pytest.raises(
        MissingDataError, match=r"flow/forward_timestamps.txt in .* Fetch it from h"
    ):
        DSECFlow(tmp_path)
    with pytest.raises(
        ValueError, match="'thun' is none of those here, thun_00_a, zurich_city_01_a"
    ):
        DSECFlow(root, sequences=["thun"])
    with pytest.raises(ValueError, match="split = 'val' must be one of 'train', 'test'"):
        DSECFlow(root, "val")
