from types import SimpleNamespace

import pytest
import torch

import evsurf as es
from evsurf.ops.packed import address, check_packed
from tests.random_events import random_batch

BATCH = random_batch([5, 2], (3, 4))


def test_a_batch_is_packed_events():
    check_packed(BATCH)


def test_anything_with_the_same_columns_is_packed_events():
    names = ("x", "y", "t", "p", "offsets", "size")
    other = SimpleNamespace(**{name: getattr(BATCH, name) for name in names})
    check_packed(other)
    groups = es.ops.group_by_pixel(other)
    assert torch.equal(groups.order, es.ops.group_by_pixel(BATCH).order)


@pytest.mark.parametrize("value", [None, 3, [BATCH], BATCH[0], BATCH.x])
def test_anything_else_is_refused(value):
    kind = type(value).__name__
    with pytest.raises(TypeError, match=rf"batch must be an EventBatch, not {kind}; .*pack\(\["):
        check_packed(value)


def test_no_tensor_has_the_address_zero():
    assert address(None) == 0
    assert address(BATCH.t) == BATCH.t.data_ptr() != 0
