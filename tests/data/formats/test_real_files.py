"""Recordings of real cameras, where they lie beside the project."""

from __future__ import annotations

import numpy as np
import pytest

from evsurf.data.formats import GuessedSizeWarning, open_recording, read


def test_one_recording_is_the_same_as_dat_and_as_evt3(shared_data):
    dat = read(shared_data / "faery_samples" / "gen4.dat", strict=True)
    evt3 = read(shared_data / "faery_samples" / "evt3.raw", strict=True)
    assert dat.size == evt3.size == (720, 1280)
    assert len(dat) == len(evt3) == 1_218_618
    for name in "xyp":
        assert (getattr(dat, name) == getattr(evt3, name)).all()
    assert (evt3.t - dat.t == 11_194_368).all()
    assert round(dat.duration / 1e6, 3) == 10.768
    assert round(float(dat.p.float().mean()), 3) == 0.454


@pytest.mark.parametrize(
    ("name", "size", "count", "chip"),
    [
        ("evt2_sample.raw", (480, 640), 539_481, "hal_plugin_gen3_fx3"),
        ("evt3_sample.raw", (720, 1280), 219_596, "hal_plugin_gen41_evk3"),
    ],
)
def test_old_headers_name_a_chip_whose_size_is_known(shared_data, name, size, count, chip):
    with open_recording(shared_data / "expelliarmus_samples" / name, strict=True) as recording:
        assert recording.size == size
        assert recording.size_source == "chip"
        assert recording.facts["plugin_name"] == chip
        assert len(recording.read()) == len(recording) == count


@pytest.mark.parametrize(
    ("name", "count", "duration", "size"),
    [
        ("tonic_samples/sample_ncars.dat", 2_009, 99_950, (42, 78)),
        ("tonic_samples/sample_nmnist.bin", 4_325, 310_522, (34, 34)),
        ("ncaltech101_sample/faces_easy_0001.bin", 67_445, 299_356, (173, 151)),
    ],
)
def test_files_that_do_not_say_their_size_are_read_all_the_same(
    shared_data, name, count, duration, size
):
    with pytest.warns(GuessedSizeWarning):
        events = read(shared_data / name, strict=True)
    assert (len(events), events.size) == (count, size)
    assert abs(events.duration - duration) < 100


def test_every_nmnist_file_is_whole(shared_data):
    files = sorted((shared_data / "nmnist").glob("*/*.bin"))
    assert len(files) == 800
    counts, shares = [], []
    for file in files[::20]:
        events = read(file, (34, 34), strict=True)
        assert 290_000 < events.duration < 340_000
        counts.append(len(events))
        shares.append(float(events.p.float().mean()))
    assert 3_500 < np.mean(counts) < 4_700
    assert 0.45 < np.mean(shares) < 0.55
