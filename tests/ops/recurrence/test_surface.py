from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from evsurf.events import EventBatch, Events
from evsurf.ops.recurrence import surface_reference
from evsurf.ops.recurrence.reference import Cell
from evsurf.ops.recurrence.surface import lstm_surface
from tests import naive
from tests.ops.recurrence.inputs import surface_input
from tests.random_events import event_batches, options, random_batch, random_weights
from tests.tolerances import assert_near

BATCH = random_batch([30, 0, 12], (3, 4))


def surface(batch: EventBatch, layers: list[Cell], reads: naive.Options) -> Tensor:
    given = surface_input(batch, reads)
    return lstm_surface(
        batch,
        layers,
        field=given.field,
        reading=given.reading,
        bins=given.bins,
        cap=(given.most, given.latest),
    )


def make_layers(
    features: int, hidden: list[int], *, bias: bool = True, dtype=torch.float64
) -> list[Any]:
    """Cells, without a promise to the type checker that they have biases or not."""
    sizes = zip([features, *hidden], hidden, strict=False)
    return [
        Cell(*random_weights(n, m, seed=k, bias=bias, dtype=dtype))
        for k, (n, m) in enumerate(sizes)
    ]


@given(
    batch=event_batches(),
    chosen=options(),
    hidden=st.lists(st.integers(1, 4), min_size=1, max_size=3),
    bias=st.booleans(),
)
def test_any_layers_give_the_surface_of_a_loop(device, batch, chosen, hidden, bias):
    reads = naive.Options(**chosen)
    try:
        features = surface_input(batch, reads).reading.features
    except ValueError:
        return
    layers = make_layers(features, hidden, bias=bias)
    leaves = [w.requires_grad_() for layer in layers for w in layer if w is not None]
    wanted = naive.surface(batch, layers, reads)
    slope = torch.linspace(-1, 1, wanted.numel(), dtype=torch.float64).reshape(wanted.shape)

    moved = [Cell(*(None if w is None else w.to(device) for w in layer)) for layer in layers]
    made = surface(batch.to(device), moved, reads)
    assert_near(made.detach(), wanted.detach())
    found = torch.autograd.grad((made * slope.to(device)).sum(), leaves)
    if not wanted.requires_grad:
        assert not any(g.any() for g in found)
        return
    gradients = torch.autograd.grad((wanted * slope).sum(), leaves)
    for actual, gradient in zip(found, gradients, strict=True):
        assert_near(actual, gradient, kind="gradient")


def configurations():
    """Events, sizes and options of gradient checks through several layers."""
    fields = [{}, {"kernel_size": 3}, {"kernel_size": 2, "max_events": 3, "bins": 2}]
    for k, reads in enumerate(fields):
        yield pytest.param(naive.Options(**reads), [2, 3], id=f"two layers {k}")
        yield pytest.param(naive.Options(**reads, time="ts"), [3, 1, 2], id=f"three layers {k}")


@pytest.mark.parametrize(("reads", "hidden"), list(configurations()))
def test_gradients_are_those_of_differences(device, reads, hidden):
    batch = random_batch([7, 0, 4], (2, 3)).to(device)
    layers = make_layers(surface_input(batch, reads).reading.features, hidden)
    leaves = [w.to(device).requires_grad_() for layer in layers for w in layer]

    def run(*weights: Tensor) -> Tensor:
        return surface(batch, [Cell(*weights[k : k + 4]) for k in range(0, len(weights), 4)], reads)

    assert torch.autograd.gradcheck(run, leaves, atol=1e-6, fast_mode=True)


@pytest.mark.parametrize("hidden", [[3], [3, 2]])
def test_no_events_give_zeros_with_zero_gradients(device, hidden):
    layers = [
        Cell(*(w.to(device).requires_grad_() for w in layer)) for layer in make_layers(2, hidden)
    ]
    for samples in (0, 1, 3):
        empty = EventBatch.pack([Events.empty((3, 4))] * samples, size=(3, 4)).to(device)
        image = surface(empty, layers, naive.Options(bins=2))
        assert image.shape == (samples, 2 * hidden[-1], 3, 4)
        assert not image.any()
        gradients = torch.autograd.grad(image.sum(), [w for layer in layers for w in layer])
        assert all(g.isfinite().all() and not g.any() for g in gradients)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
@pytest.mark.parametrize("hidden", [[3], [3, 2]])
def test_half_precision_is_computed_in_single(device, dtype, hidden):
    rounded = [
        [w.to(device, dtype) for w in layer]
        for layer in make_layers(2, hidden, dtype=torch.float32)
    ]
    made = []
    for kind in (dtype, torch.float32):
        layers = [Cell(*(w.to(kind).requires_grad_() for w in layer)) for layer in rounded]
        image = surface(BATCH.to(device), layers, naive.Options())
        assert image.dtype == torch.float32
        leaves = [w for layer in layers for w in layer]
        made.append([image, *torch.autograd.grad(image.sum(), leaves)])
    for half, single in zip(*made, strict=True):
        assert torch.equal(half, single.to(half.dtype))


def test_strided_weights_are_read_as_they_are(device):
    (layer,) = make_layers(2, [3])
    whole = [w.to(device) for w in layer]
    strided = [torch.stack([w, w + 1], dim=-1)[..., 0] for w in whole]
    batch = BATCH.to(device)
    images = [surface(batch, [Cell(*weights)], naive.Options()) for weights in (whole, strided)]
    assert torch.equal(*images)


def test_events_and_weights_are_on_one_device():
    with pytest.raises(ValueError, match=r"the events are on meta and .* weights on cpu; move one"):
        surface(BATCH.to("meta"), make_layers(2, [3]), naive.Options())


def test_weights_of_different_layers_are_refused(own_errors):
    w_ih, w_hh, b_ih, b_hh = random_weights(2, 3)
    with pytest.raises(ValueError, match=r"w_ih must be \[12, features\] .* not \[16, 2\]"):
        surface(BATCH, [Cell(torch.zeros(16, 2), w_hh, b_ih, b_hh)], naive.Options())
    with pytest.raises(TypeError, match="w_hh must be a floating-point tensor, not torch.int64"):
        surface(BATCH, [Cell(w_ih, w_hh.long(), b_ih, b_hh)], naive.Options())


def test_weights_of_other_features_or_another_layer_below_are_refused():
    """They would be read beyond their end."""
    for columns in (1, 3):
        _, *others = random_weights(2, 3)
        with pytest.raises(ValueError, match=rf"w_ih of layer 0 .* not \[12, {columns}\]"):
            surface(BATCH, [Cell(torch.zeros(12, columns), *others)], naive.Options())
    cells = [Cell(*random_weights(2, 3)), Cell(*random_weights(4, 2))]
    with pytest.raises(ValueError, match=r"w_ih of layer 1 must be \[8, 3\].* not \[8, 4\]"):
        surface(BATCH, cells, naive.Options())


@pytest.mark.filterwarnings("ignore:.*torch.jit.script.* is deprecated")
def test_forward_mode_is_refused_and_not_wrong():
    (cell,) = make_layers(2, [3])

    def run(w_ih: Tensor) -> Tensor:
        return surface(BATCH, [cell._replace(w_ih=w_ih)], naive.Options())

    with pytest.raises(RuntimeError, match="no forward-mode derivative"):
        torch.func.jvp(run, (cell.w_ih,), (cell.w_ih,))


def test_a_field_larger_than_the_sensor_has_its_places(device):
    """Rows and columns of the largest kernel, whose product nearly fills 32 bits."""
    most = 2**16 - 1
    ends = Events.from_arrays([0, 32_766, 5], [0, 2, 1], [3, 4, 5], [1, 0, 1], (3, 32_767))
    reads = naive.Options(kernel_size=most, stride=most, time="ts")
    given = surface_input(EventBatch.pack([ends]).to(device), reads)
    weights = random_weights(4, 3, dtype=torch.float64)
    cell = Cell(*(w.to(device) for w in weights))
    image = surface(EventBatch.pack([ends]).to(device), [cell], reads)
    assert_near(image, surface_reference.forward(given, cell))
