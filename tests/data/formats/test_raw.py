"""Headers of RAW files: which words, which sensor, which order."""

from __future__ import annotations

import pytest

from evsurf.data.formats import FormatError, open_recording
from evsurf.data.formats.registry import format_of
from tests.data.formats import encoders as enc

EVENT = [(3, 4, 5000, 1)]


def opened(tmp_path, head: bytes, payload: bytes = b"", **options):
    path = tmp_path / "a.raw"
    path.write_bytes(head + payload)
    return open_recording(path, **options)


@pytest.mark.parametrize(
    ("line", "size", "source"),
    [
        ("format EVT3;height=100;width=200", (100, 200), "header"),
        ("geometry 200x100", (100, 200), "header"),
        ("height 100\n% width 200", (100, 200), "header"),
        ("sensor_name IMX636", (720, 1280), "chip"),
        ("sensor_name GenX320", (320, 320), "chip"),
        ("plugin_name hal_plugin_gen31_fx3", (480, 640), "chip"),
        ("plugin_name hal_plugin_imx647_evk3", (512, 640), "chip"),
        ("system_ID 49", (720, 1280), "chip"),
        ("system_ID 21", (480, 640), "chip"),
        ("sensor_generation 4.1", (720, 1280), "chip"),
    ],
)
def test_the_size_is_that_of_the_header_or_of_the_chip_it_names(tmp_path, line, size, source):
    with opened(tmp_path, f"% evt 3.0\n% {line}\n".encode(), enc.evt3(EVENT)) as recording:
        assert (recording.size, recording.size_source) == (size, source)


@pytest.mark.parametrize(
    "line", ["geometry 0x5", "geometry axb", "system_ID 9999", "sensor_name Y"]
)
@pytest.mark.filterwarnings("ignore::evsurf.data.formats.GuessedSizeWarning")
def test_a_size_that_is_none_is_guessed(tmp_path, line):
    with opened(tmp_path, f"% evt 3.0\n% {line}\n".encode(), enc.evt3(EVENT)) as recording:
        assert (recording.size, recording.size_source) == ((5, 4), "guess")


def test_the_argument_has_the_first_word(tmp_path):
    with opened(tmp_path, enc.raw_header("EVT3"), enc.evt3(EVENT), size=(9, 9)) as recording:
        assert (recording.size, recording.size_source) == ((9, 9), "argument")


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"% evt 2.0\n", "evt2"),
        (b"% evt 2.1\n", "evt21"),
        (b"% evt 3.0\n", "evt3"),
        (b"% format EVT21;height=5\n% evt 3.0\n", "evt21"),
        (enc.raw_header("EVT2"), "evt2"),
    ],
)
def test_the_words_are_told_by_the_header_and_not_by_the_suffix(tmp_path, head, name):
    path = tmp_path / "a.dat"
    path.write_bytes(head)
    assert format_of(path).name == name


def test_facts_say_what_the_header_says(tmp_path):
    with opened(tmp_path, enc.old_header("3.0", 48, "hal_plugin_gen41_evk3")) as recording:
        assert recording.facts["serial_number"] == "00000001"
        assert recording.facts["plugin_name"] == "hal_plugin_gen41_evk3"
        assert "triggers" not in recording.facts


@pytest.mark.parametrize(
    ("head", "message"),
    [
        (b"% format HISTO3D;height=5\n", "its header says 'HISTO3D'"),
        (b"\x00\x80", "its header does not say which words it holds"),
        (b"% evt 2.0\n", "no EVT3 file: its header says 'EVT2'"),
    ],
)
def test_a_file_of_other_words_is_refused(tmp_path, head, message):
    with pytest.raises(FormatError, match=message):
        opened(tmp_path, head, format="evt3")


@pytest.mark.parametrize("system", [49, 64])
def test_the_order_of_halves_is_seen_in_the_words(tmp_path, system):
    events = enc.random_events(200, (320, 320), us=10_000)
    for swapped in (False, True):
        head = enc.old_header("2.1", system)
        with opened(tmp_path, head, enc.evt21(events, swapped=swapped), size=(320, 320)) as file:
            assert file.read().numpy().tolist() == [(x, y, t, bool(p)) for x, y, t, p in events]


@pytest.mark.parametrize(("system", "swapped"), [(49, True), (64, False)])
def test_the_system_decides_where_the_words_do_not(tmp_path, system, swapped):
    time = enc.words32(8 << 28, 8 << 28)
    payload = time + enc.words32(1, 1 << 22)
    with opened(tmp_path, enc.old_header("2.1", system), payload, size=(99, 99)) as file:
        assert file.read().t.tolist() == ([0] if swapped else [1])
