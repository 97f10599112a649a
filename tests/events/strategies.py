"""Random recordings for properties."""

import torch
from hypothesis import strategies as st

from evsurf.events import Events

MAX_TIME = 2**62
MIN_TIME = -(2**62) + 1


@st.composite
def recordings(
    draw: st.DrawFn, size: tuple[int, int] | None = None, max_events: int = 20
) -> Events:
    """Events of a small sensor, with ties and with times from the whole legal range."""
    height, width = draw(st.tuples(st.integers(1, 5), st.integers(1, 5))) if size is None else size
    time = st.integers(0, 9) | st.integers(MIN_TIME, MAX_TIME)
    rows = draw(
        st.lists(
            st.tuples(st.integers(0, width - 1), st.integers(0, height - 1), time, st.booleans()),
            max_size=max_events,
        )
    )
    x, y, t, p = zip(*rows, strict=True) if rows else ((), (), (), ())
    return Events(
        torch.tensor(x, dtype=torch.int16),
        torch.tensor(y, dtype=torch.int16),
        torch.tensor(sorted(t), dtype=torch.int64),
        torch.tensor(p, dtype=torch.bool),
        (height, width),
    )
