"""Custom operators under checked annotations.

Checking wraps each function. `torch.library.custom_op` evaluates annotations among the globals of
what it is given, which then are the wrapper's: it does not even find `Tensor`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import torch

Function = Callable[..., Any]


def let_custom_ops_see_through_checks() -> None:
    """Read an operator's schema from the function inside its wrapper, from now on."""
    original = torch.library.custom_op

    @functools.wraps(original)
    def custom_op(name: str, fn: Function | None = None, /, **options: Any) -> Any:
        if fn is None:
            return functools.partial(custom_op, name, **options)
        if options.get("schema") is None:
            options["schema"] = torch.library.infer_schema(
                inspect.unwrap(fn), mutates_args=options["mutates_args"]
            )
        return original(name, fn, **options)

    torch.library.custom_op = custom_op
