import math

import pytest
import torch

from evsurf.surfaces.attention import ChannelAttention
from tests.tolerances import assert_near


def test_channels_are_weighed_by_hand():
    attention = ChannelAttention(2).double()
    with torch.no_grad():
        attention.squeeze.weight.copy_(torch.tensor([[1.0, -2.0], [3.0, 0.5]]))
        attention.excite.weight.copy_(torch.tensor([[0.5, -1.0], [2.0, 1.0]]))
    image = torch.tensor([[[[2.0, 0.0], [0.0, 2.0]], [[4.0, 0.0], [0.0, 0.0]]]]).double()
    # Means 1 and 1, of which W1 makes -1 and 3.5, and the first is cut to 0.
    weights = [1 / (1 + math.exp(3.5)), 1 / (1 + math.exp(-3.5))]
    expected = image * torch.tensor(weights, dtype=torch.float64)[:, None, None]
    assert_near(attention(image), expected)


def test_samples_are_weighed_one_by_one():
    attention = ChannelAttention(3).double()
    images = torch.randn(4, 3, 5, 2, dtype=torch.float64)
    apart = torch.cat([attention(image[None]) for image in images])
    assert_near(attention(images), apart)


def test_places_without_events_count_in_the_means():
    attention = ChannelAttention(2).double()
    image = torch.ones(1, 2, 2, 2, dtype=torch.float64)
    framed = torch.nn.functional.pad(image, (0, 2))
    assert_near(attention(framed)[..., :2], image * (attention(image * 0.5) / 0.5)[..., :1, :1])


@pytest.mark.parametrize(
    ("channels", "reduction", "count"), [(3, 1, 18), (32, 1, 2048), (32, 4, 512), (2, 2, 4)]
)
def test_two_maps_without_bias(channels, reduction, count):
    attention = ChannelAttention(channels, reduction=reduction)
    assert count == 2 * channels * channels // reduction
    assert sum(p.numel() for p in attention.parameters()) == count
    assert attention(torch.randn(2, channels, 3, 4)).shape == (2, channels, 3, 4)


def test_gradients_pass_gradcheck():
    attention = ChannelAttention(3).double()
    image = torch.randn(2, 3, 2, 2, dtype=torch.float64, requires_grad=True)
    # The parameters are changed in place.
    inputs = (image, *attention.parameters())
    assert torch.autograd.gradcheck(lambda image, *_: attention(image), inputs)


def test_empty_images_stay_zero_and_empty_batches_empty():
    attention = ChannelAttention(3)
    assert not attention(torch.zeros(2, 3, 4, 5)).any()
    nothing = attention(torch.zeros(0, 3, 4, 5))
    assert nothing.shape == (0, 3, 4, 5)
    nothing.sum().backward()
    for parameter in attention.parameters():
        assert parameter.grad is not None
        assert not parameter.grad.any()


@pytest.mark.parametrize("reduction", [0, -1, 4])
def test_a_reduction_must_leave_a_channel(reduction):
    with pytest.raises(ValueError, match=f"from 1 to the number of channels, 3, not {reduction}"):
        ChannelAttention(3, reduction=reduction)
