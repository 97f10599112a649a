import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.filters import (
    DropPixels,
    KeepPixels,
    KeepPolarity,
    area,
    drop_pixels,
    event_counts,
    hot_pixels,
    keep_pixels,
    keep_polarity,
)
from evsurf.events import EventBatch, Events
from tests.random_events import event_batches

# Pixel (0, 1) fires three times, (1, 2) twice, (0, 0) once, in a second.
EVENTS = Events.from_arrays(
    [1, 1, 2, 0, 2, 1], [0, 0, 1, 0, 1, 0], [0, 10, 20, 30, 40, 999_999], [1, 0, 1, 0, 1, 1], (2, 3)
)


def test_counts_and_hot_pixels_worked_by_hand(device):
    events = EVENTS.to(device)
    assert event_counts(events).tolist() == [[1, 3, 0], [0, 0, 2]]
    assert hot_pixels(events, rate=2).mask.tolist() == [[False, True, False], [False] * 3]
    both = [[False, True, False], [False, False, True]]
    assert hot_pixels(events, rate=1.9).mask.tolist() == both
    assert hot_pixels(events, rate=0).number == 3
    assert hot_pixels(events, top=2).mask.tolist() == both
    assert hot_pixels(events, top=99).number == 3
    assert hot_pixels(events, top=0).number == 0
    assert repr(hot_pixels(events, top=1)) == "HotPixels(1 of 6, 50% of the events)"


def test_a_rate_is_over_the_time_of_all_samples():
    twice = EventBatch.pack([EVENTS, Events.empty((2, 3)), EVENTS])
    assert torch.equal(hot_pixels(twice, rate=2).mask, hot_pixels(EVENTS, rate=2).mask)
    assert event_counts(twice).sum() == 12
    assert hot_pixels(Events.empty((2, 3)), rate=5).number == 0


def test_events_of_hot_pixels_are_dropped():
    hot = hot_pixels(EVENTS, top=1)
    cool = drop_pixels(EVENTS, hot.mask)
    assert cool.t.tolist() == [20, 30, 40]
    assert keep_pixels(EVENTS, hot.mask).t.tolist() == [0, 10, 999_999]


def test_areas_are_kept_in_place():
    mask = area((2, 3), top=0, left=1, height=1, width=2)
    assert mask.tolist() == [[False, True, True], [False] * 3]
    kept = keep_pixels(EVENTS, mask)
    assert kept.x.tolist() == [1, 1, 1]
    assert kept.size == (2, 3)


@given(event_batches(size=(3, 4)), st.integers(0, 2**12 - 1))
def test_a_mask_and_its_opposite_share_the_events(batch, bits):
    mask = torch.tensor([bool(bits >> i & 1) for i in range(12)]).view(3, 4)
    inside, outside = keep_pixels(batch, mask), drop_pixels(batch, mask)
    assert torch.equal(inside.lengths + outside.lengths, batch.lengths)
    assert bool(mask[inside.y.long(), inside.x.long()].all())
    assert drop_pixels(batch, ~mask) == inside
    assert list(KeepPixels(mask).over(list(batch))) == list(inside)


@given(event_batches())
def test_polarities_share_the_events(batch):
    on, off = keep_polarity(batch, True), keep_polarity(batch, False)
    assert bool(on.p.all())
    assert not off.p.any()
    assert torch.equal(on.lengths + off.lengths, batch.lengths)


def test_filters_compare_and_print_by_what_they_choose():
    mask = area((2, 3), top=0, left=0, height=1, width=1)
    assert KeepPixels(mask) == KeepPixels(mask.clone())
    assert KeepPixels(mask) != DropPixels(mask)
    assert KeepPixels(mask) != KeepPixels(~mask)
    assert repr(DropPixels(mask)) == "DropPixels(1 of 6 pixels)"
    assert repr(KeepPolarity(True)) == "KeepPolarity(on=True)"


def test_wrong_arguments_are_refused(own_errors):
    mask = torch.zeros(3, 3, dtype=torch.bool)
    for make, kind, message in (
        (lambda: hot_pixels(EVENTS), ValueError, "need one of rate and top"),
        (lambda: hot_pixels(EVENTS, rate=1, top=1), ValueError, "need one of rate and top"),
        (lambda: hot_pixels(EVENTS, rate=-1), ValueError, "rate = -1"),
        (lambda: hot_pixels(EVENTS, top=-1), ValueError, "top = -1"),
        (lambda: drop_pixels(EVENTS, mask), ValueError, r"shape \(3, 3\), the events' size is"),
        (lambda: DropPixels(mask.int()), TypeError, "tensor of bools"),
        (lambda: area((2, 3), top=1, left=0, height=2, width=1), ValueError, "inside the sensor"),
    ):
        with pytest.raises(kind, match=message):
            make()
