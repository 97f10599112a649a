"""How near is equal: the one table of tolerances, and the one comparison that uses it.

A difference passes if it is at most `atol + rtol * |expected|`. Raising a number needs a reason,
here and in the commit.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch

Kind = Literal["value", "gradient"]


class Tolerance(NamedTuple):
    atol: float
    rtol: float
    reason: str


TOLERANCES: dict[tuple[torch.dtype, Kind], Tolerance] = {
    (torch.float64, "value"): Tolerance(
        1e-12, 1e-10, "the same equations, summed in another order, over up to 1000 steps"
    ),
    (torch.float64, "gradient"): Tolerance(
        1e-11, 1e-9, "weight gradients sum over every event of the batch"
    ),
    (torch.float32, "value"): Tolerance(
        1e-6, 1e-5, "a polynomial exp of a few units in the last place, fed back at each step"
    ),
    (torch.float32, "gradient"): Tolerance(
        1e-5, 1e-4, "the value's differences, summed over every event of the batch"
    ),
    (torch.float16, "value"): Tolerance(1e-3, 2e-3, "11 bits of mantissa"),
    (torch.float16, "gradient"): Tolerance(1e-2, 1e-2, "11 bits of mantissa, summed"),
    (torch.bfloat16, "value"): Tolerance(8e-3, 1.6e-2, "8 bits of mantissa"),
    (torch.bfloat16, "gradient"): Tolerance(8e-2, 8e-2, "8 bits of mantissa, summed"),
}


def assert_near(actual: torch.Tensor, expected: torch.Tensor, *, kind: Kind = "value") -> None:
    """Fail unless shape, dtype and numbers agree; integers and booleans must be equal.

    The devices may differ. NaN equals nothing, so poisoned memory is found.
    """
    if not expected.is_floating_point():
        torch.testing.assert_close(actual, expected, atol=0, rtol=0, check_device=False)
        return
    atol, rtol, reason = TOLERANCES[expected.dtype, kind]
    torch.testing.assert_close(
        actual,
        expected,
        atol=atol,
        rtol=rtol,
        check_device=False,
        msg=lambda text: f"{text}\n(allowed because: {reason})",
    )
