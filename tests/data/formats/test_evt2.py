"""EVT 2.0 is written word by word."""

from __future__ import annotations

from evsurf.data.formats import read, write
from evsurf.events import Events
from tests.data.formats import encoders as enc


def test_a_written_file_has_the_words_of_the_description(tmp_path):
    events = enc.random_events(5_000, (480, 640), us=200_000)
    x, y, t, p = zip(*events, strict=True)
    made = Events.from_arrays(x, y, t, p, size=(480, 640))
    write([made[:77], made[77:]], tmp_path / "a.evt2")
    content = (tmp_path / "a.evt2").read_bytes()
    head = b"% evt 2.0\n% format EVT2;height=480;width=640\n% geometry 640x480\n% end\n"
    assert content == head + enc.evt2(events)
    assert read(tmp_path / "a.evt2", strict=True) == made


def test_the_upper_bits_take_steps_of_less_than_half_their_range(tmp_path):
    made = Events.from_arrays([1, 1], [2, 2], [2**34 + 70, 2**35 + 70], [0, 1], size=(3, 3))
    write(made, tmp_path / "a.evt2")
    payload = (tmp_path / "a.evt2").read_bytes().partition(b"% end\n")[2]
    values = [int.from_bytes(payload[i : i + 4], "little") for i in range(0, len(payload), 4)]
    highs = [value & 0xFFFFFFF for value in values if value >> 28 == 8]
    assert len(highs) == 5
    assert highs[1] == highs[4] == 1
    assert read(tmp_path / "a.evt2", strict=True) == made
