import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.events import ragged
from tests.random_events import event_batches


def test_stretches_worked_by_hand(device):
    starts, stops = torch.tensor([5, 2, 2], device=device), torch.tensor([7, 2, 5], device=device)
    places, offsets = ragged.stretches(starts, stops)
    assert places.tolist() == [5, 6, 2, 3, 4]
    assert offsets.tolist() == [0, 2, 2, 5]


def test_places_before_worked_by_hand(device):
    values = torch.tensor([1, 3, 3, 9, 0, 5], device=device)
    offsets = torch.tensor([0, 4, 4, 6], device=device)
    targets = torch.tensor([[3, 4, 10], [0, 1, 2], [0, 5, 6]], device=device)
    assert ragged.places_before(values, offsets, targets).tolist() == [
        [1, 3, 4],
        [4, 4, 4],
        [4, 5, 6],
    ]


def test_nothing_has_no_places():
    nothing, offsets = torch.zeros(0).long(), torch.tensor([0])
    assert ragged.places_before(nothing, offsets, torch.zeros(0, 2).long()).shape == (0, 2)
    places, offsets = ragged.stretches(nothing, nothing)
    assert places.tolist() == []
    assert offsets.tolist() == [0]


@given(event_batches(), st.integers(-2, 12))
def test_ends_and_owners_are_those_of_each_sample(batch, target):
    t, offsets = batch.t, batch.offsets
    samples = list(batch)
    firsts = [int(s.t[0]) if len(s) else 0 for s in samples]
    assert ragged.first_times(t, offsets).tolist() == firsts
    assert ragged.last_times(t, offsets).tolist() == [
        int(s.t[-1]) if len(s) else 0 for s in samples
    ]
    low, high = ragged.extremes(batch.x, offsets)
    assert low.tolist() == [int(s.x.min()) if len(s) else 0 for s in samples]
    assert high.tolist() == [int(s.x.max()) if len(s) else 0 for s in samples]
    owners = [i for i, s in enumerate(samples) for _ in range(len(s))]
    assert ragged.sample_of(offsets, len(t)).tolist() == owners
    relative = ragged.since_first(t, offsets)
    assert relative.tolist() == [int(a) - firsts[i] for a, i in zip(t, owners, strict=True)]
    found = ragged.places_before(relative, offsets, torch.full((len(samples), 1), target))
    expected = [
        int(offsets[i]) + sum(int(a) - firsts[i] < target for a in s.t)
        for i, s in enumerate(samples)
    ]
    assert found.flatten().tolist() == expected
