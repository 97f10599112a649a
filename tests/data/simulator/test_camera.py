"""The camera fires where and when its equations say, and the same on every machine."""

from __future__ import annotations

import hashlib
import math
import re

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.simulator import Camera
from evsurf.events import Events

FLOOR = 0.001


def plain(size=(1, 1), **changes) -> Camera:
    """A camera whose pixels are alike, balanced at the start and never tired."""
    settings = {"on": 0.2, "off": 0.2, "spread": 0.0, "settled": True, "refractory": 0.0}
    return Camera(size, **(settings | changes))


def light(log_intensity: float) -> torch.Tensor:
    """A picture of one pixel with this log intensity, as the camera takes it."""
    return torch.tensor([[math.exp(log_intensity) - FLOOR]])


def moving_texture(steps: int, size=(24, 32), seed: int = 0) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    wide = torch.rand((1, 1, size[0], size[1] + steps), generator=generator)
    wide = torch.nn.functional.avg_pool2d(wide, 5, 1, 2)[0, 0]
    wide = 0.05 + 0.9 * (wide - wide.min()) / (wide.max() - wide.min())
    return [wide[:, k : k + size[1]].contiguous() for k in range(steps)]


def timed(pictures, every: float = 1000.0):
    return [(k * every, picture) for k, picture in enumerate(pictures)]


@pytest.mark.parametrize(("factor", "on"), [(3.05, True), (-3.05, False)])
def test_a_ramp_of_three_thresholds_fires_three_times_at_the_analytic_times(factor, on):
    sensor = plain().sensor()
    before, after = light(-1.0), light(-1.0 + factor * 0.2)
    low, high = (math.log(float(picture) + FLOOR) for picture in (before, after))
    assert len(sensor.see(before, 0)) == 0
    events, times = sensor.see_exactly(after, 10_000)
    assert events.p.tolist() == [on] * 3
    expected = [10_000 * k * 0.2 / abs(high - low) for k in (1, 2, 3)]
    # In microseconds, so a billionth of a second is a thousandth.
    assert torch.allclose(times, torch.tensor(expected, dtype=torch.float64), rtol=0, atol=1e-3)
    assert events.t.tolist() == [round(t) for t in expected]


def test_constant_light_gives_nothing():
    events = plain((2, 3)).record(timed([torch.full((2, 3), 0.4)] * 5))
    assert len(events) == 0
    assert events.size == (2, 3)


def test_a_step_up_and_down_fires_as_often_both_ways():
    events = plain().record(timed([light(-2.0), light(-0.95), light(-2.05)]))
    assert events.p.tolist() == [True] * 5 + [False] * 5


@pytest.mark.parametrize("spread", [0.0, 0.1])
def test_references_follow_what_was_fired_and_stay_within_a_threshold(spread):
    camera = plain((24, 32), spread=spread, settled=False)
    sensor = camera.sensor(seed=3)
    pictures = moving_texture(40)
    sensor.see(pictures[0], 0)
    start = sensor.state()
    parts = [sensor.see(picture, 1000.0 * k) for k, picture in enumerate(pictures[1:], 1)]
    end = sensor.state()
    fired = torch.zeros((2, *camera.size), dtype=torch.float64)
    for part in parts:
        places = (part.p.long(), part.y.long(), part.x.long())
        fired.index_put_(places, torch.ones((), dtype=torch.float64), accumulate=True)
    assert fired.sum() > 1000
    expected = start["reference"] + start["on"] * fired[1] - start["off"] * fired[0]
    assert torch.allclose(end["reference"], expected, rtol=0, atol=1e-9)
    above = end["light"] - end["reference"]
    assert bool((above < end["on"]).all())
    assert bool((above > -end["off"]).all())


def test_counts_fall_with_contrast_and_never_exceed_the_change_of_light():
    pictures = moving_texture(60)
    logs = torch.stack(pictures).double().add(FLOOR).log()
    change = float(logs.diff(dim=0).abs().sum())
    shares = []
    for contrast in (0.1, 0.2, 0.4, 0.8):
        events = plain((24, 32), on=contrast, off=contrast).record(timed(pictures))
        shares.append(len(events) * contrast / change)
    assert shares[0] <= 1
    assert shares == sorted(shares, reverse=True)


def test_twice_the_speed_on_the_same_path_gives_as_many_events():
    pictures = moving_texture(40)
    slow, fast = (plain((24, 32)).record(timed(pictures, every)) for every in (2000.0, 1000.0))
    assert len(slow) == len(fast)
    assert slow.duration == pytest.approx(2 * fast.duration, rel=0.01)


@pytest.mark.parametrize("name", ["clean", "default", "noisy"])
def test_what_a_camera_gives_is_sorted_and_within_bounds(name):
    camera = Camera.preset(name, (24, 32), refractory=1500.0)
    events = camera.record(timed(moving_texture(40)), seed=1)
    Events(events.x, events.y, events.t, events.p, events.size, validate=True)
    assert len(events) > 100


@given(st.integers(0, 2**63), st.sampled_from([False, True]))
def test_a_pixel_is_silent_in_its_refractory_period(seed, hold):
    camera = Camera((24, 32), on=0.1, off=0.1, refractory=3000.0, hold=hold)
    events = camera.record(timed(moving_texture(20)), seed=seed)
    latest: dict[tuple[int, int], int] = {}
    for x, y, t in zip(events.x.tolist(), events.y.tolist(), events.t.tolist(), strict=True):
        assert t - latest.get((x, y), -(10**9)) >= 2999
        latest[x, y] = t


def test_a_pixel_that_holds_its_reference_fires_late_and_one_that_does_not_loses_events():
    pictures = timed([light(-2.0), light(-0.95), light(-0.95)], every=1000.0)
    lossy = plain(refractory=300.0).record(pictures)
    holding = plain(refractory=300.0, hold=True).record(pictures)
    assert lossy.t.tolist() == [190, 571, 952]
    assert holding.t.tolist() == [190, 490, 790, 1090, 1390]


def test_leaking_pixels_fire_on_at_the_rate_of_the_leak():
    still = [torch.full((40, 40), 0.5)] * 400
    events = plain((40, 40), leak=2.0, settled=False).record(timed(still, every=10_000.0))
    assert bool(events.p.all())
    rate = len(events) / (40 * 40) / (399 * 0.01)
    assert rate == pytest.approx(2.0, rel=0.1)


@pytest.mark.parametrize("intensity", [0.0, 1.0])
def test_shots_are_rarer_where_it_is_bright(intensity):
    still = [torch.full((40, 40), intensity)] * 400
    events = plain((40, 40), shot=5.0).record(timed(still, every=10_000.0))
    brightness = (255 * intensity + 20) / 275
    expected = 5.0 * (1 - 0.75 * brightness)
    assert len(events) / (40 * 40) / (399 * 0.01) == pytest.approx(expected, rel=0.05)
    assert float(events.p.float().mean()) == pytest.approx(0.5, abs=0.03)
    # Anywhere within a step, and not where pictures are.
    assert len(set((events.t % 10_000).tolist())) > 1000


def test_hot_pixels_fire_at_their_own_rates():
    still = [torch.full((10, 10), 0.5)] * 100
    events = plain((10, 10), hot_pixels=3, hot_rate=(200.0, 200.0)).record(timed(still, 10_000.0))
    assert len({*zip(events.x.tolist(), events.y.tolist(), strict=True)}) <= 3
    assert len(events) == pytest.approx(3 * 200 * 0.99, rel=0.2)


def test_a_slow_photoreceptor_sees_less_of_a_flicker():
    flicker = [torch.full((4, 4), value) for value in [0.2, 0.8] * 30]
    quick, slow = (plain((4, 4), cutoff=hz).record(timed(flicker)) for hz in (0.0, 30.0))
    assert 0 < len(slow) < len(quick) / 2


def test_a_seed_gives_the_same_events_with_any_number_of_threads(threads_set):
    camera = Camera.preset("noisy", (24, 32))
    found = []
    for threads in (1, 2, 5):
        threads_set(threads)
        found.append(camera.record(timed(moving_texture(20)), seed=7))
    assert found[0] == found[1] == found[2]
    assert found[0] != camera.record(timed(moving_texture(20)), seed=8)


def test_every_machine_gives_these_events():
    """Of pictures that integers make, so that only the camera can differ."""
    rows, columns = torch.arange(24)[:, None], torch.arange(32)[None, :]
    pictures = [((rows * 7 + columns * 5 + 3 * k) % 29 / 29).float() for k in range(30)]
    events = Camera.preset("noisy", (24, 32)).record(timed(pictures), seed=5)
    digest = hashlib.sha256(events.numpy().tobytes()).hexdigest()
    assert (len(events), digest[:16]) == (2086, "377a7296d9a89507")


def test_pieces_are_the_whole():
    camera, pictures = Camera((24, 32)), timed(moving_texture(20))
    pieces = list(camera.stream(pictures, seed=2))
    whole = camera.record(pictures, seed=2)
    assert len(pieces) == 20
    assert torch.equal(torch.cat([piece.t for piece in pieces]), whole.t)


def test_pictures_of_bytes_are_like_those_of_floats():
    generator = np.random.default_rng(0)
    pictures = [generator.integers(0, 256, (6, 8), dtype=np.uint8) for _ in range(5)]
    floats = [torch.from_numpy(picture).float() / 255 for picture in pictures]
    camera = Camera((6, 8))
    assert camera.record(timed(pictures)) == camera.record(timed(floats))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"on": 0.0}, "on = 0.0 must be above 0"),
        ({"off": -0.1}, "off = -0.1 must be above 0"),
        ({"on": math.nan}, "on = nan must be a finite number"),
        ({"spread": -1.0}, "spread = -1.0 must not be negative"),
        ({"refractory": math.inf}, "refractory = inf must be a finite number"),
        ({"hot_pixels": -1}, "hot_pixels = -1 must be at least 0"),
        ({"hot_rate": (5.0, 1.0)}, "hot_rate = (5.0, 1.0) must be the least and the most"),
        ({"size": (0, 4)}, "size = (0, 4) is not a sensor's"),
    ],
)
def test_a_camera_that_cannot_be_is_refused(changes, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Camera(**({"size": (2, 2)} | changes))


def test_unknown_presets_and_fields_are_refused(own_errors):
    with pytest.raises(ValueError, match="preset 'loud' is none of clean, default, noisy"):
        Camera.preset("loud", (2, 2))
    with pytest.raises(TypeError, match="a camera has no 'threshold'; it has cutoff"):
        Camera.preset("clean", (2, 2), threshold=0.2)


def test_pictures_that_cannot_be_seen_are_refused(own_errors):
    sensor = plain((2, 3)).sensor()
    with pytest.raises(ValueError, match=r"size \(2, 3\), got shape \(3, 2\)"):
        sensor.see(torch.zeros(3, 2), 0)
    with pytest.raises(ValueError, match="Divide pictures of 8 bits by 255"):
        sensor.see(torch.full((2, 3), 255.0), 0)
    with pytest.raises(ValueError, match="from 0"):
        sensor.see(torch.full((2, 3), math.nan), 0)
    with pytest.raises(TypeError, match="floats from 0 to 1 or uint8, got torch.int64"):
        sensor.see(torch.zeros((2, 3), dtype=torch.int64), 0)
    with pytest.raises(TypeError, match="array or a tensor, got list"):
        sensor.see([[0.0]], 0)
    sensor.see(torch.zeros(2, 3), 5)
    with pytest.raises(ValueError, match=r"t = 5 us must be after the last picture's time, 5.0 us"):
        sensor.see(torch.zeros(2, 3), 5)
    with pytest.raises(ValueError, match="too far from 0"):
        sensor.see(torch.zeros(2, 3), 2.0**60)
    with pytest.raises(ValueError, match="at least one picture"):
        plain().record([])


def test_the_logarithm_is_right_to_the_last_bits():
    """Read off the cameras themselves: what they take for the log of every intensity."""
    values = np.geomspace(1e-4, 2.0, 32 * 1024).astype(np.float32).reshape(32, 1024)
    sensor = plain(values.shape).sensor()
    sensor.see(torch.from_numpy(values), 0)
    expected = np.log(values.astype(np.float64) + FLOOR)
    assert np.abs(sensor.state()["light"].numpy() - expected).max() < 1e-15


def test_a_film_seen_at_once_is_the_film_seen_piece_by_piece():
    film = moving_texture(20)
    camera, timed_film = Camera.preset("noisy", (24, 32)), timed(film)
    sensor = camera.sensor(3)
    times = [t for t, _ in timed_film]
    first = sensor.see_film(torch.stack(film[:12]), times[:12])
    second = sensor.see_film(torch.stack(film[12:]), times[12:])
    whole = camera.record(timed_film, seed=3)
    assert len(first) > 0
    assert torch.equal(torch.cat([first.t, second.t]), whole.t)
    assert torch.equal(torch.cat([first.x, second.x]), whole.x)
    assert torch.equal(torch.cat([first.p, second.p]), whole.p)
    assert len(camera.sensor(3).see_film(torch.zeros(0, 24, 32), [])) == 0
    with pytest.raises(ValueError, match="2 pictures need as many times, got 1"):
        sensor.see_film(torch.zeros(2, 24, 32), [1e9])
