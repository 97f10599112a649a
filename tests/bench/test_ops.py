"""A report has a row for every way, and no time for a wrong or too large one."""

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from evsurf.bench import memory, ops
from evsurf.bench.agreement import DisagreementError
from evsurf.bench.measure import Timing, measure
from evsurf.bench.memory import can_measure, in_fresh_process
from evsurf.bench.ops import PASSES, Plan, Report, Row, run
from evsurf.bench.variants import Variant, variants
from evsurf.data.synthetic import PRESETS, Preset, camera_like

NAMES = ["evsurf", "nn.LSTM packed", "nn.LSTM padded", "ConvLSTM 1x1", "ConvLSTM 3x3"]
PLAN = Plan(stream="tiny", samples=2, channels=(2,), repeats=2, seconds=0.05)

needs_linux = pytest.mark.skipif(
    not can_measure(torch.device("cpu")), reason="needs Linux to tell a peak"
)


@pytest.fixture(autouse=True)
def _tiny_stream(monkeypatch):
    monkeypatch.setitem(PRESETS, "tiny", Preset((6, 7), 1000, (30, 60), 0.5))


@pytest.fixture
def never_timed(monkeypatch):
    monkeypatch.setattr(ops, "measure", lambda *_, **__: pytest.fail("something was timed"))


def row(variant: str, events: int, seconds: float | None, channels: int = 3) -> Row:
    timing = None if seconds is None else Timing(((seconds,), (seconds,)))
    return Row(variant, channels, "forward", 4, events, timing)


def test_every_variant_has_a_row_in_every_pass():
    report = run(replace(PLAN, channels=(2, 1)))
    assert [(row.channels, row.pass_name, row.variant) for row in report.rows] == [
        (channels, pass_name, name) for channels in (2, 1) for pass_name in PASSES for name in NAMES
    ]
    events = camera_like("tiny", 2).num_events
    for found in report.rows:
        assert (found.samples, found.events, found.peak_bytes) == (2, events, None)
        assert found.timing is not None
        assert len(found.timing.rounds) == 2
        assert found.events_per_second == events / found.timing.median > 0


def test_every_device_can_be_timed(device):
    report = run(replace(PLAN, repeats=1, device=device.type))
    assert all(row.timing for row in report.rows)


@pytest.mark.gpu
def test_a_gpu_can_be_named_by_its_number_and_tells_its_memory():
    plan = Plan(samples=2, channels=(2,), repeats=1, seconds=0.0, device="cuda:0", memory=True)
    assert all(row.peak_bytes for row in run(plan).rows)


def test_tf32_is_off_for_the_check_and_the_times_alone(monkeypatch):
    seen = []

    def look(found):
        seen.append(torch.backends.cudnn.allow_tf32)
        return found

    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    monkeypatch.setattr(ops, "check_agreement", look)
    monkeypatch.setattr(ops, "measure", lambda *args, **options: look(measure(*args, **options)))
    run(PLAN)
    assert seen == [False, False, False]
    assert torch.backends.cudnn.allow_tf32


def test_one_sample_is_enough():
    assert all(row.samples == 1 for row in run(replace(PLAN, samples=1)).rows)


def test_a_report_is_plain_json():
    report = run(PLAN)
    read = json.loads(json.dumps(report.as_json(), allow_nan=False))
    assert read == report.as_json()
    assert read["machine"]["torch"] == torch.__version__
    assert read["protocol"]["seed"] == 0
    assert read["protocol"]["device"] == "cpu"
    first = read["results"][0]
    assert first["variant"] == "evsurf"
    assert first["times_slower_than_evsurf"] == 1
    timing = report.rows[0].timing
    assert timing is not None
    assert first["median_s"] == timing.median
    assert "peak_extra_bytes" not in first


def test_a_report_describes_its_events():
    batch = camera_like("tiny", 2, seed=3)
    pixels = [
        (sample, int(y), int(x))
        for sample, events in enumerate(batch)
        for y, x in zip(events.y, events.x, strict=True)
    ]
    assert run(replace(PLAN, seed=3)).input == {
        "stream": "tiny",
        "samples": 2,
        "size": [6, 7],
        "events": len(pixels),
        "active_pixels": len(set(pixels)),
        "busiest_pixel": max(map(pixels.count, pixels)),
    }


def test_what_needs_too_much_memory_is_left_out_and_said_so(monkeypatch):
    monkeypatch.setattr(ops, "_MOST_BYTES", 1.0)
    report = run(PLAN)
    left_out = [found.variant for found in report.rows if found.timing is None]
    assert left_out == 2 * NAMES[2:]
    found = report.rows[2]
    assert (found.samples, found.events, found.events_per_second) == (0, 0, 0)
    assert math.isnan(report.times_slower(found))
    results = json.loads(json.dumps(report.as_json(), allow_nan=False))["results"]
    assert results[2] == {
        "variant": "nn.LSTM padded", "channels": 2, "pass": "forward", "samples": 0, "events": 0,
        "left_out": "needs more than 0 GB",
    }  # fmt: skip
    assert "left_out" not in results[1]


def test_a_variant_without_memory_for_all_samples_takes_the_first_ones(monkeypatch):
    batch = camera_like("tiny", 5)
    (costly,) = (v for v in variants(2, torch.device("cpu")) if v.name == "nn.LSTM padded")
    monkeypatch.setattr(ops, "_MOST_BYTES", costly.training_bytes(batch[:2]))
    found = {row.variant: row for row in run(replace(PLAN, samples=5)).rows}
    assert found["nn.LSTM packed"].samples == 5
    assert found["nn.LSTM padded"].samples == 2
    assert found["nn.LSTM padded"].events == batch[:2].num_events


@pytest.mark.parametrize(
    ("gigabytes_a_sample", "count"), [(0, 8), (0.75, 8), (1, 4), (2, 2), (4, 1), (6, 1), (7, None)]
)
def test_samples_are_halved_until_they_fit(gigabytes_a_sample, count):
    batch = camera_like("tiny", 8)

    def estimate(part):
        return int(len(part) * gigabytes_a_sample * 1e9)

    part = ops._affordable(Variant("a", torch.nn.Identity(), True, estimate), batch)
    assert part == (None if count is None else batch[:count])


def test_speeds_are_compared_by_event_within_channels_and_pass():
    ours, other = row("evsurf", 100, 1.0), row("other", 50, 2.0)
    wider = [row("evsurf", 100, 8.0, channels=16), row("other", 100, 4.0, channels=16)]
    backward = replace(row("evsurf", 100, 32.0), pass_name="forward+backward")
    report = Report(Plan(), {}, {}, [wider[0], backward, ours, other, wider[1]])
    assert ours.events_per_second == 100
    assert report.times_slower(other) == 4
    assert report.times_slower(ours) == 1
    assert report.times_slower(wider[1]) == 0.5


@pytest.mark.usefixtures("never_timed")
def test_nothing_is_timed_if_one_variant_is_wrong(monkeypatch):
    def with_a_wrong_one(channels, device):
        found = variants(channels, device)
        found[3].module.register_forward_hook(lambda _, __, surface: 1.1 * surface)
        return found

    monkeypatch.setattr(ops, "variants", with_a_wrong_one)
    with pytest.raises(DisagreementError, match="ConvLSTM 1x1: values differ"):
        run(PLAN)


def test_progress_tells_each_step():
    told: list[str] = []
    run(PLAN, told.append)
    assert told == [
        "2 channels: checking that all agree",
        "2 channels: timing forward",
        "2 channels: timing forward+backward",
    ]


def test_the_seed_chooses_events_and_weights(monkeypatch):
    drawn = []

    def look(chosen):
        ours, batch = chosen[0]
        drawn.append((ours.module.weight, batch))

    monkeypatch.setattr(ops, "check_agreement", look)
    for seed in (1, 1, 2):
        run(replace(PLAN, seed=seed))
    (weight, batch), (same_weight, same_batch), (other_weight, other_batch) = drawn
    assert torch.equal(weight, same_weight)
    assert batch == same_batch
    assert not torch.equal(weight, other_weight)
    assert batch != other_batch


def test_random_numbers_stay_as_they_were():
    before = torch.get_rng_state()
    run(PLAN)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_fast_plan_is_never_the_larger_one():
    large = Plan(samples=64, channels=(16, 3), repeats=30, seconds=6.0, seed=4)
    fast = large.fast()
    assert fast == replace(large, samples=8, channels=(16,), repeats=5, seconds=0.5)
    small = replace(PLAN, seconds=0.01)
    assert small.fast() == small


@needs_linux
def test_memory_is_measured_for_what_was_timed(monkeypatch):
    """In this process here, as another one does not know the tiny stream."""
    monkeypatch.setattr(ops, "in_fresh_process", lambda work, *args: work(*args))
    monkeypatch.setattr(ops, "peak_bytes", lambda call, _: call() or 4096)
    monkeypatch.setattr(ops, "_MOST_BYTES", 1.0)
    told: list[str] = []
    report = run(replace(PLAN, memory=True), told.append)
    assert [found.peak_bytes for found in report.rows] == 2 * [4096, 4096, None, None, None]
    assert told[-1] == "2 channels: memory of nn.LSTM packed, forward+backward"
    results = report.as_json()["results"]
    assert isinstance(results, list)
    assert results[0]["peak_extra_bytes"] == 4096
    assert "peak_extra_bytes" not in results[2]


@needs_linux
def test_a_process_of_its_own_finds_the_peak_of_a_pass():
    """Of the surface at least, and Linux counts somewhat late."""
    plan = Plan(stream="mvsec-20k", samples=2)
    image = 4 * 2 * 16 * 260 * 346
    peak = in_fresh_process(ops._peak, plan, "evsurf", 16, "forward", 2, 1)
    assert 0.9 * image < peak < 2 * image


@pytest.mark.usefixtures("never_timed")
def test_memory_that_nobody_counts_is_refused_before_anything_is_timed(monkeypatch):
    monkeypatch.setattr(memory, "_PEAK_RESET", Path("/no/such/file"))
    with pytest.raises(ValueError, match="peak memory of cpu cannot be measured"):
        run(replace(PLAN, memory=True))


@pytest.mark.usefixtures("never_timed")
def test_wrong_plans_are_refused(own_errors):
    with pytest.raises(ValueError, match="samples = 0 must be at least 1"):
        Plan(samples=0)
    with pytest.raises(ValueError, match="one of ncars, .*, not 'ncar'"):
        run(replace(PLAN, stream="ncar"))
