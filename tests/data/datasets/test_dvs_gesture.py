"""DVS128-Gesture: gestures are cut out of AEDAT 3.1 recordings as their tables say."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Iterable
from pathlib import Path

import pytest

from evsurf.data.datasets import DVSGesture, MissingDataError
from evsurf.data.formats import FormatError
from tests.data.datasets.files import Event, rows


def write_aedat3(path: Path, events: Iterable[Event]) -> None:
    """Polarity packets of two events, little endian, with a header of text."""
    events = list(events)
    content = b"#!AER-DAT3.1\r\n#Format: RAW\r\n#Source 0: DVS128\r\n#!END-HEADER\r\n"
    for i in range(0, len(events), 2):
        part = events[i : i + 2]
        content += struct.pack("<HHIIIIII", 1, 0, 8, 4, 0, len(part), len(part), len(part))
        for x, y, t, p in part:
            content += struct.pack("<Ii", x << 17 | y << 2 | p << 1 | 1, t)
    path.write_bytes(content)


EVENTS = [Event(i, 127 - i, 1_000 * i, i % 2) for i in range(10)]


def write(root: Path) -> Path:
    folder = root / "DvsGesture"
    folder.mkdir(parents=True)
    for name in ("user01_led", "user24_lab"):
        write_aedat3(folder / f"{name}.aedat", EVENTS)
        lines = ["class,startTime_usec,endTime_usec", "2,0,3000", "11,5000,9001"]
        (folder / f"{name}_labels.csv").write_text("\n".join(lines) + "\n")
    (folder / "trials_to_train.txt").write_text("user01_led.aedat\n\n")
    (folder / "trials_to_test.txt").write_text("user24_lab.aedat\n")
    return folder


def test_gestures_are_cut_out_from_start_to_before_end(tmp_path):
    write(tmp_path)
    data = DVSGesture(tmp_path, "train")
    assert (len(data), data.targets, len(data.classes)) == (2, [1, 10], 11)
    assert data.classes[data.targets[0]] == "right_hand_wave"
    events, target = data[0]
    assert (rows(events), target, events.size) == (EVENTS[:3], 1, (128, 128))
    assert rows(data[-1][0]) == EVENTS[5:]
    assert rows(data[0][0]) == EVENTS[:3]
    assert "2 recordings of 11 classes, 128x128" in repr(data)


def test_splits_are_those_of_the_lists(tmp_path):
    write(tmp_path)
    assert DVSGesture(tmp_path, "test").gestures[0].path.name == "user24_lab.aedat"


def test_a_worker_gets_no_recording_sent(tmp_path):
    write(tmp_path)
    data = DVSGesture(tmp_path)
    assert len(data[0][0]) == 3
    copy = pickle.loads(pickle.dumps(data))
    assert copy._last is None
    assert len(copy[1][0]) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1,0,5\n", "must start with the row class,"),
        ("class,startTime_usec,endTime_usec\n12,0,5\n", "line 2: .* a class from 1 to 11"),
        ("class,startTime_usec,endTime_usec\n1,9,5\n", "line 2"),
        ("class,startTime_usec,endTime_usec\n1,0\n", "three whole numbers"),
    ],
)
def test_a_wrong_table_is_named(tmp_path, text, message):
    (write(tmp_path) / "user01_led_labels.csv").write_text(text)
    with pytest.raises(FormatError, match=message):
        DVSGesture(tmp_path)


def test_what_is_missing_is_named(tmp_path):
    with pytest.raises(MissingDataError, match="trials_to_train.txt .* Fetch DvsGesture.tar.gz"):
        DVSGesture(tmp_path)
    (write(tmp_path) / "user01_led.aedat").unlink()
    with pytest.raises(MissingDataError, match="lists user01_led.aedat, but there is no"):
        DVSGesture(tmp_path)
