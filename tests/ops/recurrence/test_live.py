"""The compiled step of a stream agrees with the reference, in place and nowhere else."""

from __future__ import annotations

import pytest
import torch

from evsurf.events import EventBatch
from evsurf.ops.grouping.field import Field
from evsurf.ops.recurrence.live import Memory, Piece, live_step, new_rows, put_rows
from evsurf.ops.recurrence.reading import Reading
from evsurf.ops.recurrence.reference import Cell
from tests.random_events import random_batch
from tests.tolerances import assert_near

SIZE = (6, 9)
READINGS = {
    "log delay": Reading("log_delay", time_scale=10.0),
    "delay": Reading("delay", "fixed", time_scale=7.0, polarity="signed"),
    "timestamp": Reading("ts", "fixed", time_scale=50.0),
    "places": Reading("log_delay", coordinates=True, time_scale=10.0),
}


def cell_of(reading: Reading, hidden: int, dtype: torch.dtype) -> Cell:
    gates = 4 * hidden
    shapes = [(gates, reading.features), (gates, hidden), (gates,), (gates,)]
    return Cell(*(torch.randn(shape, dtype=dtype) * 0.5 for shape in shapes))


def memory_of(cells: int, hidden: int, dtype: torch.dtype) -> Memory:
    """Half of the cells have read something, before time 0."""
    seen = torch.arange(cells) % 2 * 3
    h, c = (torch.randn(1, cells, hidden, dtype=dtype) * (seen > 0)[:, None] for _ in "hc")
    return Memory(h, c, -torch.arange(cells), seen)


def given(reading: Reading, hidden: int = 3, dtype: torch.dtype = torch.float32):
    batch = random_batch([200, 0, 1, 77], SIZE, seed=3)
    field = Field.of(SIZE, 3 if reading.coordinates else 1)
    cells = 4 * field.cells[0] * field.cells[1]
    start = torch.tensor([-3, 0, 5, -1])
    cell, memory = cell_of(reading, hidden, dtype), memory_of(cells, hidden, dtype)
    return batch, field, start, cell, memory


def arguments(reading: Reading, batch: EventBatch, field: Field, start, cell: Cell, memory: Memory):
    events = (batch.x, batch.y, batch.t, batch.p, batch.offsets, start)
    options = (field.numbers(), reading.numbers(), reading.time_scale)
    return (*events, *options, *cell, memory.h[0], memory.c[0], memory.last, memory.seen)


@pytest.mark.parametrize("hidden", [1, 3, 5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("reading", READINGS.values(), ids=READINGS.keys())
def test_the_compiled_step_is_the_reference(reading, dtype, hidden):
    batch, field, start, cell, memory = given(reading, hidden, dtype)
    expected = Memory(*(a.clone() for a in memory))
    live_step(*arguments(reading, batch, field, start, cell, memory))
    piece = Piece.of(batch, start)
    put_rows(expected, new_rows(piece, [cell], field, reading, expected))
    for actual, wanted in zip(memory, expected, strict=True):
        assert_near(actual, wanted)


def test_cells_without_events_are_not_touched():
    reading = READINGS["log delay"]
    batch, field, start, cell, memory = given(reading)
    before = Memory(*(a.clone() for a in memory))
    live_step(*arguments(reading, batch, field, start, cell, memory))
    moved = memory.seen != before.seen
    assert 0 < int(moved.sum()) < len(moved)
    assert torch.equal(memory.h[:, ~moved], before.h[:, ~moved])
    assert torch.equal(memory.c[:, ~moved], before.c[:, ~moved])
    assert torch.equal(memory.last[~moved], before.last[~moved])


def test_a_large_sensor_in_several_tiles_is_the_reference():
    size, reading = (260, 346), READINGS["delay"]
    batch = random_batch([4000], size, seed=5)
    field, start = Field.of(size), torch.tensor([0])
    cell, memory = cell_of(reading, 2, torch.float32), memory_of(260 * 346, 2, torch.float32)
    expected = Memory(*(a.clone() for a in memory))
    live_step(*arguments(reading, batch, field, start, cell, memory))
    put_rows(expected, new_rows(Piece.of(batch, start), [cell], field, reading, expected))
    for actual, wanted in zip(memory, expected, strict=True):
        assert_near(actual, wanted)


def test_memory_that_is_not_contiguous_is_written_all_the_same():
    reading = READINGS["log delay"]
    batch, field, start, cell, memory = given(reading)
    h = memory.h[0].T.contiguous().T
    plain, strided = memory.h[0].clone(), memory._replace(h=h[None])
    copies = [a.clone() for a in memory[1:]]
    live_step(*arguments(reading, batch, field, start, cell, Memory(plain[None], *copies)))
    live_step(*arguments(reading, batch, field, start, cell, strided))
    assert_near(h, plain)


@pytest.mark.plain
def test_the_op_keeps_its_promises_to_torch():
    reading = READINGS["log delay"]
    torch.library.opcheck(live_step, arguments(reading, *given(reading)))
