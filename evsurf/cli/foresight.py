"""A surface that learns in seconds: from the events of a moment, foresee those of the next one.

Nobody needs to label anything for it. One convolution reads the surface and says which pixels will
have events next, so the surface itself has to hold what matters: how long ago and which way.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn

from evsurf.data.shapes import moving_shapes
from evsurf.events import EventBatch, Events
from evsurf.surfaces import MatrixLSTM

WINDOW = 40_000
"""Microseconds that the surface sees."""
AHEAD = 10_000
"""Microseconds that are foreseen."""

_SIZE = (90, 120)
_STREAM = 100_000
_STREAMS = range(101, 105)
_BATCH = 4
_REACH = 9


@dataclass(frozen=True)
class Lesson:
    """A surface and how its loss fell."""

    surface: MatrixLSTM
    first_loss: float
    last_loss: float


def learn(steps: int, *, seed: int) -> Lesson:
    """Trains a surface of three channels on moving shapes for a number of steps.

    Global random numbers are left as they were.
    """
    past, future = _moments()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        surface = MatrixLSTM(3, time="ts", scope="absolute", polarity="signed", bias=False)
        reader = nn.Conv2d(surface.out_channels, 2, _REACH, padding=_REACH // 2)
        optimizer = torch.optim.Adam([*surface.parameters(), *reader.parameters()], lr=2e-2)
        losses = []
        for _ in range(steps):
            chosen = torch.randperm(len(past))[:_BATCH]
            foreseen = reader(surface(past[chosen]))
            loss = nn.functional.binary_cross_entropy_with_logits(foreseen, future[chosen])
            optimizer.zero_grad()
            torch.autograd.backward(loss)
            optimizer.step()
            losses.append(loss.item())
    return Lesson(surface.requires_grad_(False), losses[0], losses[-1])


def _moments() -> tuple[EventBatch, Float[Tensor, "moments 2 height width"]]:
    """Windows of events, and for each the pixels that have events right after it."""
    past, future = [], []
    for seed in _STREAMS:
        stream = moving_shapes(_SIZE, duration=_STREAM, seed=seed)
        for now in range(WINDOW, _STREAM - AHEAD + 1, AHEAD):
            past.append(stream.between(now - WINDOW, now))
            future.append(_active(stream.between(now, now + AHEAD)))
    return EventBatch.pack(past), torch.stack(future)


def _active(events: Events) -> Float[Tensor, "2 height width"]:
    """1 where a pixel has events: the first image for OFF, the second for ON."""
    image = torch.zeros(2, *events.size)
    image[events.p.long(), events.y.long(), events.x.long()] = 1
    return image
