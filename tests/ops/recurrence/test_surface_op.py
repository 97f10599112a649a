from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from evsurf import _core
from evsurf.events import EventBatch
from evsurf.ops.recurrence import surface_reference
from evsurf.ops.recurrence.op import warn_of_reference
from evsurf.ops.recurrence.reference import Cell
from evsurf.ops.recurrence.surface_op import lstm_surface, lstm_surface_backward
from evsurf.ops.recurrence.surface_reference import Input
from tests import naive
from tests.ops.recurrence.inputs import op_arguments, surface_input
from tests.random_events import (
    CAPS,
    FIELDS,
    MAX_TIME,
    MIN_TIME,
    READINGS,
    event_batches,
    options,
    random_batch,
    random_weights,
)
from tests.tolerances import assert_near


def run(given: Input, weights: list[Any], device: torch.device | str = "cpu"):
    """The op's surface, a slope, and its gradients of w_ih, w_hh and bias."""
    on_device = [None if w is None else w.to(device) for w in weights]
    surface = lstm_surface(*op_arguments(given, device), *on_device)
    generator = torch.Generator().manual_seed(0)
    slope = torch.randn(surface.shape, generator=generator, dtype=surface.dtype)
    gradients = lstm_surface_backward(slope.to(device), *op_arguments(given, device), *on_device)
    return surface, slope, gradients


def assert_as_reference(given: Input, weights: list[Any], device="cpu") -> None:
    surface, slope, gradients = run(given, weights, device)
    assert surface.is_contiguous()
    assert_near(surface, surface_reference.forward(given, Cell(*weights)))
    wanted = surface_reference.backward(given, Cell(*weights), slope)
    for actual, gradient in zip(gradients, wanted, strict=True):
        assert_near(actual, gradient, kind="gradient")


@pytest.mark.parametrize("reading", READINGS, ids=lambda r: "-".join(r.values()))
@pytest.mark.parametrize("field", FIELDS, ids=str)
def test_every_reading_of_every_field_is_that_of_the_reference(device, reading, field):
    options = naive.Options(**reading, **field, global_time=True, bins=2, time_scale=3.0)
    given = surface_input(random_batch([60, 0, 25], (4, 5)), options)
    assert_as_reference(given, random_weights(given.reading.features, 3), device)


@pytest.mark.parametrize("cap", CAPS, ids=str)
@pytest.mark.parametrize("time", ["delay", "ts"])
def test_every_cap_is_that_of_the_reference(device, cap, time):
    given = surface_input(
        random_batch([60, 0, 25], (3, 3)), naive.Options(kernel_size=2, time=time, **cap)
    )
    assert_as_reference(given, random_weights(4, 3), device)


@given(
    batch=event_batches(max_events=15),
    chosen=options(max_bins=6),
    hidden=st.integers(1, 32),
    bias=st.booleans(),
)
def test_any_batch_has_the_references_surface(device, batch, chosen, hidden, bias):
    try:
        given = surface_input(batch, naive.Options(**chosen))
    except ValueError:
        return
    weights = random_weights(given.reading.features, hidden, bias=bias)
    assert_as_reference(given, weights, device)


# Windows of more than 32,768 cells or 65,536 events are cut into bands of rows (see grouping/op).
@pytest.mark.parametrize(
    ("size", "counts", "chosen"),
    [
        ((260, 346), [6000, 0, 300], {}),
        ((260, 346), [6000, 0, 300], {"kernel_size": 3}),
        ((720, 1280), [4000], {"kernel_size": 5, "stride": 2, "bins": 2}),
        ((720, 1280), [9000], {"time": "ts", "scope": "absolute", "global_time": True, "bins": 2}),
        ((300, 400), [70_000], {"kernel_size": (3, 1), "max_events": 2}),
        ((90, 91), [80_000], {"time": "ts", "scope": "relative"}),
        ((90, 91), [10_000, 5], {"kernel_size": 9, "stride": 3, "max_events": 20}),
    ],
)
def test_large_windows_are_cut_without_a_trace(device, size, counts, chosen):
    given = surface_input(random_batch(counts, size), naive.Options(**chosen))
    weights = random_weights(given.reading.features, 2)
    assert_as_reference(given, weights, device)


@pytest.mark.parametrize("hidden", [1, 2, 3, 4, 5, 8, 16, 17, 33, 64])
def test_every_hidden_size_is_computed(device, isa, hidden):
    given = surface_input(random_batch([200, 3], (3, 4)), naive.Options(kernel_size=2, bins=2))
    assert_as_reference(given, random_weights(4, hidden, dtype=torch.float32), device)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_make_no_difference(isa, threads, threads_set):
    given = surface_input(
        random_batch([100_000, 30, 0, 3000], (40, 50)), naive.Options(kernel_size=2)
    )
    weights = random_weights(4, 3, dtype=torch.float32)
    threads_set(2)
    before = run(given, weights)
    threads_set(threads)
    surface, _, gradients = run(given, weights)
    assert torch.equal(surface, before[0])
    assert all(torch.equal(a, b) for a, b in zip(gradients, before[2], strict=True))


def test_more_tiles_than_partial_sums_give_the_same_gradients(device):
    """Tiles of a large batch share their sums of gradients."""
    batch = random_batch([20] * 700, (3, 4))
    given = surface_input(batch, naive.Options())
    assert_as_reference(given, random_weights(2, 3), device)


def configurations():
    generator = torch.Generator().manual_seed(0)

    def one_of(choices):
        return choices[int(torch.randint(len(choices), (), generator=generator))]

    for k in range(30):
        options = {
            **one_of(READINGS),
            **one_of(FIELDS),
            **one_of(CAPS),
            "bins": one_of([1, 1, 2, 3]),
        }
        options |= {"global_time": one_of([True, False]), "polarity": one_of(["binary", "signed"])}
        yield pytest.param(options, one_of([1, 2, 3, 4]), one_of([True, False]), id=str(k))


@pytest.mark.parametrize(("chosen", "hidden", "bias"), list(configurations()))
def test_gradients_are_those_of_differences(device, chosen, hidden, bias):
    given = surface_input(random_batch([9, 0, 5], (3, 4)), naive.Options(**chosen))
    fixed = op_arguments(given, device)
    weights = random_weights(given.reading.features, hidden, bias=bias)
    leaves = [w.to(device).requires_grad_() for w in weights if w is not None]

    def surface(*weights: Tensor) -> Any:
        return lstm_surface(*fixed, *weights, *[None] * (4 - len(weights)))

    assert torch.autograd.gradcheck(surface, leaves, atol=1e-6, fast_mode=True)


@given(
    places=st.lists(
        st.tuples(
            st.integers(-(2**15), 2**15 - 1) | st.integers(-1, 5),
            st.integers(-2, 6),
            st.integers(-(2**62), 2**62) | st.integers(-3, 3),
        ),
        max_size=15,
    ),
    chosen=options(),
)
def test_events_that_validation_refuses_do_no_harm(device, places, chosen):
    """Off the sensor or out of order, they give some surface, and the process goes on."""
    t = torch.tensor([t for _, _, t in places], dtype=torch.int64)
    x, y = (torch.tensor([e[k] for e in places], dtype=torch.int16) for k in (0, 1))
    batch = EventBatch(x, y, t, t % 2 == 0, torch.tensor([0, len(t)]), (4, 5), validate=False)
    given = surface_input(batch, naive.Options(**chosen))
    surface, _, _ = run(given, random_weights(given.reading.features, 3), device)
    assert surface.shape == (1, 3 * given.bins, *given.field.cells)


def test_moments_of_the_longest_span_are_told_apart(device):
    """Beyond 2**53 microseconds a double no longer holds each; differences are taken before."""
    t = torch.tensor([MIN_TIME, 5, 6, 8, MAX_TIME])
    x = torch.tensor([0, 1, 1, 1, 0], dtype=torch.int16)
    batch = EventBatch(x, torch.zeros_like(x), t, t % 2 == 0, torch.tensor([0, 5]), (1, 2))
    for reading in READINGS:
        given = surface_input(batch, naive.Options(**reading, global_time=True, time_scale=3.0))
        assert_as_reference(given, random_weights(3, 3), device)


def test_events_off_the_sensor_leave_no_trace(device):
    batch = random_batch([40], (4, 5))
    x, y = (
        torch.cat([a[:20], torch.tensor(v).short(), a[20:]])
        for a, v in ((batch.x, [-1, 5, 2, 2, 300]), (batch.y, [1, 1, -1, 4, 300]))
    )
    t, p = (torch.cat([a[:20], a[19:20].expand(5), a[20:]]) for a in (batch.t, batch.p))
    more = EventBatch(x, y, t, p, torch.tensor([0, 45]), (4, 5), validate=False)
    for reads in (naive.Options(), naive.Options(kernel_size=3)):
        given, given_more = (surface_input(some, reads) for some in (batch, more))
        weights = random_weights(given.reading.features, 3)
        (surface, _, gradients), (same, _, as_well) = (
            run(some, weights, device) for some in (given, given_more)
        )
        assert torch.equal(surface, same)
        assert all(torch.equal(*pair) for pair in zip(gradients, as_well, strict=True))
        assert_near(surface_reference.forward(given_more, Cell(*weights)), surface)


@pytest.mark.parametrize(
    ("offsets", "message"),
    [([0, 5, 8], "end at the number of events, 9"), ([0, 9, 5, 9], "offsets must not decrease")],
)
def test_offsets_that_name_no_events_are_refused_by_the_core(offsets, message):
    batch = random_batch([9], (3, 4))
    wrong = EventBatch(
        batch.x, batch.y, batch.t, batch.p, torch.tensor(offsets), (3, 4), validate=False
    )
    with pytest.raises(ValueError, match=message):
        lstm_surface(*op_arguments(surface_input(wrong, naive.Options())), *random_weights(2, 3))


def test_larger_hidden_sizes_are_computed_by_the_reference_with_one_warning():
    warn_of_reference.cache_clear()
    hidden = _core.largest_hidden + 1
    given = surface_input(random_batch([30, 0, 4], (3, 4)), naive.Options(max_events=4))
    weights = random_weights(2, hidden, dtype=torch.float32)
    with pytest.warns(
        UserWarning, match=f"hidden sizes up to 64, and this layer has {hidden}"
    ) as seen:
        surface, slope, gradients = run(given, weights)
    assert len(seen) == 1
    assert torch.equal(surface, surface_reference.forward(given, Cell(*weights)))
    wanted = surface_reference.backward(given, Cell(*weights), slope)
    assert all(torch.equal(a, b) for a, b in zip(gradients, wanted, strict=True))


# What opcheck itself does to find out whether the operator has gradients.
@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
@pytest.mark.parametrize("bias", [True, False])
def test_the_operators_are_well_made(device, bias):
    given = surface_input(
        random_batch([9, 0, 7], (4, 5)), naive.Options(bins=2, kernel_size=2, max_events=3)
    )
    fixed = op_arguments(given, device)
    weights = [None if w is None else w.to(device) for w in random_weights(4, 3, bias=bias)]
    slope = torch.ones(3, 6, 4, 5, dtype=torch.float64, device=device)
    torch.library.opcheck(lstm_surface_backward, (slope, *fixed, *weights))
    leaves = [None if w is None else w.requires_grad_() for w in weights]
    torch.library.opcheck(lstm_surface, (*fixed, *leaves))
