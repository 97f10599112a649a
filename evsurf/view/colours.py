"""Numbers to colours: one palette for everything, readable by the colour-blind and in grey.

Nothing is dark, brighter (ON, positive) is warm and light, darker (OFF, negative) is blue and not
as light. So the two differ in hue, and in lightness where there is no hue.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from jaxtyping import Float
from torch import Tensor

from evsurf.events import Events

Colours = npt.NDArray[np.float64]

NOTHING = (0.055, 0.067, 0.090)
ON = (1.000, 0.690, 0.130)
OFF = (0.220, 0.480, 0.860)
TEXT = (0.900, 0.910, 0.925)

# From -1 through 0 to 1, at equal distances.
_SCALE = np.array(
    [
        (0.560, 0.790, 1.000),
        OFF,
        (0.110, 0.230, 0.430),
        NOTHING,
        (0.480, 0.190, 0.060),
        ON,
        (1.000, 0.960, 0.800),
    ]
)


def event_colours(events: Events) -> Colours:
    """An image [height, width, 3] of each pixel's latest event, ON or OFF."""
    image = np.tile(np.array(NOTHING), (*events.size, 1))
    y, x = events.y.long().cpu().numpy(), events.x.long().cpu().numpy()
    # Events are sorted by time, and of numpy's writes to one place the last one stays.
    image[y, x] = np.where(events.p.cpu().numpy()[:, None], ON, OFF)
    return image


def channel_colours(
    channel: Float[Tensor, "height width"], largest: float | None = None
) -> Colours:
    """An image [height, width, 3] of one channel of a surface; 0 is dark.

    `largest` is the absolute value that gets the strongest colour. By default it is the channel's
    own, but for the thousandth part of its pixels that is farthest out.
    """
    values = channel.detach().to("cpu", torch.float64).numpy()
    _check_colourable(values, largest)
    largest = largest_value(channel) if largest is None else largest
    scaled = np.clip(values / largest, -1, 1) if largest > 0 else np.zeros_like(values)
    places = np.linspace(-1, 1, len(_SCALE))
    return np.stack([np.interp(scaled, places, _SCALE[:, k]) for k in range(3)], axis=-1)


def largest_value(channel: Float[Tensor, "*shape"]) -> float:
    """The absolute value that 0.1% of the numbers other than 0 exceed; 0 where all are 0."""
    values = channel.detach().abs().flatten().to("cpu", torch.float64).numpy()
    values = values[values > 0]
    return float(np.quantile(values, 0.999, method="higher")) if len(values) else 0.0


def _check_colourable(values: npt.NDArray[np.float64], largest: float | None) -> None:
    if values.ndim != 2:
        raise ValueError(f"channel must be [height, width], not {list(values.shape)}")
    strange = np.argwhere(~np.isfinite(values))
    if len(strange):
        i, j = strange[0]
        raise ValueError(f"channel[{i}, {j}] = {values[i, j]} has no colour: it must be finite")
    if largest is not None and not 0 <= largest < np.inf:
        raise ValueError(f"largest = {largest!r} must be finite and not negative, or None")
