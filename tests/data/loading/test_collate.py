import pytest
import torch
from torch.utils.data import DataLoader

from evsurf.data.loading import collate
from evsurf.data.store import Store, StoreWriter
from evsurf.events import EventBatch, Events

A = Events.from_arrays([0, 1], [0, 0], [3, 4], [0, 1], (1, 2))
B = Events.from_arrays([1], [0], [9], [1], (1, 2))


def test_pairs_become_a_batch_and_its_targets():
    batch, targets = collate([(A, 2), (B, 0)])
    assert batch == EventBatch.pack([A, B])
    assert torch.equal(targets, torch.tensor([2, 0]))


@pytest.mark.parametrize(
    ("targets", "together"),
    [
        ([None, None], None),
        ([True, False], torch.tensor([True, False])),
        ([1, 0.5], torch.tensor([1.0, 0.5], dtype=torch.float64)),
        ([torch.tensor([1.0]), torch.tensor([2.0])], torch.tensor([[1.0], [2.0]])),
        (["a", "b"], ["a", "b"]),
        ([1, None], [1, None]),
    ],
)
def test_targets_of_a_kind_are_put_together(targets, together):
    _, found = collate(list(zip([A, B], targets, strict=True)))
    assert type(found) is type(together)
    if isinstance(together, torch.Tensor):
        assert found.dtype == together.dtype
        assert torch.equal(found, together)
    else:
        assert found == together


def test_dictionaries_are_collated_entry_by_entry():
    _, targets = collate([(A, {"label": 1, "name": "a"}), (B, {"label": 2, "name": "b"})])
    assert targets["label"].tolist() == [1, 2]
    assert targets["name"] == ["a", "b"]


@pytest.mark.usefixtures("own_errors")
def test_a_sample_that_is_no_pair_is_named():
    with pytest.raises(TypeError, match=r"samples\[1\] must be a pair \(events, target\)"):
        collate([(A, 1), B])


def test_a_loader_of_torch_reads_whole_batches_from_a_store(tmp_path):
    with StoreWriter(tmp_path / "a.store") as writer:
        for number in range(5):
            writer.add([A, B][number % 2], number)
    loader = DataLoader(Store(tmp_path / "a.store"), batch_size=2, collate_fn=collate)
    found = list(loader)
    assert [targets.tolist() for _, targets in found] == [[0, 1], [2, 3], [4]]
    assert [batch for batch, _ in found] == [
        EventBatch.pack([A, B]),
        EventBatch.pack([A, B]),
        EventBatch.pack([A]),
    ]
