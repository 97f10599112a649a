"""ATIS `.bin`: five bytes an event, and records that only say that time has passed."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.formats import FormatError, open_recording, read, write
from evsurf.events import Events
from tests.data.formats import encoders as enc


@pytest.mark.filterwarnings("ignore::evsurf.data.formats.GuessedSizeWarning")
def test_overflow_records_move_all_later_times_and_are_no_events(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(
        bytes.fromhex("0102800005 00f0000000 0102000005 00f0000000 00f0800000 0304800006")
    )
    events = read(path)
    assert events.t.tolist() == [5, 8192 + 5, 3 * 8192 + 6]
    assert events.p.tolist() == [True, False, True]
    assert events.size == (5, 4)


def test_its_content_has_no_mark_so_another_name_hides_it(tmp_path):
    path = tmp_path / "a.unknown"
    path.write_bytes(enc.atis([(1, 2, 3, 1)]))
    with pytest.raises(FormatError, match="no format known"):
        open_recording(path)
    with open_recording(path, (9, 9), format="atis_bin") as recording:
        assert recording.read().t.tolist() == [3]


def test_laps_are_written_only_once_the_stamp_is_full(tmp_path):
    events = Events.from_arrays(
        [1, 2, 3], [0, 5, 7], [2**23 - 1, 2**23, 2**23 + 9000], [1, 0, 1], (9, 9)
    )
    write(events, tmp_path / "a.bin")
    content = (tmp_path / "a.bin").read_bytes()
    assert content.hex(" ", 5) == "0100ffffff 00f0000000 02057fe000 00f0000000 0307ffe328"
    assert read(tmp_path / "a.bin", (9, 9), strict=True) == events


def test_the_row_that_says_that_time_has_passed_cannot_be_written(tmp_path):
    with pytest.raises(ValueError, match="y = 240 does not fit: .* time has passed"):
        write(Events.from_arrays([0], [240], [0], [1], (256, 256)), tmp_path / "a.bin")


def test_other_files_of_that_suffix_are_refused(tmp_path):
    path = tmp_path / "firmware.bin"
    path.write_bytes(np.random.default_rng(0).bytes(5000))
    with pytest.raises(FormatError, match="its times go back and forth"):
        open_recording(path)
