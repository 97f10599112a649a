"""A surface learns in seconds what comes next."""

from __future__ import annotations

import functools

import pytest
import torch

import evsurf as es
from evsurf.cli import foresight
from evsurf.cli.foresight import AHEAD, WINDOW, Lesson, learn

STEPS = 8


@functools.cache
def lesson(seed: int = 6) -> Lesson:
    return learn(STEPS, seed=seed)


def test_learning_lowers_the_loss():
    assert 0 < lesson().last_loss < 0.9 * lesson().first_loss


def test_what_is_learned_is_a_surface_of_three_channels_without_gradients():
    surface = lesson().surface
    assert surface.out_channels == 3
    assert not any(weight.requires_grad for weight in surface.parameters())


def test_the_same_seed_learns_the_same_to_the_last_bit():
    torch.manual_seed(99)
    again = learn(STEPS, seed=6)
    assert again.last_loss == lesson().last_loss
    for ours, theirs in zip(again.surface.parameters(), lesson().surface.parameters(), strict=True):
        assert torch.equal(ours, theirs)


def test_another_seed_learns_another_surface():
    assert not torch.equal(lesson(7).surface.weight, lesson().surface.weight)


def test_learning_leaves_global_random_numbers_alone():
    before = torch.get_rng_state()
    learn(1, seed=3)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_first_loss_is_that_before_any_step():
    once = learn(1, seed=6)
    assert once.first_loss == once.last_loss == lesson().first_loss


def test_each_moment_is_seen_with_the_events_right_after_it(monkeypatch):
    seen = []

    def clock(size, *, duration, seed):
        """One event each millisecond, from pixel to pixel."""
        t = torch.arange(0, duration, 1000)
        x = torch.arange(len(t)) % size[1]
        stream = es.Events.from_arrays(x, torch.full_like(x, seed % size[0]), t, x % 2, size)
        seen.append(stream)
        return stream

    monkeypatch.setattr(foresight, "moving_shapes", clock)
    past, future = foresight._moments()
    assert len(past) == len(future) == 6 * len(seen)
    assert (past.lengths == WINDOW // 1000).all()
    assert int(future[0].sum()) == AHEAD // 1000
    for number in (0, 5):
        now = WINDOW + number * AHEAD
        events = seen[0].between(now, now + AHEAD)
        assert int(past[number].t.max()) < now
        for x, y, p in zip(events.x.tolist(), events.y.tolist(), events.p.tolist(), strict=True):
            assert future[number, int(p), y, x] == 1


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_pixel_is_active_however_many_events_it_has(count):
    events = es.Events.from_arrays([1] * count, [0] * count, range(count), [1] * count, (2, 3))
    active = foresight._active(events)
    expected = torch.zeros(2, 2, 3)
    expected[1, 0, 1] = float(count > 0)
    assert torch.equal(active, expected)
