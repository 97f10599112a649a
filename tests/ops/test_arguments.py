"""Shared checks refuse what they say they refuse."""

from __future__ import annotations

import pytest
import torch

from evsurf.ops.arguments import check_count, check_same_device


@pytest.mark.parametrize("value", [1.0, "2", True, None])
def test_a_count_must_be_an_int(value):
    with pytest.raises(TypeError, match=f"bins must be an int, not {value!r}"):
        check_count("bins", value)


@pytest.mark.parametrize("value", [0, -3])
def test_a_count_must_be_positive(value):
    with pytest.raises(ValueError, match=f"bins must be at least 1, not {value}"):
        check_count("bins", value)


def test_a_count_fits_the_compiled_cores_counters():
    check_count("bins", 2**31 - 1)
    with pytest.raises(ValueError, match="bins must be at most 2147483647, not 2147483648"):
        check_count("bins", 2**31)


def test_a_positive_int_is_a_count():
    check_count("bins", 1)


def test_events_and_weights_must_be_in_the_same_place():
    events, weight = torch.zeros(1), torch.zeros(1, device="meta")
    with pytest.raises(ValueError, match=r"events are on cpu .* weights on meta; move one, by"):
        check_same_device(events, weight)
    check_same_device(events, events)
