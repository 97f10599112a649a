"""The simulated camera sees moving shapes as a real one would."""

import numpy as np
import pytest
import torch

from evsurf.data.shapes import Shape, moving_shapes
from evsurf.events import Events

SIZE = (60, 80)


def watched(**options) -> Events:
    return moving_shapes(SIZE, **({"duration": 60_000} | options))


def heights(events: Events) -> tuple[torch.Tensor, torch.Tensor]:
    """Of each pixel's brightness, counted in events, the least and the most above its start."""
    pixels = events.size[0] * events.size[1]
    now, least, most = (torch.zeros(pixels, dtype=torch.int64) for _ in range(3))
    place = events.y.long() * events.size[1] + events.x
    for pixel, brighter in zip(place.tolist(), events.p.tolist(), strict=True):
        now[pixel] += 1 if brighter else -1
        least[pixel], most[pixel] = min(least[pixel], now[pixel]), max(most[pixel], now[pixel])
    return least, most


def event_numbers(events: Events) -> np.ndarray:
    place = events.y.long() * events.size[1] + events.x
    return torch.bincount(place, minlength=SIZE[0] * SIZE[1]).view(SIZE).numpy()


def test_events_are_valid_and_within_the_duration():
    events = watched(duration=20_000)
    Events(events.x, events.y, events.t, events.p, events.size)
    assert events.size == SIZE
    assert len(events) > 500
    # An edge has to move half a pixel first, and the fastest needs a millisecond or two for it.
    assert 0 < int(events.t[0]) < 5_000
    assert 19_000 <= int(events.t[-1]) < 20_000


def test_the_seed_alone_chooses_the_stream():
    assert watched(seed=3) == watched(seed=3)
    assert watched(seed=3) != watched(seed=4)
    torch.manual_seed(5)
    np.random.seed(5)  # noqa: NPY002
    assert watched() == watched(seed=0)


def test_a_shorter_stream_is_the_beginning_of_a_longer_one():
    """Up to the last look, at whose times numbers of another length are rounded otherwise."""
    short, long = watched(duration=20_000), watched(duration=40_000)
    assert short.between(0, 19_000) == long.between(0, 19_000)


def test_times_lie_between_the_looks_of_the_camera():
    """A camera's clock ticks in microseconds, not once for every image of the simulation."""
    t = watched().t
    assert len(t.unique()) > len(t) / 2
    assert (t % 500).unique().numel() > 490


def test_more_shapes_and_lower_thresholds_give_more_events():
    assert len(watched(shapes=0)) == 0
    assert 0 < len(watched(shapes=1)) < len(watched(shapes=5))
    coarse, fine = (len(watched(threshold=level)) for level in (0.4, 0.1))
    assert fine > 3 * coarse


def test_events_count_how_far_the_brightness_has_changed():
    """One bright shape: from the background to it, by 1, are four levels and a half.

    Each pixel has a level of its own, so a few see five; those at its rim see less of the shape.
    """
    least, most = heights(watched(shapes=1, duration=150_000, threshold=1 / 4.5))
    span = most - least
    assert int(span.max()) == 5
    assert (span == 4).sum() > 10 * (span == 5).sum()
    assert (span == 4).sum() > 0.6 * (span > 2).sum()


def test_a_pixel_that_has_seen_a_shape_pass_ends_where_it_began():
    """The one shape is bright, so where it was at the start, the end is darker."""
    events = watched(shapes=1, duration=1_200_000, seed=1)
    assert int(events.t[-1]) < 1_000_000, "the shape has not left the sensor"
    net = np.zeros(SIZE, dtype=int)
    np.add.at(net, (events.y.numpy(), events.x.numpy()), np.where(events.p.numpy(), 1, -1))
    passed = event_numbers(events) > 6
    assert passed.sum() > 100
    assert net.max() == 0
    assert (net[passed] == 0).mean() > 0.5


def test_what_has_stopped_changing_sends_nothing():
    """Sums of levels, once taken in floats, made such a pixel pass one of them at no time."""
    events = watched(threshold=0.02, seed=1)
    assert len(events) > 10_000
    assert 0 < int(events.t[0]) <= int(events.t[-1]) < 60_000


def test_bright_and_dark_shapes_show_both_polarities():
    on = watched(shapes=5).p.float().mean()
    assert 0.3 < on < 0.7


def disc(centre: tuple[float, float], speed: float = 0.0) -> Shape:
    """A dark disc of radius 3 that moves to the right, in pixels a second."""
    return Shape(
        lambda down, across: np.hypot(down, across) - 3,
        reach=3.0,
        start=centre,
        velocity=(0.0, speed),
        turning=0.0,
        contrast=-0.5,
    )


def test_a_shape_changes_the_image_where_it_is_and_nowhere_else():
    image = np.zeros((30, 40))
    disc((10.0, 20.0), speed=100.0).add_to(image, 0.1)
    rows, columns = np.indices(image.shape)
    distance = np.hypot(rows - 10, columns - 30)
    assert (image[distance <= 2] == -0.5).all()
    assert (image[distance >= 4] == 0).all()
    on_the_border = image[10, 33]
    assert on_the_border == -0.25


@pytest.mark.parametrize("centre", [(-20.0, 5.0), (5.0, -20.0), (50.0, 5.0), (5.0, 50.0)])
def test_a_shape_beyond_the_border_is_not_seen(centre):
    image = np.zeros((8, 9))
    disc(centre).add_to(image, 0.0)
    assert not image.any()


def test_a_shape_half_over_the_border_is_cut():
    whole, part = np.zeros((20, 20)), np.zeros((8, 9))
    disc((10.0, 8.0)).add_to(whole, 0.0)
    disc((0.0, 8.0)).add_to(part, 0.0)
    assert part.any()
    assert np.array_equal(part, whole[10:18, :9])


@pytest.mark.parametrize("size", [(1, 1), (1, 7), (2, 3)])
def test_the_smallest_sensors_are_watched(size):
    events = moving_shapes(size, duration=30_000, threshold=0.05)
    Events(events.x, events.y, events.t, events.p, events.size)
    assert events.size == size


def test_a_single_microsecond_is_watched():
    assert len(moving_shapes(SIZE, duration=1)) == 0


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"size": (0, 5)}, ValueError, r"size = \(0, 5\) .*from 1 to 32767"),
        ({"size": (-1, 5)}, ValueError, r"size = \(-1, 5\) .*from 1 to 32767"),
        ({"size": (3.0, 5)}, TypeError, "size must be an int .* got 3.0"),
        ({"size": 5}, TypeError, r"size must be \(height, width\) in pixels, got 5"),
        ({"duration": 0}, ValueError, "duration = 0 must be at least 1"),
        ({"duration": 1e6}, TypeError, "duration must be an int .* got 1000000.0"),
        ({"shapes": -1}, ValueError, "shapes = -1 must be at least 0"),
        ({"shapes": 2.0}, TypeError, "shapes must be an int .* got 2.0"),
        ({"threshold": 0.0}, ValueError, r"threshold = 0\.0 must be from 0\.01 to 1"),
        ({"threshold": 1.5}, ValueError, r"threshold = 1\.5 must be from 0\.01 to 1"),
        ({"threshold": float("nan")}, ValueError, "threshold = nan must be from"),
        ({"seed": -1}, ValueError, "seed = -1 must be at least 0"),
        ({"seed": 1.5}, TypeError, "seed must be an int .* got 1.5"),
    ],
)
def test_wrong_arguments_are_named(options, error, message, own_errors):
    with pytest.raises(error, match=message):
        moving_shapes(**({"size": SIZE} | options))
