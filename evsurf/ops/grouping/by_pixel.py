"""Events to one sequence per pixel, or per receptive field."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from evsurf.ops.grouping.field import Field, Pair
from evsurf.ops.grouping.op import group
from evsurf.ops.packed import PackedEvents, check_packed


@dataclass(frozen=True)
class Groups:
    """Sequences of events, one for every (sample, cell) that has any, in raster order.

    Sequence s holds the events order[offsets[s]:offsets[s + 1]] of the packed batch, in stream
    order. Nothing is padded.
    """

    order: Int64[Tensor, "grouped"]
    """Indices into the packed events; an event stands once for every cell that sees it."""
    offsets: Int64[Tensor, "sequences_and_1"]
    """Where the sequences start in `order`, and where the last one ends."""
    cell: Int64[Tensor, "sequences"]
    """Index of each sequence's cell within [samples, rows, columns]."""
    samples: int
    """Samples in the batch."""
    cells: Pair
    """Rows and columns of the output."""

    def __len__(self) -> int:
        return len(self.cell)

    def __repr__(self) -> str:
        rows, columns = self.cells
        return (
            f"Groups({len(self):,} sequences of {len(self.order):,} events, "
            f"{self.samples} x {rows}x{columns} cells, {self.cell.device})"
        )

    @property
    def lengths(self) -> Int64[Tensor, "sequences"]:
        """Events in every sequence."""
        return self.offsets.diff()

    @property
    def position(
        self,
    ) -> tuple[Int64[Tensor, "sequences"], Int64[Tensor, "sequences"], Int64[Tensor, "sequences"]]:
        """Sample, row and column of every sequence."""
        rows, columns = self.cells
        return (
            self.cell // (rows * columns),
            self.cell // columns % rows,
            self.cell % columns,
        )

    def padded(
        self, values: Float[Tensor, "events features"]
    ) -> tuple[Float[Tensor, "sequences longest features"], Int64[Tensor, "sequences"]]:
        """The sequences as one zero-padded tensor, the paper's P x T x F, and their lengths.

        For teaching and tests: one hot pixel makes it enormous. Differentiable in `values`.
        """
        needed = int(self.order.max()) + 1 if len(self.order) else 0
        if len(values) < needed:
            raise ValueError(
                f"values must have one row per event of the batch, at least {needed}, "
                f"not {len(values)}"
            )
        lengths = self.lengths
        longest = int(lengths.max()) if len(self) else 0
        step = torch.arange(longest, device=lengths.device)
        valid = step < lengths[:, None]
        place = (self.offsets[:-1, None] + step).clamp(max=max(len(self.order) - 1, 0))
        if len(self.order) == 0:
            return values.new_zeros(len(self), longest, values.shape[1]), lengths
        taken = values[self.order[place]]
        return torch.where(valid[..., None], taken, torch.zeros_like(taken)), lengths


def group_by_pixel(
    batch: PackedEvents,
    *,
    kernel_size: int | Pair = 1,
    stride: int | Pair = 1,
    padding: str | tuple[int, int, int, int] = "same",
    max_events: int | None = None,
    keep: str = "uniform",
) -> Groups:
    """Groups the events of every sample by the pixel, or the receptive fields, that they fall in.

    With a field larger than its stride an event belongs to several cells and is listed for each.
    `max_events` caps a sequence: `keep="latest"` takes its last events, `"uniform"` spreads them
    over all, first and last included.

    >>> import evsurf as es
    >>> events = es.Events.from_arrays([0, 1, 0], [0, 0, 0], [5, 6, 9], [1, 0, 1], size=(2, 2))
    >>> groups = es.ops.group_by_pixel(es.EventBatch.pack([events]))
    >>> groups.order.tolist(), groups.offsets.tolist(), groups.cell.tolist()
    ([0, 2, 1], [0, 2, 3], [0, 1])
    """
    check_packed(batch)
    field = Field.of(batch.size, kernel_size, stride, padding)
    most, latest = check_cap(max_events, keep)
    order, offsets, cell, counts = group(
        batch.x, batch.y, batch.offsets, field.numbers(), most, latest
    )
    sequences, kept = counts.tolist()
    return Groups(
        order[:kept],
        offsets[: sequences + 1],
        cell[:sequences],
        len(batch.offsets) - 1,
        field.cells,
    )


def check_cap(max_events: int | None, keep: str) -> tuple[int, bool]:
    """The cap as the op takes it: most events of a sequence (0: all), and whether the latest."""
    if keep not in ("uniform", "latest"):
        raise ValueError(f'keep must be "uniform" or "latest", not {keep!r}')
    if max_events is None:
        return 0, keep == "latest"
    if isinstance(max_events, bool) or not isinstance(max_events, int):
        raise TypeError(f"max_events must be an int or None, not {max_events!r}")
    if max_events < 1:
        raise ValueError(f"max_events must be at least 1, or None for no cap, not {max_events}")
    # No field has as many events as this, so a larger cap is none.
    return min(max_events, 2**32), keep == "latest"
