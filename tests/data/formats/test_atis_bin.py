"""ATIS `.bin`: five bytes an event, and records that only say that time has passed."""

from __future__ import annotations

import pytest

from evsurf.data.formats import FormatError, open_recording, read
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
