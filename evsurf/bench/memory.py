"""The most memory that one call takes beyond what was there before it."""

from __future__ import annotations

import multiprocessing
import re
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import ParamSpec, TypeVar

import torch

_STATUS = Path("/proc/self/status")
_PEAK_RESET = Path("/proc/self/clear_refs")
# What /proc/self/clear_refs takes as "let the peak start from now".
_RESET = "5"

Given = ParamSpec("Given")
Result = TypeVar("Result")


def in_fresh_process(
    work: Callable[Given, Result], *args: Given.args, **kwargs: Given.kwargs
) -> Result:
    """Does the work in a new process, whose memory nobody has touched."""
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(max_workers=1, mp_context=context) as pool:
        return pool.submit(work, *args, **kwargs).result()


def can_measure(device: torch.device) -> bool:
    """CUDA counts its memory; on a CPU, Linux does."""
    return device.type == "cuda" or _PEAK_RESET.exists()


def check_can_measure(device: torch.device) -> None:
    """Refuses a device whose peak nobody counts."""
    if not can_measure(device):
        raise ValueError(
            f"the peak memory of {device} cannot be measured here: Linux counts it, and CUDA does"
        )


def peak_bytes(call: Callable[[], object], device: torch.device) -> int:
    """Bytes at the highest point of the call, less those before it."""
    check_can_measure(device)
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        torch.cuda.reset_peak_memory_stats(device)
        before = torch.cuda.memory_allocated(device)
        call()
        torch.cuda.synchronize(device)
        return torch.cuda.max_memory_allocated(device) - before
    _PEAK_RESET.write_text(_RESET)
    before = _resident("VmRSS")
    call()
    return max(0, _resident("VmHWM") - before)


def _resident(field: str) -> int:
    found = re.search(rf"{field}:\s+(\d+) kB", _STATUS.read_text(encoding="utf-8"))
    assert found is not None
    return int(found[1]) * 1024
