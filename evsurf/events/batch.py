"""`EventBatch`: several recordings packed one after the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, pairwise
from typing import Any, ClassVar, TypeAlias, final, overload

import numpy.typing as npt
import torch
from jaxtyping import Bool, Int16, Int64
from torch import Tensor

from evsurf.events.bundle import TensorBundle
from evsurf.events.checks import (
    check_fields,
    check_integer,
    check_offsets,
    check_offsets_shape,
    check_size,
    check_values,
)
from evsurf.events.ragged import last_times, places_before, since_first, stretches
from evsurf.events.recording import Events
from evsurf.events.windows import Source, Stamps, Unit, Windows, rule_of

Selection: TypeAlias = slice | Sequence[int] | Tensor | npt.NDArray[Any]
"""What picks several samples of a batch."""


@final
class EventBatch(TensorBundle):
    """Recordings of one sensor size, packed along the first axis; nothing is padded.

    Sample i is the events from `offsets[i]` up to `offsets[i + 1]`, sorted by its own times.
    `pack` makes a batch of recordings; the constructor takes tensors of exactly these types and
    shares their memory. With `validate=False` only types and shapes are checked. Validating a batch
    on a GPU waits for it.

    `batch[i]` is a recording (`Events`); a slice, a list of sample numbers or a mask over the
    samples gives a batch in that order. Instances do not change, compare by value, and are unequal
    on different devices.
    """

    FIELDS: ClassVar[tuple[str, ...]] = ("x", "y", "t", "p", "offsets")

    x: Int16[Tensor, "events"]
    """Columns, from 0 at the left."""
    y: Int16[Tensor, "events"]
    """Rows, from 0 at the top."""
    t: Int64[Tensor, "events"]
    """Times in microseconds, sorted within each sample."""
    p: Bool[Tensor, "events"]
    """Polarities: True where the pixel became brighter."""
    offsets: Int64[Tensor, "offsets"]
    """Where each sample starts, and at last the number of events: one entry more than samples."""

    def __init__(
        self,
        x: Int16[Tensor, "events"],
        y: Int16[Tensor, "events"],
        t: Int64[Tensor, "events"],
        p: Bool[Tensor, "events"],
        offsets: Int64[Tensor, "offsets"],
        size: tuple[int, int],
        *,
        validate: bool = True,
    ) -> None:
        size = check_size(size)
        check_fields({"x": x, "y": y, "t": t, "p": p, "offsets": offsets})
        check_offsets_shape(offsets)
        if validate:
            check_offsets(offsets, len(t))
            check_values(x, y, t, size, offsets=offsets)
        self._set(x, y, t, p, offsets, size=size)

    @classmethod
    def pack(cls, events: Iterable[Events], size: tuple[int, int] | None = None) -> EventBatch:
        """One batch of the recordings, which must agree in size and device.

        `size` is needed only for a batch of none. One recording alone is shared, not copied.
        """
        if isinstance(events, Events):
            raise TypeError("events must be a list of Events: EventBatch.pack([events])")
        samples = list(events)
        size = _common_size(samples, size)
        parts = samples or [Events.empty(size)]
        x, y, t, p = (_joined([getattr(part, name) for part in parts]) for name in Events.FIELDS)
        offsets = _offsets((len(sample) for sample in samples), t.device)
        return cls(x, y, t, p, offsets, size, validate=False)

    def unpack(self) -> list[Events]:
        """The recordings, as views of the batch."""
        return list(self)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def num_events(self) -> int:
        """Number of events in all samples together."""
        return len(self.t)

    @property
    def lengths(self) -> Int64[Tensor, "samples"]:
        """Number of events in each sample."""
        return self.offsets.diff()

    def __iter__(self) -> Iterator[Events]:
        # All borders cross to the host at once; asking sample by sample would wait for each.
        borders = self.offsets.tolist()
        for start, stop in pairwise(borders):
            yield self._sample(start, stop)

    @overload
    def __getitem__(self, index: int) -> Events: ...
    @overload
    def __getitem__(self, index: Selection) -> EventBatch: ...
    def __getitem__(self, index: int | Selection) -> Events | EventBatch:
        """One recording for an int; a batch for a slice, sample numbers or a mask over samples."""
        if isinstance(index, slice):
            numbers = range(len(self))[index]
            if numbers.step == 1:
                return self._range(numbers.start, max(numbers.start, numbers.stop))
            return self._selection(numbers)
        if _is_vector(index):
            return self._selection(_sample_numbers(index, len(self)))
        number = _sample_number(check_integer("index", index, "a sample's number"), len(self))
        start, stop = self.offsets[number : number + 2].tolist()
        return self._sample(start, stop)

    def _sample(self, start: int, stop: int) -> Events:
        x, y, t, p = (getattr(self, name)[start:stop] for name in Events.FIELDS)
        return Events(x, y, t, p, self.size, validate=False)

    def _range(self, start: int, stop: int) -> EventBatch:
        """Neighbouring samples, whose events are one piece of this batch's memory."""
        offsets = self.offsets[start : stop + 1]
        first, last = offsets[[0, -1]].tolist()
        fields = (getattr(self, name)[first:last] for name in Events.FIELDS)
        return self._rebuilt(*fields, offsets - first)

    def _selection(self, numbers: Sequence[int]) -> EventBatch:
        """The samples of these numbers, in this order."""
        if not numbers:
            return self._range(0, 0)
        lengths = self.lengths.tolist()
        fields = (getattr(self, name).split(lengths) for name in Events.FIELDS)
        chosen = (_joined([pieces[i] for i in numbers]) for pieces in fields)
        return self._rebuilt(*chosen, _offsets((lengths[i] for i in numbers), self.device))

    def _rebuilt(self, *tensors: Tensor) -> EventBatch:
        x, y, t, p, offsets = tensors
        return EventBatch(x, y, t, p, offsets, self.size, validate=False)

    def windows(
        self,
        *,
        duration: int | None = None,
        count: int | None = None,
        at: Stamps | None = None,
        stride: int | None = None,
        start: int | None = None,
        partial: bool | None = None,
    ) -> Windows[EventBatch]:
        """Window by window, the batch of that window of every sample.

        The arguments are those of `Events.windows`, but times count from the first event of each
        sample. There are as many windows as the longest sample has, in the rest of which the
        others are empty. `EventBatch.pack(part for window in windows for part in window)` makes
        one batch of them all.
        """
        rule = rule_of(
            duration=duration, count=count, at=at, stride=stride, start=start, partial=partial
        )
        return Windows(_Stretches(self, whole=not rule.partial), rule)

    def __repr__(self) -> str:
        events = f"{self.num_events:,} event{'' if self.num_events == 1 else 's'}"
        height, width = self.size
        return f"EventBatch({_samples(len(self))}, {events}, {height}x{width}, {self.device})"


class _Stretches(Source[EventBatch]):
    """A batch as the source of windows, each sample with its own beginning."""

    def __init__(self, batch: EventBatch, *, whole: bool) -> None:
        self._batch = batch
        self._whole = whole
        # The longest recording of all would need one microsecond more than 64 bits to end in.
        self._times = since_first(batch.t, batch.offsets).clamp_(max=2**63 - 2)

    def extent(self, unit: Unit) -> tuple[int, int]:
        if not self._batch.num_events:
            return 0, 0
        if unit == "count":
            return 0, int(self._batch.lengths.max())
        return 0, int(self._times.max()) + 1

    def parts(self, unit: Unit, bounds: Int64[Tensor, "2 windows"]) -> Iterator[EventBatch]:
        batch = self._batch
        bounds = bounds.to(batch.device)
        if unit == "time":
            borders = self._times_to_places(bounds)
        else:
            ends = batch.offsets[1:]
            borders = [torch.minimum(batch.offsets[:-1] + b[:, None], ends) for b in bounds]
        if self._whole:
            # What is not partial in the longest sample may be so in others, and is not theirs then.
            last = last_times(self._times, batch.offsets) + 1
            own = torch.where(batch.lengths > 0, last if unit == "time" else batch.lengths, 0)
            borders[1] = torch.where(bounds[1][:, None] > own, borders[0], borders[1])
        for starts, stops in zip(*borders, strict=True):
            kept, offsets = stretches(starts, stops)
            fields = (getattr(batch, name).index_select(0, kept) for name in Events.FIELDS)
            yield batch._rebuilt(*fields, offsets)

    def _times_to_places(self, bounds: Int64[Tensor, "2 windows"]) -> list[Tensor]:
        """Where each of the windows starts and stops in each sample: two of [windows, samples]."""
        targets = bounds.reshape(-1).expand(len(self._batch), -1)
        places = places_before(self._times, self._batch.offsets, targets)
        return list(places.t().reshape(2, bounds.shape[1], len(self._batch)))

    def __repr__(self) -> str:
        return repr(self._batch)


def _samples(count: int) -> str:
    return f"{count:,} sample{'' if count == 1 else 's'}"


def _offsets(lengths: Iterable[int], device: torch.device) -> Int64[Tensor, "offsets"]:
    return torch.tensor(list(accumulate(lengths, initial=0)), device=device)


def _joined(parts: list[Tensor]) -> Tensor:
    return parts[0] if len(parts) == 1 else torch.cat(parts)


def _common_size(samples: list[Events], size: tuple[int, int] | None) -> tuple[int, int]:
    """The size of every sample; raises where one differs in kind, size or device."""
    for i, sample in enumerate(samples):
        if not isinstance(sample, Events):
            raise TypeError(f"events[{i}] must be Events, got {type(sample).__qualname__}")
    if size is not None:
        size = check_size(size)
    elif not samples:
        raise ValueError(
            "size is needed to pack no events: EventBatch.pack([], size=(height, width))"
        )
    wanted, source = (samples[0].size, "events[0]") if size is None else (size, "size")
    for i, sample in enumerate(samples):
        if sample.size != wanted:
            raise ValueError(
                f"events[{i}] has size {sample.size}, but {source} is {wanted}: samples of a batch "
                "share one sensor size. Events.crop cuts a part of a sensor."
            )
        if sample.device != samples[0].device:
            raise ValueError(
                f"events[{i}] is on {sample.device}, but events[0] on {samples[0].device}: "
                "move them with Events.to, or pack first and move the batch"
            )
    return wanted


def _is_vector(index: object) -> bool:
    sequence = isinstance(index, Sequence) and not isinstance(index, str)
    return sequence or getattr(index, "ndim", 0) > 0


def _sample_numbers(index: object, count: int) -> list[int]:
    """Sample numbers counted from the front, of a list, an array or a mask over the samples."""
    empty = isinstance(index, Sequence) and not index
    numbers = torch.as_tensor(index, dtype=torch.int64 if empty else None)
    shape = tuple(numbers.shape)
    if numbers.dtype == torch.bool:
        if shape != (count,):
            raise ValueError(
                f"a mask over {_samples(count)} must have shape ({count},), got {shape}"
            )
        return numbers.nonzero().squeeze(1).tolist()
    if numbers.is_floating_point() or numbers.is_complex() or numbers.ndim != 1:
        raise TypeError(
            f"a batch is indexed by an int, a slice, a list of ints or a mask of bools, "
            f"got values of dtype {numbers.dtype} and shape {shape}"
        )
    return [_sample_number(number, count) for number in numbers.tolist()]


def _sample_number(number: int, count: int) -> int:
    """The number counted from the front, when a negative one counts from the end."""
    if not -count <= number < count:
        raise IndexError(f"batch[{number}] does not exist: the batch has {_samples(count)}")
    return number % count
