import itertools

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.filters import BackgroundActivity, Refractory, background_activity, refractory
from evsurf.events import EventBatch, Events
from tests.events.strategies import MAX_TIME, MIN_TIME, recordings
from tests.random_events import event_batches, random_batch


def supported(events: Events, duration: int, radius: int) -> list[int]:
    """The definition, as loops: which events another pixel nearby announced."""
    rows = list(zip(events.x.tolist(), events.y.tolist(), events.t.tolist(), strict=True))
    return [
        i
        for i, (x, y, t) in enumerate(rows)
        if any(
            (a, b) != (x, y) and abs(a - x) <= radius and abs(b - y) <= radius and t - s <= duration
            for a, b, s in rows[:i]
        )
    ]


def rested(events: Events, period: int) -> list[int]:
    """The definition, as a loop: which events come long enough after the last that stayed."""
    last: dict[tuple[int, int], int] = {}
    stayed = []
    for i, (x, y, t) in enumerate(zip(*(getattr(events, n).tolist() for n in "xyt"), strict=True)):
        if (x, y) not in last or t - last[x, y] >= period:
            last[x, y] = t
            stayed.append(i)
    return stayed


def chosen(events: Events, positions: list[int]) -> Events:
    mask = torch.zeros(len(events), dtype=torch.bool)
    mask[positions] = True
    return events[mask]


def line(columns: list[int], times: list[int], width: int = 10) -> Events:
    n = len(columns)
    return Events.from_arrays(columns, [0] * n, times, [1] * n, (1, width))


@pytest.mark.parametrize(
    ("columns", "times", "duration", "radius", "stay"),
    [
        ([1, 2], [0, 5], 5, 1, [1]),
        ([1, 2], [0, 6], 5, 1, []),
        ([1, 1], [0, 1], 5, 1, []),
        ([1, 3], [0, 1], 5, 1, []),
        ([1, 3], [0, 1], 5, 2, [1]),
        # What was left out announces others; events at the same time count in stream order.
        ([1, 2, 3], [0, 9, 9], 5, 1, [2]),
        ([0, 9], [0, 0], 5, 1, []),
        ([0, 9], [0, 0], 0, 9, [1]),
        ([4, 4, 5, 4], [0, 1, 2, 3], 9, 1, [2, 3]),
    ],
)
def test_background_activity_worked_by_hand(columns, times, duration, radius, stay):
    events = line(columns, times)
    assert background_activity(events, duration, radius=radius) == chosen(events, stay)
    assert supported(events, duration, radius) == stay


def test_neighbours_lie_on_all_eight_sides_and_not_around_the_edge():
    for dy, dx in itertools.product((-1, 0, 1), repeat=2):
        pair = Events.from_arrays([2, 2 + dx], [2, 2 + dy], [0, 1], [1, 1], (5, 5))
        assert len(background_activity(pair, 10)) == ((dy, dx) != (0, 0))
    # The end of one row is not near the beginning of the next.
    edge = Events.from_arrays([4, 0], [1, 2], [0, 1], [1, 1], (5, 5))
    assert len(background_activity(edge, 10)) == 0


@pytest.mark.parametrize(
    ("times", "period", "stay"),
    [
        ([0, 6, 10, 12], 10, [0, 2]),
        ([0, 9, 18, 27], 10, [0, 2]),
        ([0, 0, 0], 1, [0]),
        ([0, 0, 0], 0, [0, 1, 2]),
        ([MIN_TIME, 0, MAX_TIME], 2**62 - 1, [0, 1, 2]),
    ],
)
def test_refractory_periods_worked_by_hand(times, period, stay):
    events = line([0] * len(times), times)
    assert refractory(events, period) == chosen(events, stay)
    assert rested(events, period) == stay


@given(recordings(max_events=30), st.integers(0, 12) | st.just(2**62 - 1), st.integers(1, 6))
def test_filters_are_their_definitions(events, duration, radius):
    assert background_activity(events, duration, radius=radius) == chosen(
        events, supported(events, duration, radius)
    )
    assert refractory(events, duration) == chosen(events, rested(events, duration))


@pytest.mark.parametrize(
    "chosen_filter", [BackgroundActivity(40), BackgroundActivity(9, 3), Refractory(60)]
)
def test_larger_streams_agree_with_the_definition_too(chosen_filter):
    events = random_batch([1500], (12, 16), seed=2, longest=4)[0]
    expected = (
        rested(events, chosen_filter.period)
        if isinstance(chosen_filter, Refractory)
        else supported(events, chosen_filter.duration, chosen_filter.radius)
    )
    assert 100 < len(expected) < 1400
    assert chosen_filter(events) == chosen(events, expected)


@given(
    event_batches(max_samples=5),
    st.sampled_from([BackgroundActivity(7), BackgroundActivity(0, 2), Refractory(3)]),
)
def test_a_sample_of_a_batch_is_judged_alone(batch, chosen_filter):
    made = chosen_filter(batch)
    assert list(made) == [chosen_filter(sample) for sample in batch]


@given(
    recordings(max_events=30),
    st.lists(st.integers(0, 30), max_size=5),
    st.sampled_from([BackgroundActivity(5), BackgroundActivity(9, 2), Refractory(4)]),
)
def test_a_stream_cut_anywhere_is_filtered_as_a_whole(events, cuts, chosen_filter):
    borders = [0, *sorted(min(cut, len(events)) for cut in cuts), len(events)]
    pieces = [events[a:b] for a, b in itertools.pairwise(borders)]
    found = list(chosen_filter.over(pieces))
    assert len(found) == len(pieces)
    rows = [torch.cat([getattr(piece, n) for piece in found]).tolist() for n in "xytp"]
    assert rows == [getattr(chosen_filter(events), n).tolist() for n in "xytp"]


def test_a_stream_started_anew_has_forgotten():
    filtering = Refractory(10).start((1, 10))
    assert len(filtering.push(line([0], [0]))) == 1
    assert len(filtering.push(line([0], [5]))) == 0
    filtering.reset()
    assert len(filtering.push(line([0], [6]))) == 1


def test_filters_return_to_the_device_of_the_events(device):
    batch = random_batch([50, 60], (4, 4), seed=1).to(device)
    made = BackgroundActivity(20)(batch)
    assert made.device == batch.device
    assert made.cpu() == BackgroundActivity(20)(batch.cpu())
    assert 0 < made.num_events < 110


def test_filters_never_say_that_everything_is_signal_of_an_empty_batch():
    assert len(Refractory(5)(EventBatch.pack([], size=(3, 3)))) == 0


def test_wrong_parameters_are_refused(own_errors):
    for make, message in (
        (lambda: BackgroundActivity(-1), "duration = -1"),
        (lambda: BackgroundActivity(5, radius=0), "radius = 0 must be at least 1"),
        (lambda: BackgroundActivity(5, radius=40_000), "further than any sensor"),
        (lambda: Refractory(-1), "period = -1"),
        (lambda: Refractory(2**62), "longer than any recording"),
    ):
        with pytest.raises(ValueError, match=message):
            make()
