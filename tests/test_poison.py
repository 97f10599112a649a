"""The net under the other tests must hold: unwritten memory shows, and only the package's."""

from __future__ import annotations

import pytest
import torch

from tests.poison import fill


def allocating_in(module: str, expression: str) -> torch.Tensor:
    """What the expression gives when a function of this module evaluates it."""
    scope = {"__name__": module, "torch": torch, "like": torch.ones(2, 3)}
    exec(f"def allocate(): return {expression}", scope)  # noqa: S102
    return scope["allocate"]()  # type: ignore[operator,no-any-return]


@pytest.mark.parametrize(
    "expression",
    [
        "torch.empty(2, 3)",
        "torch.empty_like(like)",
        "torch.empty_permuted((2, 3), (1, 0))",
        "torch.empty_strided((2, 3), (3, 1))",
        "like.new_empty(2, 3)",
        "like.new_empty_strided((2, 3), (1, 2))",
        "torch.empty(2, 3, requires_grad=True)",
    ],
)
def test_memory_the_package_takes_is_full_of_nan(expression: str) -> None:
    tensor = allocating_in("evsurf.ops.anything", expression)
    assert tensor.shape == (2, 3)
    assert tensor.isnan().all()


def test_memory_others_take_is_left_alone() -> None:
    tensor = allocating_in("torch.nn.anything", "torch.empty_like(like).copy_(like)")
    assert tensor.equal(torch.ones(2, 3))


def test_integers_become_a_number_that_no_result_is() -> None:
    assert fill(torch.zeros(2, dtype=torch.int64)).tolist() == [(2**63 - 1) // 3] * 2
    assert fill(torch.zeros(2, dtype=torch.uint8)).tolist() == [85, 85]
    assert fill(torch.zeros(2, dtype=torch.bool)).all()


@pytest.mark.plain
def test_a_plain_test_runs_without_poison(request: pytest.FixtureRequest) -> None:
    assert request.config.getoption("--plain")
    # The real function is built in, the poisoning one is written in Python.
    assert not hasattr(torch.empty, "__wrapped__")
