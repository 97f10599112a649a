"""What ragged_lstm gives does not depend on neighbours, threads or chance, to the last bit."""

import pytest
import torch
from torch import Tensor

import evsurf as es
from tests.random_events import random_weights

HIDDEN = 4


def sample(seed: int) -> list[int]:
    """Lengths of one sample's sequences."""
    generator = torch.Generator().manual_seed(seed)
    count = int(torch.randint(1, 9, (), generator=generator))
    usual = torch.randint(0, 6, (count,), generator=generator).tolist()
    return [*usual, 150] if seed % 50 == 0 else usual


def draw(seed: int, *shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def run(seeds: list[int], outputs: str = "last") -> list[list[Tensor]]:
    """For each sample of a batch: its values, and its gradients of features and initial state."""
    lengths = [sample(seed) for seed in seeds]
    events, sequences = [sum(part) for part in lengths], [len(part) for part in lengths]
    flat = [length for part in lengths for length in part]
    x, h0, c0, slope = (
        torch.cat([draw(seed + shift, n, columns) for seed, n in zip(seeds, counts, strict=True)])
        for shift, counts, columns in (
            (0, events, 2),
            (1000, sequences, HIDDEN),
            (2000, sequences, HIDDEN),
            (3000, events if outputs == "all" else sequences, HIDDEN),
        )
    )
    leaves = [a.requires_grad_() for a in (x, h0, c0)]
    weights = [w.requires_grad_() for w in random_weights(2, HIDDEN, dtype=torch.float32)]
    offsets = torch.tensor([0, *flat]).cumsum(0)
    output, (h, c) = es.ops.ragged_lstm(x, offsets, *weights, initial=(h0, c0), outputs=outputs)
    gradients = torch.autograd.grad((output * slope).sum() + c.sum(), leaves)
    made = [output.detach(), h.detach(), c.detach(), *gradients]
    rows = [events if len(a) == sum(events) else sequences for a in made]
    return [
        list(parts)
        for parts in zip(*(a.split(n) for a, n in zip(made, rows, strict=True)), strict=True)
    ]


def weight_gradients(seeds: list[int]) -> list[Tensor]:
    flat = [length for seed in seeds for length in sample(seed)]
    weights = [w.requires_grad_() for w in random_weights(2, HIDDEN, dtype=torch.float32)]
    offsets = torch.tensor([0, *flat]).cumsum(0)
    output, _ = es.ops.ragged_lstm(draw(1, sum(flat), 2), offsets, *weights)
    return list(torch.autograd.grad((output * draw(2, len(flat), HIDDEN)).sum(), weights))


def equal(left: list[Tensor], right: list[Tensor]) -> bool:
    return all(torch.equal(a, b) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize("outputs", ["last", "all"])
def test_a_sample_alone_is_itself_in_any_batch(isa, outputs):
    order = torch.randperm(256, generator=torch.Generator().manual_seed(0)).tolist()
    batch, shuffled = run(list(range(256)), outputs), run(order, outputs)
    for place, seed in enumerate(order):
        assert equal(shuffled[place], batch[seed])
    for seed in (0, 1, 50, 255):
        assert equal(run([seed], outputs)[0], batch[seed])


def test_runs_are_equal(isa, pytestconfig):
    seeds = list(range(40))
    first, weights = run(seeds), weight_gradients(seeds)
    for _ in range(100 if pytestconfig.getoption("--full") else 5):
        assert all(equal(a, b) for a, b in zip(run(seeds), first, strict=True))
        assert equal(weight_gradients(seeds), weights)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_make_no_difference(isa, threads, threads_set):
    # More events than one thread takes at a time.
    seeds = list(range(2000))
    threads_set(1)
    one = weight_gradients(seeds)
    threads_set(threads)
    assert equal(weight_gradients(seeds), one)
