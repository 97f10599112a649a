import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.loading import Subset, split
from evsurf.data.store import Store, StoreWriter
from evsurf.events import EventBatch, Events


class Numbers:
    """Sample i is i; its target is in `targets`."""

    def __init__(self, count, targets=None):
        self.count = count
        if targets is not None:
            self.targets = targets

    def __len__(self):
        return self.count

    def __getitem__(self, index):
        return index


def test_the_paper_keeps_a_fifth_of_n_cars_for_validation():
    train, validation = split(Numbers(15_422), (0.8, 0.2), seed=0)
    assert (len(train), len(validation)) == (12_337, 3_085)


def test_fractions_are_what_was_typed():
    assert [len(part) for part in split(Numbers(10), (0.7, 0.2, 0.1), seed=0)] == [7, 2, 1]
    thirds = split(Numbers(3), (1 / 3, 1 / 3, 1 / 3), seed=0)
    assert [len(part) for part in thirds] == [1, 1, 1]
    assert [len(part) for part in split(Numbers(10), (0.1 + 0.2, 0.7), seed=0)] == [3, 7]
    assert [len(part) for part in split(Numbers(5), (1, 0), seed=0)] == [5, 0]


def test_counts_are_kept():
    assert [len(part) for part in split(Numbers(7), (2, 5), seed=3)] == [2, 5]


@given(
    st.lists(st.integers(0, 3), max_size=40),
    st.lists(st.integers(1, 5), min_size=1, max_size=4),
    st.integers(0, 99),
    st.booleans(),
)
def test_parts_share_nothing_and_leave_out_nothing(classes, weights, seed, stratify):
    data = Numbers(len(classes), classes)
    fractions = [weight / sum(weights) for weight in weights]
    parts = split(data, fractions, seed=seed, stratify=stratify)
    found = [i for part in parts for i in part]
    assert sorted(found) == list(range(len(classes)))
    assert all(list(part) == sorted(part) for part in parts)
    again = split(data, fractions, seed=seed, stratify=stratify)
    assert [part.indices for part in parts] == [part.indices for part in again]
    if stratify:
        start = 0
        for part in parts[:-1]:
            start += len(part)
            first = [classes[i] for one in parts[: parts.index(part) + 1] for i in one]
            for kind in set(classes):
                share = classes.count(kind) * start / len(classes)
                assert abs(first.count(kind) - share) < 3


def test_seeds_give_other_parts():
    first, second = (split(Numbers(50), (0.5, 0.5), seed=seed)[0].indices for seed in (0, 1))
    assert first != second


def test_strata_keep_the_share_of_each_class():
    targets = [0] * 90 + [1] * 10
    for part, count in zip(
        split(Numbers(100, targets), (0.8, 0.2), seed=1, stratify=True), (8, 2), strict=True
    ):
        assert sum(target == 1 for target in part.targets) == count


@pytest.mark.parametrize(
    ("parts", "options", "message"),
    [
        ((), {}, "must be fractions or counts"),
        ((-0.5, 1.5), {}, "none below 0"),
        ((0.5, 0.4), {}, "sum to 0.9, not to 1 or to 10"),
        ((4, 5), {}, "sum to 9, and there are 10 samples"),
        ((0.5, 0.5), {"stratify": True}, "stratify needs the targets"),
    ],
)
def test_wrong_splits_are_refused(parts, options, message):
    with pytest.raises(ValueError, match=message):
        split(Numbers(10), parts, seed=0, **options)


def test_a_subset_of_a_store_is_as_good_as_one(tmp_path):
    samples = [
        Events.from_arrays([0] * n, [0] * n, list(range(n)), [1] * n, (1, 1)) for n in range(5)
    ]
    with StoreWriter(tmp_path / "a.store", classes=["even", "odd"]) as writer:
        for n, events in enumerate(samples):
            writer.add(events, n % 2, name=f"s{n}")
    subset = Subset(Store(tmp_path / "a.store"), [4, 1, 2])
    assert list(subset) == [(samples[4], 0), (samples[1], 1), (samples[2], 0)]
    assert subset[1] == (samples[1], 1)
    packed = subset.packed([2, 0])
    assert packed.batch() == EventBatch.pack([samples[2], samples[4]])
    assert subset.lengths.tolist() == [4, 1, 2]
    assert torch.as_tensor(subset.targets).tolist() == [0, 1, 0]
    assert subset.name(1) == "s1"
    assert subset.classes == ("even", "odd")
    part, _ = split(subset, (2, 1), seed=0)
    assert set(part.lengths.tolist()) < {4, 1, 2}
    with pytest.raises(IndexError, match="indices holds 5"):
        Subset(Store(tmp_path / "a.store"), [5])
    with pytest.raises(ValueError, match="Numbers has no lengths"):
        Subset(Numbers(2), [0]).lengths  # noqa: B018
