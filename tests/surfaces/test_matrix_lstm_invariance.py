"""What a Matrix-LSTM surface does not depend on."""

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import evsurf as es
from evsurf.events import EventBatch
from evsurf.surfaces import MatrixLSTM
from tests.random_events import event_batches, options, random_batch
from tests.tolerances import assert_near

# Every kind of time, and what makes a window's tiles, bins and sequences awkward.
KINDS: dict[str, dict[str, Any]] = {
    "delay": {},
    "timestamps of the window": {"time": "ts", "scope": "absolute"},
    "timestamps of the pixel": {"time": "ts"},
    "logarithmic delay": {"time": "log_delay"},
    "fields and bins": {"kernel_size": 3, "bins": 3, "global_time": True},
    "a cap": {"kernel_size": 2, "max_events": 4},
    "two layers": {"layers": 2, "kernel_size": 2},
}
each_kind = pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)


def sample(seed: int) -> EventBatch:
    """A batch of one sample, of 0 to 400 events."""
    return random_batch([(seed * 37) % 401], (5, 6), seed=seed, origin=seed)


def join(samples: list[EventBatch]) -> EventBatch:
    x, y, t, p = (torch.cat([getattr(s, name) for s in samples]) for name in "xytp")
    counts = torch.tensor([0, *(s.num_events for s in samples)])
    return EventBatch(x, y, t, p, counts.cumsum(0), samples[0].size)


def moved(batch: EventBatch, **columns: Any) -> EventBatch:
    """The batch with some of its columns, or its size, replaced."""
    names = ("x", "y", "t", "p", "offsets", "size")
    return EventBatch(**{name: columns.get(name, getattr(batch, name)) for name in names})


@each_kind
def test_a_sample_alone_is_itself_in_any_batch(kind, device):
    """To the last bit; test_ragged_determinism shows it of gradients."""
    layer = MatrixLSTM(4, **kind).to(device)
    samples = [sample(seed).to(device) for seed in range(256)]
    batch = join(samples)
    order = torch.randperm(256, generator=torch.Generator().manual_seed(0)).tolist()
    with torch.no_grad():
        images, shuffled = layer(batch), layer(batch[order])
        assert torch.equal(shuffled, images[order])
        for n in (0, 1, 2, 100, 255):
            assert torch.equal(layer(samples[n])[0], images[n])


def test_the_instruction_set_does_not_change_that(isa):
    layer = MatrixLSTM(3)
    samples = [sample(seed) for seed in range(64)]
    images = layer(join(samples))
    assert all(
        torch.equal(layer(one)[0], image) for one, image in zip(samples, images, strict=True)
    )


@given(event_batches(max_samples=5), options(), st.data())
def test_samples_of_any_batch_may_change_places(batch, chosen, data):
    try:
        layer = MatrixLSTM(2, **chosen).double()
        images = layer(batch)
    except ValueError:
        return
    order = data.draw(st.permutations(range(len(batch))))
    assert torch.equal(layer(batch[order]), images[order])
    for n in range(len(batch)):
        assert torch.equal(layer(batch[n]), images[n : n + 1])


@each_kind
def test_gradients_of_a_batch_are_the_sum_of_its_samples(kind, device):
    layer = MatrixLSTM(3, **kind).double().to(device)
    samples = [sample(seed).to(device) for seed in range(6)]
    parameters = list(layer.parameters())
    whole = torch.autograd.grad(layer(join(samples)).square().sum(), parameters)
    parts = [torch.autograd.grad(layer(one).square().sum(), parameters) for one in samples]
    for gradient, *others in zip(whole, *parts, strict=True):
        assert_near(gradient, torch.stack(others).sum(0), kind="gradient")


def runs(layer: MatrixLSTM, batch: EventBatch) -> list[Tensor]:
    image = layer(batch)
    return [image, *torch.autograd.grad(image.square().sum(), list(layer.parameters()))]


@each_kind
def test_runs_are_equal(kind, pytestconfig):
    layer, batch = MatrixLSTM(3, **kind), join([sample(seed) for seed in range(30)])
    first = runs(layer, batch)
    for _ in range(100 if pytestconfig.getoption("--full") else 3):
        assert all(torch.equal(a, b) for a, b in zip(runs(layer, batch), first, strict=True))


@each_kind
def test_threads_make_no_difference(kind, threads_set):
    layer = MatrixLSTM(3, **kind)
    batch = join([*(sample(seed) for seed in range(20)), random_batch([70_000], (5, 6))])
    threads_set(1)
    one = runs(layer, batch)
    for threads in (2, 3):
        threads_set(threads)
        assert all(torch.equal(a, b) for a, b in zip(runs(layer, batch), one, strict=True))


@each_kind
def test_events_that_move_take_their_surface_along(kind, device):
    layer = MatrixLSTM(3, **kind).to(device)
    batch = join([sample(seed) for seed in range(4)]).to(device)
    larger = (5 + 4, 6 + 7)
    image = layer(moved(batch, size=larger))
    image_moved = layer(moved(batch, size=larger, x=batch.x + 5, y=batch.y + 3))
    # Fields at the border also see what is outside of the first image's part.
    assert torch.equal(image_moved[..., 3 : 3 + 6, 5 : 5 + 7], image[..., :6, :7])


@each_kind
def test_the_same_weights_serve_every_resolution(kind, device):
    layer = MatrixLSTM(3, **kind).to(device)
    batch = join([sample(seed) for seed in range(4)]).to(device)
    image, large = layer(batch), layer(moved(batch, size=(300, 200)))
    assert torch.equal(large[..., :5, :6], image)
    assert not large[..., 7:, :].any()
    assert not large[..., 8:].any()


@each_kind
@pytest.mark.parametrize("shift", [1, -(10**9), 2**40, 2**61])
def test_the_time_of_day_does_not_matter(kind, shift, device):
    layer = MatrixLSTM(3, **kind).to(device)
    batch = join([sample(seed) for seed in range(4)]).to(device)
    assert torch.equal(layer(moved(batch, t=batch.t + shift)), layer(batch))


@pytest.mark.parametrize(
    "kind",
    [kind for kind in KINDS.values() if kind.get("time") != "log_delay"],
    ids=[name for name in KINDS if name != "logarithmic delay"],
)
@pytest.mark.parametrize("factor", [2, 3, 1000, 2**40])
def test_times_scaled_by_their_range_have_no_unit(kind, factor, device):
    layer = MatrixLSTM(3, **kind).double().to(device)
    batch = join([sample(seed) for seed in range(4)]).to(device)
    assert_near(layer(moved(batch, t=batch.t * factor)), layer(batch))


def test_a_time_scale_is_the_unit_of_the_others(device):
    batch = join([sample(seed) for seed in range(4)]).to(device)
    for kind in ({"time": "log_delay"}, {"scope": "fixed"}, {"time": "ts", "scope": "fixed"}):
        layer, slower = (
            MatrixLSTM(3, **kind, time_scale=s).double().to(device) for s in (20.0, 60.0)
        )
        slower.load_state_dict(layer.state_dict())
        assert_near(slower(moved(batch, t=batch.t * 3)), layer(batch))


@given(event_batches(max_events=20), st.randoms(use_true_random=False))
def test_events_of_one_moment_may_change_places_between_pixels(batch, random):
    """Within a pixel their order counts, so it is kept."""
    names = [(t, random.random()) for t in range(batch.num_events)]
    pixels = (batch.y.long() * batch.size[1] + batch.x).tolist()
    luck = {pixel: random.random() for pixel in set(pixels)}
    offsets = batch.offsets.tolist()
    owner = [n for n in range(len(batch)) for _ in range(offsets[n], offsets[n + 1])]
    order = sorted(range(len(names)), key=lambda k: (owner[k], int(batch.t[k]), luck[pixels[k]], k))
    fields = {name: getattr(batch, name)[order] for name in "xytp"}
    for kind in ({}, {"time": "ts", "scope": "absolute", "bins": 2, "global_time": True}):
        layer = MatrixLSTM(2, **kind)
        assert torch.equal(layer(moved(batch, **fields)), layer(batch))


def test_events_of_one_moment_keep_their_order_within_a_pixel():
    on_off, off_on = (
        es.Events.from_arrays([0, 0], [0, 0], [7, 7], p, (1, 1)) for p in ([1, 0], [0, 1])
    )
    layer = MatrixLSTM(2)
    assert not torch.equal(layer(on_off), layer(off_on))


@pytest.mark.parametrize("bins", [1, 2, 5])
@each_kind
def test_a_bin_is_the_surface_of_its_own_events(kind, bins, device):
    kind = kind | {"bins": bins, "global_time": False}
    layer = MatrixLSTM(3, **kind).to(device)
    single = MatrixLSTM(3, **kind | {"bins": 1}).to(device)
    single.load_state_dict(layer.state_dict())
    batch = join([sample(seed) for seed in range(6)]).to(device)
    rows = single(es.ops.group_by_time(batch, bins))
    assert torch.equal(layer(batch), rows.reshape(6, bins * 3, *rows.shape[2:]))


def test_neither_events_nor_weights_are_changed(device):
    layer, batch = MatrixLSTM(3, kernel_size=2, bins=2).to(device), sample(5).to(device)
    columns = [getattr(batch, name).clone() for name in EventBatch.FIELDS]
    weights = [p.detach().clone() for p in layer.parameters()]
    layer(batch).sum().backward()
    assert all(
        torch.equal(getattr(batch, name), before)
        for name, before in zip(EventBatch.FIELDS, columns, strict=True)
    )
    assert all(torch.equal(*pair) for pair in zip(layer.parameters(), weights, strict=True))
