"""`TonicDataset`: data sets of the library tonic, or any that look like them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, final, runtime_checkable

from torch.utils.data import Dataset

from evsurf.data.datasets.labelled import Transform, checked_index, transformed
from evsurf.data.formats.columns import Size
from evsurf.events import Events
from evsurf.events.checks import check_size


@runtime_checkable
class Indexed(Protocol):
    """A data set: samples by number, each a pair of a structured array and a target."""

    def __len__(self) -> int:
        """Number of samples."""

    def __getitem__(self, index: int, /) -> Any:
        """One sample."""


@final
class TonicDataset(Dataset[tuple[Any, Any]]):
    """The same samples with `Events` in place of structured arrays.

    ```python
    data = TonicDataset(tonic.datasets.DVSGesture("data", train=True))
    ```

    Wraps whatever has a length and gives pairs of a structured array and a target. The size comes
    from its `sensor_size`, which is (width, height, polarities), unless it is given; the events are
    sorted by time. Times are taken as microseconds. A list or tuple of events, as a slicer of
    tonic's may give, becomes a list of `Events`.
    """

    def __init__(
        self,
        dataset: Indexed,
        *,
        size: Size | None = None,
        transform: Transform | None = None,
        target_transform: Transform | None = None,
    ) -> None:
        self.dataset = dataset
        self.size = _size_of(dataset) if size is None else check_size(size)
        self.classes: Sequence[str] = tuple(str(n) for n in getattr(dataset, "classes", None) or ())
        """Names of the classes, as far as the data set says them."""
        self.transform = transform
        self.target_transform = target_transform

    @property
    def class_to_idx(self) -> dict[str, int]:
        """The number of each class by its name."""
        return {name: i for i, name in enumerate(self.classes)}

    def __len__(self) -> int:
        return len(self.dataset)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        sample = self.dataset[checked_index(index, len(self))]
        if not isinstance(sample, tuple | list) or len(sample) != 2:
            raise TypeError(
                f"sample {index} must be a pair of a structured array and a target, got "
                f"{type(sample).__qualname__}"
            )
        events, target = sample
        converted = (
            [self._events(part) for part in events]
            if isinstance(events, tuple | list)
            else self._events(events)
        )
        return transformed(converted, target, self.transform, self.target_transform)

    def _events(self, array: Any) -> Events:
        return Events.from_numpy(array, self.size, sort=True)

    def __repr__(self) -> str:
        inner, size = type(self.dataset).__name__, "{}x{}".format(*self.size)
        count = f"{len(self):,} recordings of {len(self.classes)} classes"
        return f"TonicDataset({inner}: {count}, {size})"


def _size_of(dataset: Indexed) -> Size:
    sensor = getattr(dataset, "sensor_size", None)
    if not isinstance(sensor, tuple | list) or len(sensor) < 2 or None in tuple(sensor[:2]):
        raise ValueError(
            f"size must be given as (height, width): sensor_size of {type(dataset).__name__} is "
            f"{sensor!r} and does not say it"
        )
    width, height = (int(side) for side in sensor[:2])
    return check_size((height, width))
