"""One look at a picture of a surface tells what the events were and what became of them."""

import io
import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from matplotlib.figure import Figure

from evsurf.data.shapes import moving_shapes
from evsurf.events import EventBatch, Events
from evsurf.surfaces import MatrixLSTM, Surface
from evsurf.surfaces.surface import as_batch
from evsurf.view import channel_colours, event_colours, surface_picture
from evsurf.view.colours import NOTHING, Colours
from evsurf.view.picture import event_counts
from tests.view.letters import title_boxes

SIZE = (6, 8)
# Three ON and then five OFF events, each at a pixel of its own.
X, Y = [1, 2, 3, 1, 2, 3, 4, 5], [1, 1, 1, 4, 4, 4, 4, 4]
EVENTS = Events.from_arrays(X, Y, range(0, 80_000, 10_000), [1] * 3 + [0] * 5, SIZE)


class Made(Surface):
    """Every channel is a number for each pixel with ON events and one for those with OFF ones."""

    def __init__(self, *channels: tuple[float, float], rest: float = 0.0, stride: int = 1):
        super().__init__()
        self.channels, self.rest, self.stride = channels, rest, stride
        self.out_channels = len(channels)

    def forward(self, batch):
        batch = as_batch(batch)
        image = torch.full((len(batch), self.out_channels, *batch.size), self.rest)
        image = image.to(batch.device)
        for i, events in enumerate(batch):
            for c, (lighter, darker) in enumerate(self.channels):
                values = torch.where(events.p, lighter, darker).to(image)
                image[i, c, events.y.long(), events.x.long()] = values
        return image[..., :: self.stride, :: self.stride]


class Shades(Surface):
    """Channel c has as many shades as its entry says, in turn over the columns."""

    def __init__(self, *shades: int):
        super().__init__()
        self.shades, self.out_channels = shades, len(shades)

    def forward(self, batch):
        batch = as_batch(batch)
        columns = torch.arange(batch.size[1])
        image = torch.stack([1.0 + columns % shades for shades in self.shades])
        return image[None, :, None].expand(len(batch), -1, *batch.size).contiguous()


def titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


def images(figure: Figure) -> list[Colours]:
    return [np.asarray(axes.get_images()[0].get_array()) for axes in figure.axes]


def image_of(figure: Figure, title: str) -> Colours:
    return images(figure)[titles(figure).index(title)]


def is_warm(colour: Colours) -> bool:
    return bool(colour[0] > colour[2])


def test_a_picture_names_what_it_shows():
    figure = surface_picture(MatrixLSTM(3), EVENTS)
    assert titles(figure)[0] == "8 events, 70 ms"
    assert titles(figure)[1].startswith("learned surface, channel ")
    assert titles(figure)[2:6] == ["event count", "channel 1", "channel 2", "channel 3"]
    assert titles(figure)[6:] == ["after 18 ms", "after 35 ms", "after 52 ms", "after 70 ms"]


def test_the_events_and_their_counts_are_as_they_were():
    figure = surface_picture(MatrixLSTM(2), EVENTS)
    assert np.array_equal(images(figure)[0], event_colours(EVENTS))
    assert np.array_equal(image_of(figure, "event count"), channel_colours(event_counts(EVENTS)))


def test_events_are_counted_at_their_pixels():
    events = Events.from_arrays([0, 2, 2, 0], [1, 0, 0, 1], [1, 2, 3, 4], [1, 0, 1, 1], (2, 3))
    assert event_counts(events).tolist() == [[0, 0, 2], [2, 0, 0]]
    assert event_counts(Events.empty((2, 3))).tolist() == [[0, 0, 0]] * 2


@pytest.mark.parametrize(
    ("channels", "shown"), [(1, [1]), (2, [1, 2]), (3, [1, 2, 3]), (4, 3), (16, 3)]
)
def test_at_most_three_channels_are_shown_in_their_order(channels, shown):
    figure = surface_picture(MatrixLSTM(channels), EVENTS)
    numbers = [int(title.removeprefix("channel ")) for title in titles(figure)[3:-4]]
    assert numbers == sorted(set(numbers))
    if isinstance(shown, list):
        assert numbers == shown
    else:
        assert len(numbers) == shown
        assert numbers[-1] <= channels


def test_the_channels_with_most_shades_are_shown_and_the_first_of_them_largest():
    figure = surface_picture(Shades(1, 4, 2, 5, 3), EVENTS)
    assert titles(figure)[1] == "learned surface, channel 4"
    assert titles(figure)[3:-4] == ["channel 2", "channel 4", "channel 5"]


def test_shades_of_pixels_without_events_do_not_count():
    """A bright frame that no event touched would otherwise look lively."""

    class Framed(Shades):
        def forward(self, batch):
            image = super().forward(batch)
            image[:, 0, 0] = torch.arange(8.0)
            return image

    figure = surface_picture(Framed(1, 2), EVENTS)
    assert titles(figure)[1] == "learned surface, channel 2"


def test_channels_are_shown_as_they_are():
    surface = Made((0.5, -1.0), (1.0, 0.25))
    figure = surface_picture(surface, EVENTS)
    for c in (0, 1):
        expected = channel_colours(surface(EVENTS)[0, c])
        assert np.array_equal(image_of(figure, f"channel {c + 1}"), expected)


@pytest.mark.parametrize("channel", [(1.0, -1.0), (-1.0, 1.0), (0.2, -1.0), (-1.0, 0.2)])
def test_on_is_warm_and_off_cool_whatever_sign_was_learned(channel, device):
    figure = surface_picture(Made(channel), EVENTS.to(device))
    image = image_of(figure, "channel 1")
    assert is_warm(image[1, 1])
    assert not is_warm(image[4, 1])


@pytest.mark.parametrize("channel", [(-1.0, -0.8), (0.8, 0.4), (-0.3, -0.1)])
def test_of_one_sided_channels_on_is_the_lighter(channel):
    """Though there are more OFF events, whose sum is larger."""
    image = image_of(surface_picture(Made(channel), EVENTS), "channel 1")
    assert is_warm(image[4, 1])
    assert image[1, 1].sum() > image[4, 1].sum()


@pytest.mark.parametrize("polarity", [True, False])
def test_with_one_polarity_alone_on_is_warm_and_off_cool(polarity):
    events = EVENTS[EVENTS.p == polarity]
    for value in (0.7, -0.7):
        figure = surface_picture(Made((value, value)), events)
        colour = image_of(figure, "channel 1")[int(events.y[0]), int(events.x[0])]
        assert is_warm(colour) == polarity


def test_a_pixel_with_both_polarities_decides_about_no_sign():
    """Such a one would otherwise win by its value; a pixel with one polarity is the judge."""
    x, p = [0, 0, 3], [1, 0, 1]
    events = Events.from_arrays(x, [0] * 3, [0, 10_000, 40_000], p, (1, 4))
    image = image_of(surface_picture(Made((-0.5, 5.0)), events), "channel 1")
    assert is_warm(image[0, 3])


def test_the_growing_surface_ends_as_the_whole_one():
    figure = surface_picture(Made((1.0, -0.5)), EVENTS)
    assert np.array_equal(images(figure)[-1], images(figure)[1])


def test_the_growing_surface_shows_the_liveliest_channel_of_each_quarter():
    surface = MatrixLSTM(3, time="log_delay").requires_grad_(False)
    figure = surface_picture(surface, EVENTS)
    best = int(titles(figure)[1].removeprefix("learned surface, channel ")) - 1
    whole = channel_colours(surface(EVENTS)[0, best])
    sign = 1 if np.array_equal(whole, images(figure)[1]) else -1
    largest = float(surface(EVENTS)[0, best].abs().max())
    for seen, last in zip(images(figure)[-4:], (17_500, 35_000, 52_500, 70_000), strict=True):
        part = surface(EVENTS.between(0, last + 1))[0, best]
        assert np.allclose(seen, channel_colours(sign * part, largest), atol=1e-6)


def test_every_moment_has_at_least_the_events_of_the_one_before():
    figure = surface_picture(Made((1.0, -1.0)), EVENTS)
    active = [int((image != NOTHING).any(-1).sum()) for image in images(figure)[-4:]]
    assert active == [2, 4, 6, 8]


def test_times_far_from_zero_give_the_same_picture():
    surface = MatrixLSTM(2, time="log_delay")
    late = Events(EVENTS.x, EVENTS.y, EVENTS.t + 2**62 - 70_000, EVENTS.p, SIZE)
    one, other = surface_picture(surface, EVENTS), surface_picture(surface, late)
    assert titles(one) == titles(other)
    for image, other_image in zip(images(one), images(other), strict=True):
        assert np.array_equal(image, other_image)


def test_short_recordings_are_timed_in_microseconds():
    events = Events.from_arrays([1, 2], [1, 1], [5, 1_239], [1, 0], SIZE)
    figure = surface_picture(Made((1.0, -1.0)), events)
    assert titles(figure)[0] == "2 events, 1,234 us"
    assert titles(figure)[-4:] == [f"after {t} us" for t in ("308", "617", "925", "1,234")]


@pytest.mark.parametrize(("duration", "unit"), [(20_000, "ms"), (20_000_000, "s")])
def test_longer_recordings_are_timed_in_larger_units(duration, unit):
    events = Events.from_arrays([1, 2], [1, 1], [0, duration], [1, 0], SIZE)
    figure = surface_picture(Made((1.0, -1.0)), events)
    assert titles(figure)[0] == f"2 events, 20 {unit}"
    assert titles(figure)[-4:] == [f"after {t} {unit}" for t in (5, 10, 15, 20)]


def test_one_event_is_one_pixel():
    events = Events.from_arrays([7], [5], [123], [1], SIZE)
    figure = surface_picture(MatrixLSTM(2), events)
    assert titles(figure)[0] == "1 event, 0 us"
    for image in images(figure):
        elsewhere = (image == NOTHING).all(-1)
        elsewhere[5, 7] = True
        assert elsewhere.all()
    assert is_warm(images(figure)[0][5, 7])
    assert is_warm(images(figure)[1][5, 7])


def test_no_events_are_dark():
    figure = surface_picture(MatrixLSTM(4), Events.empty(SIZE))
    assert titles(figure)[0] == "0 events, 0 us"
    assert len(figure.axes) == 10
    assert all((image == NOTHING).all() for image in images(figure))


def test_events_on_the_border_are_on_the_border_of_every_panel():
    x, y = [0, 7, 0, 7], [0, 0, 5, 5]
    events = Events.from_arrays(x, y, [0, 10_000, 20_000, 30_000], [1, 0, 0, 1], SIZE)
    for image in images(surface_picture(Made((1.0, -0.5)), events))[:4]:
        active = (image != NOTHING).any(-1)
        assert active.sum() == 4
        assert active[[0, 0, -1, -1], [0, -1, 0, -1]].all()


@pytest.mark.parametrize("rest", [0.0, 0.7, -0.7])
def test_a_surface_that_is_the_same_everywhere_has_one_colour(rest):
    figure = surface_picture(Made((rest, rest), rest=rest), EVENTS)
    image = image_of(figure, "channel 1")
    assert (image == image[0, 0]).all()
    assert (image == NOTHING).all() == (rest == 0)


@pytest.mark.parametrize(
    "options",
    [
        {"kernel_size": 2, "stride": 2, "padding": "valid"},
        {"kernel_size": 3, "stride": 4, "padding": "valid"},
        {"kernel_size": 6, "stride": 1, "padding": "valid"},
        {"kernel_size": 2, "padding": (3, 3, 3, 3)},
    ],
)
def test_a_surface_may_have_fewer_or_more_cells_than_pixels(options):
    surface = MatrixLSTM(3, **options)
    figure = surface_picture(surface, EVENTS)
    rows, columns = surface(EVENTS).shape[2:]
    assert images(figure)[0].shape == (*SIZE, 3)
    assert images(figure)[1].shape == images(figure)[-1].shape == (rows, columns, 3)


@pytest.mark.parametrize("channel", [(1.0, -1.0), (-1.0, 1.0)])
def test_on_is_warm_on_a_surface_of_fewer_cells_too(channel):
    events = Events.from_arrays([2, 2, 4], [0, 4, 4], [0, 30_000, 60_000], [1, 0, 0], SIZE)
    image = image_of(surface_picture(Made(channel, stride=2), events), "channel 1")
    assert image.shape == (3, 4, 3)
    assert is_warm(image[0, 1])
    assert not is_warm(image[2, 1])
    assert not is_warm(image[2, 2])


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_surface_without_a_colour_is_refused_with_the_place(value):
    surface = Made((1.0, 1.0), (1.0, value))
    with pytest.raises(
        ValueError, match=f"surface gives {value} at channel 1, row 4, column 1, .*weights"
    ):
        surface_picture(surface, EVENTS)


@pytest.mark.parametrize(
    ("events", "kind"), [([EVENTS], "list"), (EventBatch.pack([EVENTS]), "EventBatch")]
)
def test_anything_but_one_recording_is_refused(events, kind, own_errors):
    with pytest.raises(TypeError, match=f"events must be Events, one recording, not {kind}"):
        surface_picture(Made((1.0, -1.0)), events)


def test_two_pictures_of_the_same_are_the_same_to_the_last_byte():
    surface, files = MatrixLSTM(3, time="log_delay"), []
    for seed in (1, 2):
        torch.manual_seed(seed)
        file = io.BytesIO()
        surface_picture(surface, EVENTS).savefig(file, dpi=40)
        files.append(file.getvalue())
    assert files[0] == files[1]


def test_the_surface_is_left_as_it_was():
    surface = MatrixLSTM(2)
    before = {name: value.clone() for name, value in surface.state_dict().items()}
    surface_picture(surface, EVENTS)
    assert surface.training
    for name, parameter in surface.named_parameters():
        assert parameter.requires_grad
        assert parameter.grad is None
        assert torch.equal(parameter, before[name])


def test_no_title_runs_into_the_next():
    """Not even of recordings whose numbers are long: just under 20 ms, just under 20 s, hours."""
    events = moving_shapes((180, 240), duration=20_000)
    t = (events.t - events.t[0]).double() / events.duration
    for duration in (19_999, 19_999_999, 10**11):
        times = (t * duration).long()
        recording = Events(events.x, events.y, times, events.p, events.size)
        figure = surface_picture(Shades(*[2] * 16), recording)
        for this, following in pairwise(title_boxes(figure)):
            assert this.x1 + 10 < following.x0 or this.y0 > following.y1
            assert this.x1 < figure.bbox.width
