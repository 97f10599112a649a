"""The one comparison lets through what the table allows, and no more."""

from __future__ import annotations

import pytest
import torch

from tests.tolerances import TOLERANCES, assert_near


@pytest.mark.parametrize(("dtype", "kind"), TOLERANCES)
def test_differences_pass_up_to_the_table(dtype: torch.dtype, kind: str) -> None:
    atol, rtol, reason = TOLERANCES[dtype, kind]  # type: ignore[index]
    expected = torch.ones(3, dtype=torch.float64)
    assert_near((expected * (1 + rtol / 2)).to(dtype), expected.to(dtype), kind=kind)
    with pytest.raises(AssertionError, match=reason[:20]):
        assert_near((expected + 4 * (atol + rtol)).to(dtype), expected.to(dtype), kind=kind)


def test_integers_are_equal_or_not() -> None:
    assert_near(torch.tensor([2**62]), torch.tensor([2**62]))
    with pytest.raises(AssertionError):
        assert_near(torch.tensor([2**62]), torch.tensor([2**62 + 1]))


def test_nan_and_other_types_and_shapes_are_never_near() -> None:
    one = torch.ones(2)
    for other in (torch.full((2,), torch.nan), one.double(), torch.ones(2, 1)):
        with pytest.raises(AssertionError):
            assert_near(other, one)
    with pytest.raises(AssertionError):
        assert_near(torch.full((2,), torch.nan), torch.full((2,), torch.nan))
