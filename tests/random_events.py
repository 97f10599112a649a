"""Random batches and layers: small awkward ones for properties, larger ones by a seed."""

from __future__ import annotations

from typing import Any

import torch
from hypothesis import strategies as st
from torch import Tensor

from evsurf.events import EventBatch

MIN_TIME, MAX_TIME = -(2**62) + 1, 2**62
ORIGINS = (0, 1, -5, -(10**6), 2**31 + 5, 2**53 + 1, 2**62 - 10**5, MIN_TIME)


@st.composite
def event_batches(
    draw: st.DrawFn,
    *,
    size: tuple[int, int] | None = None,
    max_samples: int = 3,
    max_events: int = 10,
    max_side: int = 4,
) -> EventBatch:
    """Ragged batches with empty samples, ties, crowded pixels, borders, and times of any size."""
    side = st.integers(1, max_side)
    height, width = size or (draw(side), draw(side))
    # One row, or one pixel, is drawn as often as everything.
    top, bottom, right = draw(
        st.sampled_from([(0, height, width), (height - 1, height, width), (0, 1, 1)])
    )
    event = st.tuples(
        st.integers(0, right - 1),
        st.integers(top, bottom - 1),
        st.sampled_from([0, 0, 1, 2, 7, 1000]),
        st.booleans(),
    )
    counts, events, times = [], [], [torch.zeros(0, dtype=torch.int64)]
    for _ in range(draw(st.integers(0, max_samples))):
        sample = draw(st.lists(event, max_size=max_events))
        t = torch.tensor([gap for _, _, gap, _ in sample], dtype=torch.int64).cumsum(0)
        t += draw(st.sampled_from(ORIGINS))
        if len(sample) > 1 and draw(st.integers(0, 9)) == 0:
            t[0], t[-1] = MIN_TIME, MAX_TIME
        counts.append(len(sample))
        events += sample
        times.append(t)
    return EventBatch(
        torch.tensor([x for x, _, _, _ in events], dtype=torch.int16),
        torch.tensor([y for _, y, _, _ in events], dtype=torch.int16),
        torch.cat(times),
        torch.tensor([p for _, _, _, p in events], dtype=torch.bool),
        torch.tensor([0, *counts]).cumsum(0),
        (height, width),
    )


def random_batch(
    counts: list[int], size: tuple[int, int], *, seed: int = 0, longest: int = 20, origin: int = 0
) -> EventBatch:
    """Samples of these numbers of events, spread evenly, up to `longest` microseconds apart."""
    generator = torch.Generator().manual_seed(seed)

    def draw(high: int, count: int) -> Tensor:
        return torch.randint(high, (count,), generator=generator)

    events = sum(counts)
    offsets = torch.tensor([0, *counts]).cumsum(0)
    return EventBatch(
        draw(size[1], events).short(),
        draw(size[0], events).short(),
        torch.cat([draw(longest + 1, n).cumsum(0) + origin for n in counts])
        if counts
        else torch.zeros(0, dtype=torch.int64),
        draw(2, events).bool(),
        offsets,
        size,
    )


READINGS = [
    {"time": "delay", "scope": "relative"},
    {"time": "delay", "scope": "fixed"},
    {"time": "log_delay", "scope": "fixed"},
    {"time": "ts", "scope": "relative"},
    {"time": "ts", "scope": "relative", "normalize": "max"},
    {"time": "ts", "scope": "absolute"},
    {"time": "ts", "scope": "absolute", "normalize": "max"},
    {"time": "ts", "scope": "fixed"},
]

FIELDS: list[dict[str, Any]] = [
    {},
    {"kernel_size": 2},
    {"kernel_size": 3},
    {"kernel_size": 5, "stride": 2},
    {"kernel_size": (3, 1)},
    {"kernel_size": (1, 2), "stride": (1, 3), "padding": (1, 0, 0, 2)},
    {"kernel_size": 2, "stride": 2, "padding": (1, 1, 1, 1)},
    {"kernel_size": 1, "stride": 2, "padding": "valid"},
    {"kernel_size": 1, "stride": 3},
    {"kernel_size": 3, "stride": 2, "padding": (2, 0, 1, 1)},
]

CAPS: list[dict[str, Any]] = [
    {},
    *(
        {"max_events": most, "keep": keep}
        for most in (1, 2, 3, 7)
        for keep in ("uniform", "latest")
    ),
]


@st.composite
def options(draw: st.DrawFn, max_bins: int = 4) -> dict[str, Any]:
    """Arguments of MatrixLSTM that say what its cell is fed."""
    made = draw(st.sampled_from(READINGS)) | draw(st.sampled_from(FIELDS))
    return {
        **made,
        **draw(st.sampled_from(CAPS)),
        "bins": draw(st.integers(1, max_bins)),
        "global_time": draw(st.booleans()),
        "polarity": draw(st.sampled_from(["binary", "signed"])),
        "coordinates": draw(st.sampled_from([None, True, False])),
        "time_scale": draw(st.sampled_from([None, 3.0])),
    }


@st.composite
def lengths_with_offsets(
    draw: st.DrawFn, max_sequences: int = 6, max_length: int = 5
) -> tuple[list[int], Tensor]:
    """Lengths of sequences, some of them empty, and where these start and end."""
    lengths = draw(st.lists(st.integers(0, max_length), max_size=max_sequences))
    return lengths, torch.tensor([0, *lengths]).cumsum(0)


def random_weights(
    features: int,
    hidden: int,
    *,
    seed: int = 0,
    bias: bool = True,
    dtype: torch.dtype = torch.float64,
) -> list[Any]:
    """w_ih, w_hh, b_ih and b_hh, as large as torch.nn.LSTM makes them."""
    generator = torch.Generator().manual_seed(seed)
    shapes = [(4 * hidden, features), (4 * hidden, hidden), (4 * hidden,), (4 * hidden,)]
    drawn = [
        ((torch.rand(shape, generator=generator, dtype=torch.float64) * 2 - 1) / hidden**0.5).to(
            dtype
        )
        for shape in shapes
    ]
    return [*drawn] if bias else [*drawn[:2], None, None]
