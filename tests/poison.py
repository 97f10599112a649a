"""Fresh memory that shows when nobody wrote it.

`torch.empty` often returns zeros by luck, and then a kernel that forgets an element passes its
tests. Here, whatever the package allocates unwritten is full of NaN, or of a number that no result
can be.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch

_PLACES = [
    (torch, "empty"),
    (torch, "empty_like"),
    (torch, "empty_permuted"),
    (torch, "empty_strided"),
    (torch.Tensor, "new_empty"),
    (torch.Tensor, "new_empty_strided"),
]


def fill(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, full of NaN; integers are a third of their maximum, as sums must not wrap."""
    with torch.no_grad():
        if tensor.is_floating_point() or tensor.is_complex():
            return tensor.fill_(torch.nan)
        if tensor.dtype == torch.bool:
            return tensor.fill_(True)
        return tensor.fill_(torch.iinfo(tensor.dtype).max // 3)


def _poisoned(allocate: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    @functools.wraps(allocate)
    def wrapper(*args: Any, **kwargs: Any) -> torch.Tensor:
        tensor = allocate(*args, **kwargs)
        caller = sys._getframe(1).f_globals.get("__name__", "")
        # Other libraries rely on memory that they have not written costing nothing.
        return fill(tensor) if caller.split(".")[0] == "evsurf" else tensor

    return wrapper


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Poison what the package allocates until the end of the test."""
    for owner, name in _PLACES:
        monkeypatch.setattr(owner, name, _poisoned(getattr(owner, name)))
