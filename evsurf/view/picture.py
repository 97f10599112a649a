"""One sheet that shows what a surface makes of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional

from evsurf.events import Events
from evsurf.surfaces import Surface
from evsurf.view.colours import channel_colours, event_colours, largest_value
from evsurf.view.sheet import Panel, sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Image = Float[Tensor, "height width"]

_CHANNELS = 3
_MOMENTS = 4
_SHADES = 32
# Of a unit of time, so that the moments' numbers differ clearly: a quarter is five.
_ENOUGH = 20


def surface_picture(surface: Surface, events: Events) -> Figure:
    """Events, their counts, the surface's channels, and the liveliest channel as it grows.

    Of more than three channels the three with most shades are shown. The sign of a learned channel
    is chance: each is shown so that ON is as warm as in the picture of the events.
    """
    if not isinstance(events, Events):
        raise TypeError(f"events must be Events, one recording, not {type(events).__qualname__}")
    with torch.inference_mode():
        image = surface(events)[0]
        _check_finite(image)
        signs = _signs(image, events)
        image = image * signs[:, None, None]
        active = _shrunk(event_counts(events), image) > 0
        lively = sorted(range(len(image)), key=lambda c: -_variety(image[c], active))
        best, largest = lively[0], largest_value(image[lively[0]])
        grown = [
            Panel(title, channel_colours(surface(part)[0, best] * signs[best], largest))
            for title, part in _beginnings(events)
        ]
    number = f"{len(events):,} event{'' if len(events) == 1 else 's'}"
    length = _readable(events.duration, events.duration)
    return sheet(
        [
            [
                Panel(f"{number}, {length}", event_colours(events)),
                Panel(f"learned surface, channel {best + 1}", channel_colours(image[best])),
            ],
            [
                Panel("event count", channel_colours(event_counts(events))),
                *(
                    Panel(f"channel {c + 1}", channel_colours(image[c]))
                    for c in sorted(lively[:_CHANNELS])
                ),
            ],
            grown,
        ]
    )


def event_counts(events: Events) -> Image:
    """How many events each pixel has."""
    height, width = events.size
    pixel = events.y.long() * width + events.x.long()
    return torch.bincount(pixel, minlength=height * width).view(height, width).float()


def _signs(image: Float[Tensor, "channels height width"], events: Events) -> Tensor:
    """1, or -1 for channels that are lower where pixels became brighter than where darker.

    Where neither or only one happened, what is missing counts as zero.
    """
    way = torch.zeros(events.size, device=events.device)
    # Of several writes to one place any may stay, hence not one for all.
    for polarity in (False, True):
        chosen = events[events.p == polarity]
        way[chosen.y.long(), chosen.x.long()] += 1 if polarity else -1
    way = _shrunk(way, image)
    # Means and not sums: there may be more of one than of the other.
    lighter, darker = (_mean(image, weights.clamp(min=0)) for weights in (way, -way))
    return torch.where(lighter < darker, -1.0, 1.0)


def _mean(
    image: Float[Tensor, "channels rows columns"], weights: Float[Tensor, "rows columns"]
) -> Float[Tensor, "channels"]:
    """Each channel's weighted mean, zero where nothing has any weight."""
    total = weights.sum()
    return (image * weights).sum((1, 2)) / torch.where(total > 0, total, 1.0)


def _shrunk(pixels: Image, image: Float[Tensor, "channels rows columns"]) -> Tensor:
    """Means of the pixels at each place of an image, which may have fewer of them."""
    rows, columns = image.shape[1:]
    return functional.adaptive_avg_pool2d(pixels[None].to(image), (rows, columns))[0]


def _variety(channel: Image, active: Bool[Tensor, "height width"]) -> float:
    """Entropy of the active pixels' values: high where there are many shades."""
    values, largest = channel[active], largest_value(channel)
    if largest == 0:
        return 0.0
    counts = torch.histc(values.float() / largest, bins=_SHADES, min=-1, max=1)
    return float(torch.special.entr(counts / counts.sum()).sum())


def _beginnings(events: Events) -> list[tuple[str, Events]]:
    """The events of the first quarter of the time, of the first half, and so on."""
    start = int(events.t[0]) if len(events) else 0
    parts = []
    for k in range(1, _MOMENTS + 1):
        elapsed = events.duration * k // _MOMENTS
        title = f"after {_readable(elapsed, events.duration)}"
        parts.append((title, events.between(start, start + elapsed + 1)))
    return parts


def _readable(microseconds: int, longest: int) -> str:
    """A time in the largest unit of which the longest beside it has enough."""
    for unit, name in ((1_000_000, "s"), (1000, "ms")):
        if longest >= _ENOUGH * unit:
            return f"{microseconds / unit:,.0f} {name}"
    return f"{microseconds:,} us"


def _check_finite(image: Float[Tensor, "channels rows columns"]) -> None:
    strange = (~image.isfinite()).nonzero()
    if len(strange):
        place = strange[0].tolist()
        raise ValueError(
            f"surface gives {float(image[tuple(place)])} at channel {place[0]}, row {place[1]}, "
            f"column {place[2]}, which has no colour. Likely its weights are not finite"
        )
