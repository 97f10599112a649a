import copy
import pickle

import pytest
import torch
from torch.utils.data import DataLoader

from evsurf.events import EventBatch, Events

EVENTS = Events.from_arrays([3, 0, 1], [1, 1, 0], [10, 25, 25], [1, 0, 1], (2, 4))
BATCH = EventBatch.pack([EVENTS, EVENTS[:1]])


@pytest.fixture(params=[EVENTS, BATCH, EVENTS[:0], EVENTS[1:]], ids=repr)
def bundle(request):
    return request.param


def _tensors(bundle: Events | EventBatch) -> list[torch.Tensor]:
    return [getattr(bundle, name) for name in bundle.FIELDS]


def test_attributes_cannot_be_set(bundle):
    kind = type(bundle).__name__
    with pytest.raises(AttributeError, match=f"cannot set 't': {kind} is immutable"):
        bundle.t = torch.zeros(3)
    with pytest.raises(AttributeError, match=f"cannot set 'new': {kind} is immutable"):
        bundle.new = 1


def test_attributes_cannot_be_deleted(bundle):
    with pytest.raises(AttributeError, match="cannot delete 'size'"):
        del bundle.size


def test_equality_is_by_value(bundle):
    assert bundle == copy.deepcopy(bundle)
    assert bundle == bundle.to("cpu")


@pytest.mark.parametrize("name", ["x", "y", "t", "p"])
def test_one_different_value_makes_events_unequal(name):
    fields = {field: getattr(EVENTS, field).clone() for field in EVENTS.FIELDS}
    fields[name][0] = 0
    assert Events(**fields, size=EVENTS.size) != EVENTS


def test_another_size_or_number_makes_events_unequal():
    assert Events(EVENTS.x, EVENTS.y, EVENTS.t, EVENTS.p, (3, 4)) != EVENTS
    assert EVENTS[:2] != EVENTS
    assert Events.empty((2, 4)) != Events.empty((4, 2))


def test_other_offsets_make_batches_unequal():
    halves, whole = EventBatch.pack([EVENTS[:1], EVENTS[1:]]), EventBatch.pack([EVENTS])
    assert halves != whole
    assert EventBatch.pack([EVENTS[:2], EVENTS[2:]]) != halves


def test_events_and_batches_are_unequal_to_other_things():
    assert EventBatch.pack([EVENTS]) != EVENTS
    assert EVENTS != 3
    assert EVENTS.t != EVENTS


def test_the_same_values_on_another_device_are_unequal(bundle):
    assert bundle.to("meta") != bundle


def test_instances_are_unhashable(bundle):
    with pytest.raises(TypeError, match="unhashable"):
        hash(bundle)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda bundle: pickle.loads(pickle.dumps(bundle))]
)
def test_copies_are_equal_and_immutable(bundle, copied):
    other = copied(bundle)
    assert other == bundle
    with pytest.raises(AttributeError, match="immutable"):
        other.size = (1, 1)


def test_a_deep_copy_shares_no_memory():
    other = copy.deepcopy(EVENTS)
    assert all(
        a.data_ptr() != b.data_ptr() for a, b in zip(_tensors(other), _tensors(EVENTS), strict=True)
    )


def test_a_pickled_slice_leaves_the_rest_out():
    n = 10_000
    long = Events.from_arrays([0] * n, [0] * n, range(n), [True] * n, (1, 1))
    assert len(pickle.dumps(long[5:7])) < 3_000 < len(pickle.dumps(long))


def test_to_moves_every_tensor_and_keeps_the_size(bundle):
    moved = bundle.to("meta")
    assert moved.device == torch.device("meta")
    assert moved.size == bundle.size
    assert {tensor.device.type for tensor in _tensors(moved)} == {"meta"}


def test_to_the_same_device_shares_memory():
    assert EVENTS.to("cpu").t.data_ptr() == EVENTS.t.data_ptr()
    assert EVENTS.cpu().t.data_ptr() == EVENTS.t.data_ptr()


def test_memory_is_not_pinned_unless_asked_for(bundle):
    assert not bundle.is_pinned()


@pytest.mark.gpu
def test_pinned_memory_holds_the_same_values(bundle):
    pinned = bundle.pin_memory()
    assert pinned == bundle
    assert pinned.is_pinned() == (len(pinned.t) > 0)


@pytest.mark.gpu
def test_a_data_loader_pins_batches():
    (batch,) = DataLoader([BATCH], batch_size=None, pin_memory=True)
    assert batch.is_pinned()


@pytest.mark.gpu
def test_there_and_back_changes_nothing(bundle):
    there = bundle.cuda(non_blocking=True)
    assert there.device.type == "cuda"
    assert "cuda" in repr(there)
    assert there.cpu() == bundle
    assert bundle.cuda(0) == there


def test_a_data_loader_with_workers_carries_batches():
    samples = [EVENTS, EVENTS[1:], EVENTS[:0]]
    (batch,) = DataLoader(samples, batch_size=3, num_workers=1, collate_fn=EventBatch.pack)
    assert batch == EventBatch.pack(samples)


@pytest.mark.plain
def test_compiled_functions_take_and_make_events_and_batches_without_a_graph_break():
    def total(batch: EventBatch) -> torch.Tensor:
        return batch.x.sum() + batch.offsets[-1] + len(batch) + batch.size[1]

    def packed(events: Events) -> EventBatch:
        return EventBatch.pack([events])

    compiled = torch.compile(total, fullgraph=True, backend="eager")
    for batch in (BATCH, BATCH[:1], EventBatch.pack([EVENTS] * 3)):
        assert compiled(batch) == total(batch)
    assert torch.compile(packed, fullgraph=True, backend="eager")(EVENTS) == packed(EVENTS)
