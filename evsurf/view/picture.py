"""One sheet that shows what a surface makes of a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Float
from torch import Tensor

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


def surface_picture(surface: Surface, events: Events) -> Figure:
    """Events, their counts, the surface's channels, and the liveliest channel as it grows.

    Of more than three channels the three with most shades are shown. The sign of a learned channel
    is chance: each is shown so that ON is as warm as in the picture of the events.
    """
    with torch.inference_mode():
        image = surface(events)[0]
        signs = _signs(image, events)
        image = image * signs[:, None, None]
        active = event_counts(events) > 0
        lively = sorted(range(len(image)), key=lambda c: -_variety(image[c], active))
        best, largest = lively[0], largest_value(image[lively[0]])
        grown = [
            Panel(title, channel_colours(surface(part)[0, best] * signs[best], largest))
            for title, part in _beginnings(events)
        ]
    milliseconds = round(events.duration / 1000)
    return sheet(
        [
            [
                Panel(f"{len(events):,} events, {milliseconds} ms", event_colours(events)),
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
    """1, or -1 for channels that are lower where the latest event is ON."""
    latest = torch.zeros(events.size)
    # Of several writes to one place any may stay, hence not one for all.
    for polarity in (False, True):
        chosen = events[events.p == polarity]
        latest[chosen.y.long(), chosen.x.long()] += 1 if polarity else -1
    agreement = (image * latest.to(image)).sum((1, 2))
    return torch.where(agreement < 0, -1.0, 1.0)


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
        parts.append((f"after {elapsed / 1000:.0f} ms", events.between(start, start + elapsed + 1)))
    return parts
