"""What the tests of transforms share: every transform there is, and whether events are legal."""

from __future__ import annotations

from evsurf.data import transforms
from evsurf.events import EventBatch, Events

EVERY = [
    transforms.HorizontalFlip(),
    transforms.HorizontalFlip(within="cloud"),
    transforms.VerticalFlip(),
    transforms.VerticalFlip(within="cloud"),
    transforms.Crop(1, -1, 3, 3),
    transforms.CentreCrop(2, 3),
    transforms.CentreCrop(3, 2, within="cloud"),
    transforms.RandomCrop(2, 2),
    transforms.RandomCrop(6, 6),
    transforms.ExtendRandomCrop(2, 2),
    transforms.ExtendRandomCrop(5, 5),
    transforms.Rotate(-180, 180),
    transforms.Shear(0.5, 0.5),
    transforms.Downscale(2),
    transforms.Downscale(3, dedup=True),
    transforms.SpatialJitter(1),
    transforms.TimeWindow(1, 5),
    transforms.RandomTimeWindow(2, 10),
    transforms.RandomTimeWindow(2, 10, random_start=True),
    transforms.RemoveOffset(),
    transforms.TimeJitter(5),
    transforms.TimeReversal(),
    transforms.PolarityFlip(),
    transforms.DropEvents(0.5),
    transforms.DropEvents((0.0, 1.0)),
    transforms.DropTime(),
    transforms.DropArea(),
    transforms.event_drop(),
    transforms.MaxEvents(3),
    transforms.MaxEvents(2, keep="latest"),
    transforms.MaxEvents(2, keep="earliest"),
    transforms.BackgroundNoise(20_000.0),
    transforms.Identity(),
    transforms.RandomApply(transforms.TimeReversal(1.0)),
    transforms.OneOf([transforms.RemoveOffset(), transforms.MaxEvents(1)], weights=[1, 3]),
    transforms.Compose([transforms.DropEvents(0.2), transforms.RandomCrop(2, 2)]),
]


def checked(events: Events | EventBatch) -> None:
    """Raises unless these are legal."""
    fields = {name: getattr(events, name) for name in events.FIELDS}
    type(events)(**fields, size=events.size, validate=True)
