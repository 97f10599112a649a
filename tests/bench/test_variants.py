"""All ways to a surface give the same one, whatever the batch, and let gradients through."""

import pytest
import torch
from hypothesis import given

from evsurf.bench.variants import Variant, full_precision, one_pass, variants
from evsurf.events import EventBatch
from evsurf.surfaces import ConvLSTM, MatrixLSTM
from tests.random_events import event_batches, random_batch
from tests.tolerances import assert_near

CPU = torch.device("cpu")
LSTMS = ["nn.LSTM packed", "nn.LSTM padded"]
EQUAL = [*LSTMS, "ConvLSTM 1x1"]

BATCHES = {
    "several samples": random_batch([40, 7, 90], (5, 6)),
    "empty samples": random_batch([0, 40, 0, 0, 3, 0], (5, 6)),
    "one sample": random_batch([60], (5, 6)),
    "one event": random_batch([1], (5, 6)),
    "one pixel": random_batch([30, 0, 12], (1, 1)),
    "equal times": random_batch([50, 20], (3, 3), longest=0),
    "times far from zero": random_batch([50, 20], (3, 3), origin=2**62 - 2000),
    "no events": random_batch([0, 0], (5, 6)),
    "no samples": random_batch([], (5, 6)),
}
each_batch = pytest.mark.parametrize("batch", BATCHES.values(), ids=BATCHES.keys())


def made(channels: int = 3, device: torch.device = CPU) -> dict[str, Variant]:
    torch.manual_seed(channels)
    return {variant.name: variant for variant in variants(channels, device)}


def gradients(variant: Variant, batch: EventBatch, gradient: torch.Tensor) -> list[torch.Tensor]:
    """Of every weight, with the gates in the order of torch.nn.LSTM, which ConvLSTM's is not."""
    one_pass(variant, batch, "forward+backward", gradient)()
    found = [weight.grad for weight in variant.module.parameters()]
    assert all(grad is not None for grad in found)
    if not isinstance(variant.module, ConvLSTM):
        return [grad for grad in found if grad is not None]
    swapped = []
    for grad in found:
        assert grad is not None
        i, f, o, g = grad.flatten(1).chunk(4) if grad.ndim > 1 else grad.chunk(4)
        swapped.append(torch.cat([i, f, g, o]))
    return [*swapped, swapped[-1]]


def test_ours_is_the_first_and_a_larger_kernel_alone_is_another_function():
    found = variants(3, CPU)
    assert [variant.name for variant in found] == ["evsurf", *EQUAL, "ConvLSTM 3x3"]
    assert [variant.equals_ours for variant in found] == [True, True, True, True, False]
    assert isinstance(found[0].module, MatrixLSTM)


@each_batch
@pytest.mark.parametrize("name", EQUAL)
@pytest.mark.parametrize("channels", [1, 16])
def test_values_are_those_of_matrix_lstm(name, batch, channels):
    found = made(channels)
    surface = found[name].module(batch)
    assert surface.shape == (len(batch), channels, *batch.size)
    assert_near(surface, found["evsurf"].module(batch))


@each_batch
@pytest.mark.parametrize("name", EQUAL)
def test_gradients_are_those_of_matrix_lstm(name, batch):
    found = made(3)
    gradient = torch.randn(len(batch), 3, *batch.size)
    expected = gradients(found["evsurf"], batch, gradient)
    for ours, theirs in zip(expected, gradients(found[name], batch, gradient), strict=True):
        assert_near(theirs, ours, kind="gradient")


@given(batch=event_batches())
def test_every_awkward_batch_has_one_surface(batch):
    found = made(2)
    expected = found["evsurf"].module(batch)
    for name in EQUAL:
        assert_near(found[name].module(batch), expected)


@pytest.mark.parametrize("before", [True, False])
def test_full_precision_ends_with_its_block_even_by_an_error(monkeypatch, before):
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", before)
    with full_precision():
        assert not torch.backends.cudnn.allow_tf32
    assert torch.backends.cudnn.allow_tf32 == before
    with pytest.raises(KeyError), full_precision():
        raise KeyError
    assert torch.backends.cudnn.allow_tf32 == before


def test_the_random_numbers_of_torch_choose_the_weights():
    torch.manual_seed(4)
    first = variants(3, CPU)
    torch.manual_seed(4)
    again, other = variants(3, CPU), variants(3, CPU)
    for one, two, three in zip(first, again, other, strict=True):
        weights = [next(variant.module.parameters()) for variant in (one, two, three)]
        assert torch.equal(weights[0], weights[1])
        assert not torch.equal(weights[0], weights[2])


def test_every_weight_is_on_the_device(device):
    for variant in variants(2, device):
        assert {weight.device.type for weight in variant.module.parameters()} == {device.type}


@pytest.mark.parametrize("name", made().keys())
def test_a_forward_pass_leaves_no_gradients(name):
    variant = made()[name]
    one_pass(variant, BATCHES["several samples"], "forward")()
    assert all(weight.grad is None for weight in variant.module.parameters())


@pytest.mark.parametrize("name", made().keys())
def test_gradients_are_of_the_latest_pass_alone(name):
    variant, batch = made()[name], BATCHES["several samples"]
    call = one_pass(variant, batch, "forward+backward", torch.ones(len(batch), 3, *batch.size))
    call()
    first = [weight.grad for weight in variant.module.parameters()]
    call()
    for before, weight in zip(first, variant.module.parameters(), strict=True):
        assert before is not None
        assert before.abs().sum() > 0
        assert weight.grad is not None
        assert torch.equal(weight.grad, before)


def test_without_a_gradient_all_of_the_surface_counts_alike():
    batch = BATCHES["several samples"]
    variant = made()["evsurf"]
    one_pass(variant, batch, "forward+backward")()
    found = [weight.grad for weight in variant.module.parameters()]
    expected = gradients(variant, batch, torch.ones(len(batch), 3, *batch.size))
    for grad, wanted in zip(found, expected, strict=True):
        assert grad is not None
        assert torch.equal(grad, wanted)


def on_pixels(*samples: list[int]) -> EventBatch:
    """Samples of events on a sensor of 2 x 5 pixels, given by the numbers of these."""
    place = torch.tensor([pixel for sample in samples for pixel in sample], dtype=torch.int16)
    offsets = torch.tensor([0, *map(len, samples)]).cumsum(0)
    t = torch.cat([torch.arange(len(sample)) for sample in samples])
    return EventBatch(place % 5, place // 5, t, place >= 0, offsets, (2, 5))


def test_padding_is_paid_for_every_sequence_up_to_the_longest():
    estimate = made()["nn.LSTM padded"].training_bytes
    step = estimate(on_pixels([0]))
    assert step > 0
    assert estimate(on_pixels([0, 0, 0, 7], [1, 2])) == 3 * 4 * step


def test_a_dense_step_is_paid_for_every_event_of_a_sample_s_busiest_pixel():
    estimate = made()["ConvLSTM 1x1"].training_bytes
    step = estimate(on_pixels([0]))
    assert step > 0
    assert estimate(on_pixels([0, 0, 0, 7], [], [1, 2])) == (3 + 0 + 1) * step
    assert made()["ConvLSTM 3x3"].training_bytes(on_pixels([3])) == step


@pytest.mark.parametrize("name", made().keys())
def test_no_events_take_no_memory(name):
    estimate = made()[name].training_bytes
    assert estimate(BATCHES["no events"]) == 0
    assert estimate(BATCHES["no samples"]) == 0


@pytest.mark.parametrize("name", ["evsurf", "nn.LSTM packed"])
def test_what_is_never_left_out_is_not_estimated(name):
    assert made()[name].training_bytes(BATCHES["several samples"]) == 0
