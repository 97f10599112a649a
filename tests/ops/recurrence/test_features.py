import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from evsurf.events import EventBatch, Events
from evsurf.ops.grouping import reference as grouping
from evsurf.ops.grouping.bins import window_offsets
from evsurf.ops.grouping.field import Field
from evsurf.ops.recurrence.features import Sequences, delays, event_features
from evsurf.ops.recurrence.reading import Reading
from tests import naive
from tests.random_events import event_batches, options
from tests.tolerances import assert_near

A = Events.from_arrays(
    [0, 1, 0, 0, 1], [0, 0, 0, 0, 1], [1000, 1010, 1030, 1100, 1100], [1, 0, 1, 0, 1], (2, 2)
)
B = Events.from_arrays([1, 1], [0, 0], [500, 700], [0, 1], (2, 2))
BATCH = EventBatch.pack([A, B])


def read(
    batch: EventBatch, reading: Reading, field: Field | None = None, bins: int = 1
) -> tuple[Tensor, Sequences]:
    """Features and sequences of a batch, without a cap."""
    field = field or Field.of(batch.size)
    windows = window_offsets(batch.t, batch.offsets, bins)
    groups = grouping.group(batch.x, batch.y, windows, field, most=0, latest=False)
    sequences = Sequences(*groups, windows, batch.offsets)
    return event_features(batch.x, batch.y, batch.t, batch.p, sequences, field, reading), sequences


# Sequences: A (0, 0) at 1000, 1030, 1100; A (0, 1) at 1010; A (1, 1) at 1100; B (0, 1) at 500, 700.
@pytest.mark.parametrize(
    ("reading", "expected"),
    [
        (Reading("ts", "absolute"), [0, 0.3, 1, 0.1, 1, 0, 1]),
        (Reading("ts", "relative"), [0, 0.3, 1, 0, 0, 0, 1]),
        (Reading("delay", "relative"), [0, 30 / 70, 1, 0, 0, 0, 1]),
        (Reading("ts", "fixed", time_scale=10.0), [0, 3, 10, 1, 10, 0, 20]),
        (Reading("delay", "fixed", time_scale=10.0), [0, 3, 7, 0, 0, 0, 20]),
        (
            Reading("log_delay", "fixed", time_scale=10.0),
            [0, math.log(4), math.log(8), 0, 0, 0, math.log(21)],
        ),
        (
            Reading("ts", "absolute", "max"),
            [1000 / 1100, 1030 / 1100, 1, 1010 / 1100, 1, 5 / 7, 1],
        ),
        (Reading("ts", "relative", "max"), [1000 / 1100, 1030 / 1100, 1, 1, 1, 5 / 7, 1]),
    ],
)
def test_times_are_scaled_as_named(reading, expected, device):
    features, _ = read(BATCH.to(device), reading)
    assert features.shape == (7, 2)
    assert_near(features[:, 1], torch.tensor(expected, dtype=torch.float64))
    assert features[:, 0].tolist() == [1, 1, 0, 0, 1, 0, 1]


def test_signed_polarities_are_minus_one_and_one():
    features, _ = read(BATCH, Reading(polarity="signed"))
    assert features[:, 0].tolist() == [1, 1, -1, -1, 1, -1, 1]


def test_global_time_is_that_of_the_whole_sample():
    sample = Events.from_arrays([0] * 5, [0] * 5, [0, 10, 60, 80, 100], [1] * 5, (1, 1))
    features, _ = read(
        EventBatch.pack([sample]), Reading("ts", "absolute", global_time=True), bins=2
    )
    expected = [[0.0, 0.0], [0.1, 1.0], [0.6, 0.0], [0.8, 0.5], [1.0, 1.0]]
    assert_near(features[:, 1:], torch.tensor(expected, dtype=torch.float64))


def test_places_run_from_the_fields_top_left_to_its_bottom_right():
    one = Events.from_arrays([1], [1], [0], [1], (3, 3))
    features, sequences = read(
        EventBatch.pack([one]), Reading(coordinates=True), Field.of((3, 3), 3)
    )
    places = dict(zip(sequences.cell.tolist(), features[:, 1:3].tolist(), strict=True))
    assert places[0] == [1, 1]  # cell (0, 0)
    assert places[4] == [0.5, 0.5]  # cell (1, 1)
    assert places[8] == [0, 0]  # cell (2, 2)
    assert places[2] == [0, 1]  # row 0, column 2: the column comes first


def test_places_in_a_field_of_one_pixel_are_zero():
    features, _ = read(BATCH, Reading(coordinates=True))
    assert not features[:, 1:3].any()


def test_a_range_without_duration_is_zero():
    tied = Events.from_arrays([0, 0, 1], [0, 0, 0], [9, 9, 9], [1, 0, 1], (1, 2))
    for reading in (Reading("ts", "absolute"), Reading("ts"), Reading("delay")):
        features, _ = read(EventBatch.pack([tied]), Reading(reading.time, reading.scope))
        assert features[:, 1].tolist() == [0, 0, 0]


def test_the_largest_time_of_zero_divides_by_one():
    start = Events.from_arrays([0, 0], [0, 0], [-3, 0], [1, 0], (1, 1))
    features, _ = read(EventBatch.pack([start]), Reading("ts", "absolute", "max"))
    assert features[:, 1].tolist() == [-3, 0]


def test_delays_start_anew_with_every_sequence():
    t, offsets = torch.tensor([5, 9, 2, 2, 100]), torch.tensor([0, 2, 2, 4, 5, 5])
    assert delays(t, offsets).tolist() == [0, 4, 0, 0, 0]
    none = torch.zeros(0, dtype=torch.int64)
    assert delays(none, torch.tensor([0])).tolist() == []
    assert delays(none, torch.tensor([0, 0])).tolist() == []


@given(event_batches(), options())
def test_features_are_those_of_the_definition(batch, arguments):
    reads = naive.Options(**arguments | {"max_events": None})
    rows, columns = naive.axes(batch.size, reads)
    if rows.cells < 1 or columns.cells < 1:
        return
    field = Field.of(batch.size, reads.kernel_size, reads.stride, reads.padding)
    reading = Reading(
        reads.time, reads.scope, reads.normalize, reads.global_time, reads.with_coordinates,
        reads.polarity, reads.scale,
    )  # fmt: skip
    features, _ = read(batch, reading, field, reads.bins)
    expected = [
        vector
        for sample in naive.samples(batch)
        for part in naive.bin_indices([e.t for e in sample], reads.bins)
        for window in [[sample[k] for k in part]]
        for i, j, seen in naive.sequences(window, batch.size, reads)
        for vector in naive.features(window, sample, (i, j), seen, batch.size, reads)
    ]
    assert_near(features, torch.tensor(expected, dtype=torch.float64).reshape(-1, reading.features))


@given(event_batches(), st.sampled_from([Reading("ts", "absolute"), Reading("ts"), Reading()]))
def test_features_scaled_by_a_range_lie_between_zero_and_one(batch, reading):
    features, _ = read(batch, reading)
    assert ((features >= 0) & (features <= 1)).all()
