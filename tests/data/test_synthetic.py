"""Made-up streams have the statistics that they promise."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.synthetic import PRESETS, Preset, camera_like, density_controlled
from evsurf.events import EventBatch, Events

# As "ncars", in a few milliseconds.
SMALL = Preset((20, 30), 10_000, (200, 800), 0.25)


def counts(events: Events) -> torch.Tensor:
    """How many events each pixel has."""
    height, width = events.size
    pixel = events.y.long() * width + events.x
    return torch.bincount(pixel, minlength=height * width).view(height, width)


def is_valid(batch: EventBatch) -> bool:
    """Made again from its parts, which reads and checks every value."""
    for events in batch:
        Events(events.x, events.y, events.t, events.p, events.size)
    again = EventBatch(batch.x, batch.y, batch.t, batch.p, batch.offsets, batch.size)
    return again == batch


def one(density: float, size: tuple[int, int], each: int = 1, seed: int = 0) -> Events:
    batch = density_controlled(size, density=density, events_per_pixel=each, samples=1, seed=seed)
    return batch[0]


@pytest.mark.parametrize("name", PRESETS)
def test_presets_give_what_they_say(name):
    preset = PRESETS[name]
    batch = camera_like(name, samples=1)
    assert is_valid(batch)
    assert batch.size == preset.size
    fewest, most = preset.events
    assert fewest <= batch.num_events <= most
    assert 0 <= int(batch.t.min()) <= int(batch.t.max()) < preset.duration
    assert (counts(batch[0]) > 0).float().mean() <= preset.active


def test_the_sensors_are_those_of_the_data_sets():
    assert PRESETS["ncars"].size == PRESETS["ncars-heavy"].size == (100, 120)
    assert PRESETS["mvsec-20k"].size == PRESETS["mvsec-100k"].size == (260, 346)
    assert PRESETS["megapixel"].size == (720, 1280)


def test_a_preset_of_one_number_gives_every_sample_that_many_events():
    assert camera_like("mvsec-20k", samples=3).lengths.tolist() == [20_000] * 3


def test_the_mean_number_of_events_is_37_percent_of_the_way():
    lengths = camera_like(SMALL, samples=400).lengths
    fewest, most = SMALL.events
    assert fewest <= int(lengths.min()) < fewest + 60
    assert most - 120 < int(lengths.max()) <= most
    way = (lengths.double().mean() - fewest) / (most - fewest)
    # Five standard errors: one sample's share has a sigma of 0.23.
    assert abs(way - 0.37) < 0.06
    assert lengths.median() < lengths.double().mean()


def test_the_share_of_active_pixels_is_never_more_than_asked_for():
    for events in camera_like(replace(SMALL, active=0.1), samples=20):
        assert int((counts(events) > 0).sum()) == 60


def test_few_events_leave_some_for_second_ones_at_their_pixels():
    """Of ten events at most seven are a pixel's first, whatever the share of pixels."""
    sparse = Preset((100, 100), 10_000, (100, 100), 1.0)
    for events in camera_like(sparse, samples=5):
        assert int((counts(events) > 0).sum()) == 70


def test_the_most_active_pixels_of_a_heavy_tail_have_more():
    def busiest(tail: float) -> float:
        batch = camera_like(replace(SMALL, tail=tail), samples=20)
        return float(np.mean([counts(events).max() for events in batch]))

    even, usual, heavy = busiest(0.0), busiest(1.0), busiest(2.0)
    assert usual > 1.3 * even
    assert heavy > 1.5 * usual


def test_active_pixels_lie_along_contours():
    """An active pixel has more active neighbours than one that was drawn blindly."""
    active = (counts(camera_like("ncars", samples=1)[0]) > 0).float()
    beside = active[:, 1:][active[:, :-1] > 0].mean()
    assert active.mean() < 0.3
    assert beside > 0.6


def test_neighbours_mostly_agree_on_the_polarity():
    events = camera_like("mvsec-100k", samples=1)[0]
    way = torch.zeros(events.size)
    place = (events.y.long(), events.x.long())
    way.index_put_(place, events.p.float() * 2 - 1, accumulate=True)
    left, right = way[:, :-1].sign(), way[:, 1:].sign()
    both = (left != 0) & (right != 0)
    assert (left == right)[both].float().mean() > 0.6
    assert 0.2 < events.p.float().mean() < 0.8


def test_an_edge_sweeps_the_sensor_once():
    """A pixel's events are nearer to one another in time than those of two pixels."""
    events = camera_like("mvsec-100k", samples=1)[0]
    pixel = events.y.long() * events.size[1] + events.x
    t = events.t[torch.argsort(pixel, stable=True)].double()
    same = torch.diff(pixel.sort().values) == 0
    gaps = torch.diff(t)[same]
    assert gaps.median() < 0.5 * torch.diff(events.t[torch.randperm(len(t))]).abs().median()


def test_the_seed_alone_chooses_the_stream():
    assert camera_like(SMALL, samples=3, seed=4) == camera_like(SMALL, samples=3, seed=4)
    assert camera_like(SMALL, samples=3, seed=4) != camera_like(SMALL, samples=3, seed=5)
    assert one(0.5, (6, 6), seed=4) == one(0.5, (6, 6), seed=4)
    assert one(0.5, (6, 6), seed=4) != one(0.5, (6, 6), seed=5)


def test_no_random_state_is_read_or_changed():
    def drawn_with(state: int, *, streams: bool):
        torch.manual_seed(state)
        np.random.seed(state)  # noqa: NPY002
        made = (camera_like(SMALL, samples=1), one(0.5, (6, 6))) if streams else None
        return made, torch.rand(()).item(), np.random.random()  # noqa: NPY002

    made, *after = drawn_with(5, streams=True)
    assert after == list(drawn_with(5, streams=False)[1:])
    assert made == drawn_with(6, streams=True)[0]


def test_a_small_batch_is_the_beginning_of_a_larger_one():
    def controlled(samples: int) -> EventBatch:
        return density_controlled((6, 7), density=0.3, events_per_pixel=2, samples=samples, seed=7)

    assert camera_like(SMALL, samples=2, seed=7) == camera_like(SMALL, samples=5, seed=7)[:2]
    assert controlled(2) == controlled(5)[:2]


def test_samples_differ_from_one_another():
    first, second = camera_like(SMALL, samples=2)
    assert first != second
    first, second = density_controlled((6, 7), density=0.5, events_per_pixel=2, samples=2)
    assert not torch.equal(counts(first), counts(second))


def test_no_samples_are_an_empty_batch():
    batch = camera_like("ncars", samples=0)
    assert (len(batch), batch.num_events, batch.size) == (0, 0, (100, 120))
    batch = density_controlled((3, 4), density=0.5, events_per_pixel=2, samples=0)
    assert (len(batch), batch.num_events, batch.size) == (0, 0, (3, 4))


@pytest.mark.parametrize("size", [(1, 1), (1, 9), (9, 1), (2, 2)])
def test_the_smallest_sensors_have_streams(size):
    batch = camera_like(Preset(size, 1, (1, 10), 0.05), samples=10)
    assert is_valid(batch)
    assert (batch.lengths >= 1).all()
    assert not batch.t.any()


@pytest.mark.parametrize("each", [1, 2, 7])
@pytest.mark.parametrize("density", [0.0, 0.1, 0.5, 1.0])
def test_active_pixels_have_the_same_number_of_events_each(density, each):
    batch = density_controlled((10, 13), density=density, events_per_pixel=each, samples=3)
    assert is_valid(batch)
    for events in batch:
        numbers = counts(events)
        active = int(density * 130)
        assert numbers.flatten().sort().values.tolist() == [0] * (130 - active) + [each] * active


def test_density_controlled_events_come_in_random_order_a_microsecond_apart():
    events = one(0.5, (10, 10), each=4)
    assert events.t.tolist() == list(range(200))
    pixel = events.y.long() * 10 + events.x
    assert (torch.diff(pixel) == 0).sum() < 20
    assert (torch.diff(pixel) < 0).sum() > 50
    assert 60 < int(events.p.sum()) < 140


@pytest.mark.parametrize(
    ("density", "pixels", "active"),
    [(0.7, 10, 7), (0.55, 10, 5), (0.99, 10, 9), (0.29, 100, 29), (0.57, 100, 57), (0.09, 10, 0)],
)
def test_a_share_of_the_pixels_is_rounded_down_as_by_hand(density, pixels, active):
    assert len(one(density, (1, pixels))) == active
    assert len(one(density, (pixels, 1))) == active


@given(pixels=st.integers(1, 2000), data=st.data())
def test_a_share_that_is_a_whole_number_of_pixels_is_that_number(pixels, data):
    active = data.draw(st.integers(0, pixels))
    assert len(one(active / pixels, (1, pixels))) == active


@given(hundredths=st.integers(0, 1000), pixels=st.integers(1, 2000))
def test_decimals_are_rounded_down_as_fractions_are(hundredths, pixels):
    exact = math.floor(Fraction(hundredths, 1000) * pixels)
    assert len(one(hundredths / 1000, (pixels, 1))) == exact


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"preset": "n-cars"}, ValueError, "one of ncars, ncars-heavy, .*, not 'n-cars'"),
        ({"preset": 3}, ValueError, "preset must be a Preset or one of ncars, .*, not 3"),
        ({"samples": -1}, ValueError, "samples = -1 must be at least 0"),
        ({"samples": 2.0}, TypeError, "samples must be an int .* got 2.0"),
        ({"seed": -1}, ValueError, "seed = -1 must be at least 0"),
        ({"seed": None}, TypeError, "seed must be an int .* got None"),
    ],
)
def test_wrong_arguments_of_camera_like_are_named(options, error, message, own_errors):
    with pytest.raises(error, match=message):
        camera_like(**({"preset": "ncars", "samples": 1} | options))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"size": (0, 5)}, ValueError, r"size = \(0, 5\) .*from 1 to 32767"),
        ({"size": 5}, TypeError, r"size must be \(height, width\) in pixels, got 5"),
        ({"density": -0.1}, ValueError, r"density = -0.1 must be a share .*from 0 to 1"),
        ({"density": 1.1}, ValueError, r"density = 1.1 must be a share .*from 0 to 1"),
        ({"density": math.nan}, ValueError, "density = nan must be a share"),
        ({"events_per_pixel": 0}, ValueError, "events_per_pixel = 0 must be at least 1"),
        ({"events_per_pixel": 1.5}, TypeError, "events_per_pixel must be an int .* got 1.5"),
        ({"samples": -1}, ValueError, "samples = -1 must be at least 0"),
        ({"seed": -1}, ValueError, "seed = -1 must be at least 0"),
    ],
)
def test_wrong_arguments_of_density_controlled_are_named(options, error, message, own_errors):
    usual = {"size": (3, 4), "density": 0.5, "events_per_pixel": 2, "samples": 1}
    with pytest.raises(error, match=message):
        density_controlled(**(usual | options))


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"size": (0, 5)}, ValueError, r"size = \(0, 5\) .*from 1 to 32767"),
        ({"duration": 0}, ValueError, "duration = 0 must be at least 1"),
        ({"duration": 1.5}, TypeError, "duration must be an int .* got 1.5"),
        ({"events": 500}, TypeError, r"events must be \(fewest, most\) of a sample, got 500"),
        ({"events": (5, 6, 7)}, TypeError, r"events must be \(fewest, most\) .*got \(5, 6, 7\)"),
        ({"events": (0, 5)}, ValueError, r"events\[0\] = 0 must be at least 1"),
        ({"events": (6, 5)}, ValueError, r"events\[1\] = 5 must be at least 6"),
        ({"active": 0.0}, ValueError, "active = 0.0 must be a share of the pixels, above 0"),
        ({"active": 1.5}, ValueError, "active = 1.5 must be a share of the pixels, .*up to 1"),
        ({"active": math.nan}, ValueError, "active = nan must be a share"),
        ({"tail": -1.0}, ValueError, "tail = -1.0 must be a finite number and not negative"),
        ({"tail": math.inf}, ValueError, "tail = inf must be a finite number"),
    ],
)
def test_a_preset_that_no_camera_could_follow_is_refused(options, error, message, own_errors):
    with pytest.raises(error, match=message):
        replace(SMALL, **options)
