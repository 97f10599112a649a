"""Colours tell ON from OFF and much from little, in grey and to the colour-blind too."""

import math

import numpy as np
import pytest
import torch

from evsurf.events import Events
from evsurf.view import channel_colours, event_colours
from evsurf.view.colours import NOTHING, OFF, ON, TEXT, Colours, largest_value


def row(*values: float) -> torch.Tensor:
    return torch.tensor([values], dtype=torch.float64)


def luminance(colours: Colours) -> np.ndarray:
    """What is left of colours in grey, from 0 to 1: the relative luminance of sRGB."""
    light = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return light @ (0.2126, 0.7152, 0.0722)


def is_warm(colour: Colours) -> bool:
    return bool(colour[0] > colour[2] + 0.05)


def is_cool(colour: Colours) -> bool:
    return bool(colour[2] > colour[0] + 0.05)


def test_on_is_warm_and_off_is_cool():
    assert is_warm(np.array(ON))
    assert is_cool(np.array(OFF))
    events = Events.from_arrays([0, 2], [1, 0], [5, 6], [1, 0], size=(2, 3))
    image = event_colours(events)
    assert tuple(image[1, 0]) == ON
    assert tuple(image[0, 2]) == OFF


def test_pixels_without_events_are_dark():
    events = Events.from_arrays([0], [1], [5], [1], size=(2, 3))
    image = event_colours(events)
    assert image.shape == (2, 3, 3)
    assert (image == NOTHING).all(-1).sum() == 5
    assert (event_colours(Events.empty((2, 3))) == NOTHING).all()


def test_the_latest_event_of_a_pixel_counts():
    brighter_last = Events.from_arrays([1] * 3, [0] * 3, [5, 6, 7], [1, 0, 1], size=(1, 2))
    darker_last = Events.from_arrays([1] * 3, [0] * 3, [5, 6, 6], [1, 1, 0], size=(1, 2))
    assert tuple(event_colours(brighter_last)[0, 1]) == ON
    assert tuple(event_colours(darker_last)[0, 1]) == OFF


def test_events_on_the_border_are_in_the_corners():
    events = Events.from_arrays([0, 6, 0, 6], [0, 0, 4, 4], [1, 2, 3, 4], [1, 0, 0, 1], size=(5, 7))
    image = event_colours(events)
    assert tuple(image[0, 0]) == tuple(image[4, 6]) == ON
    assert tuple(image[0, 6]) == tuple(image[4, 0]) == OFF
    assert (image == NOTHING).all(-1).sum() == 31


def test_zero_is_dark_positive_warm_and_negative_cool():
    image = channel_colours(row(0.0, -0.0, 0.4, -0.4, 1.0, -1.0))[0]
    assert tuple(image[0]) == tuple(image[1]) == NOTHING
    assert is_warm(image[2])
    assert is_cool(image[3])
    assert is_warm(image[4])
    assert is_cool(image[5])


def test_colours_of_events_are_on_the_scale_of_channels():
    image = channel_colours(row(2 / 3, -2 / 3), largest=1.0)[0]
    assert np.allclose(image, [ON, OFF])


def test_both_signs_share_one_scale():
    image = channel_colours(row(2.0, -1.0, 1.0))[0]
    alone = channel_colours(row(1.0, -0.5, 0.5), largest=1.0)[0]
    assert np.array_equal(image, alone)
    assert not np.array_equal(image[1], channel_colours(row(-1.0))[0, 0])


@pytest.mark.parametrize("factor", [1e-300, 1e-30, 3.0, 1e30, 1e300])
def test_only_ratios_matter(factor):
    channel = row(-2.0, -0.5, 0.0, 1.0, 1.9)
    assert np.allclose(channel_colours(channel * factor), channel_colours(channel), atol=1e-9)


def test_the_largest_value_can_be_given():
    channel = row(-3.0, 1.0, 2.0)
    assert np.array_equal(channel_colours(channel, 3.0), channel_colours(channel))
    assert not np.allclose(channel_colours(channel, 30.0), channel_colours(channel))
    beyond = channel_colours(channel, 1.0)[0]
    assert np.array_equal(beyond[2], beyond[1])
    assert (channel_colours(channel, 0.0) == NOTHING).all()


def test_the_thousandth_part_farthest_out_does_not_dim_the_rest():
    channel = torch.ones(50, 100)
    channel[3, 4] = 1e6
    assert largest_value(channel) == 1.0
    image = channel_colours(channel)
    assert np.array_equal(image[0, 0], image[3, 4])


def test_pixels_at_zero_do_not_change_the_scale():
    """Otherwise a few active pixels among many at rest would count as outliers."""
    channel = torch.zeros(200, 200)
    channel[7, :2] = torch.tensor([2.0, 4.0])
    assert largest_value(channel) == 4.0


def test_nothing_has_no_largest_value():
    assert largest_value(torch.zeros(3, 4)) == 0.0
    assert largest_value(torch.zeros(0)) == 0.0
    assert (channel_colours(torch.zeros(3, 4)) == NOTHING).all()


def test_a_constant_channel_has_one_strong_colour():
    image = channel_colours(torch.full((3, 4), -0.2))
    assert (image == image[0, 0]).all()
    assert is_cool(image[0, 0])
    assert np.array_equal(image[0, 0], channel_colours(row(-1.0))[0, 0])


@pytest.mark.parametrize("sign", [1, -1])
def test_more_is_lighter_in_grey(sign):
    grey = luminance(channel_colours(sign * torch.linspace(0, 1, 301)[None], 1.0)[0])
    assert (np.diff(grey) > 0).all()
    assert grey[-1] > 0.5
    # Steps of a tenth can be told apart where there is least light, too.
    assert (np.diff(grey[::30]) > 0.003).all()


def test_warm_is_lighter_than_cool_in_grey():
    values = torch.linspace(0.02, 1, 50)[None]
    warm, cool = (luminance(channel_colours(sign * values, 1.0)) for sign in (1, -1))
    assert (warm > cool).all()
    assert luminance(np.array(ON)) > 2 * luminance(np.array(OFF))


# Of each kind of colour-blindness, what is seen of red, green and blue (Machado and others, 2009).
BLINDNESS = {
    "red": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "green": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "blue": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


@pytest.mark.parametrize("seen", BLINDNESS.values(), ids=BLINDNESS.keys())
def test_the_colour_blind_tell_on_from_off_and_from_nothing(seen):
    on, off, nothing = (np.array(seen) @ colour for colour in (ON, OFF, NOTHING))
    for one, other in ((on, off), (on, nothing), (off, nothing)):
        assert np.linalg.norm(one - other) > 0.4


def test_letters_stand_out_from_the_background():
    """The contrast that the Web Content Accessibility Guidelines ask of small letters is 7."""
    assert (luminance(np.array(TEXT)) + 0.05) / (luminance(np.array(NOTHING)) + 0.05) > 7


def test_colours_are_numbers_from_zero_to_one():
    image = channel_colours(torch.randn(30, 40))
    assert image.shape == (30, 40, 3)
    assert image.dtype == np.float64
    assert 0 <= image.min() <= image.max() <= 1


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
def test_any_floats_have_colours(dtype, device):
    channel = row(-1.0, -0.5, 0.0, 0.25)
    image = channel_colours(channel.to(device, dtype).requires_grad_())
    assert np.allclose(image, channel_colours(channel), atol=1e-2)


def test_strided_channels_have_the_same_colours():
    channel = torch.randn(12, 10)
    assert np.array_equal(
        channel_colours(channel[::2, ::3]), channel_colours(channel[::2, ::3] + 0)
    )


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_without_a_colour_is_named_with_its_place(value):
    channel = torch.zeros(3, 4)
    channel[2, 1] = value
    with pytest.raises(ValueError, match=rf"channel\[2, 1\] = {value} has no colour.*finite"):
        channel_colours(channel)


@pytest.mark.parametrize("largest", [-1.0, math.nan, math.inf])
def test_a_largest_value_that_is_none_is_refused(largest):
    with pytest.raises(ValueError, match=f"largest = {largest} must be finite and not negative"):
        channel_colours(torch.ones(2, 2), largest)


@pytest.mark.parametrize("shape", [(4,), (1, 2, 3)])
def test_what_is_no_single_channel_is_refused(shape, own_errors):
    with pytest.raises(ValueError, match=r"channel must be \[height, width\], not \["):
        channel_colours(torch.zeros(shape))
