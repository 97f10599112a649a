"""The peak of a call is what it takes at most, beyond what was there."""

import os
import sys
from pathlib import Path

import pytest
import torch

from evsurf.bench import memory
from evsurf.bench.memory import can_measure, check_can_measure, in_fresh_process, peak_bytes

MB = 2**20
CPU = torch.device("cpu")
# Linux counts in pages, and somewhat late.
SLACK = 8 * MB

needs_linux = pytest.mark.skipif(not can_measure(CPU), reason="needs Linux to tell a peak")


def take(megabytes: int, device: torch.device = CPU) -> torch.Tensor:
    """Memory that is written to, as the system gives none before."""
    return torch.ones(megabytes * MB, dtype=torch.uint8, device=device)


@pytest.fixture(autouse=True)
def _warm():
    """Code that is loaded at first use takes memory too."""
    take(1)


@needs_linux
def test_the_peak_of_an_allocation_is_its_size(device):
    assert abs(peak_bytes(lambda: take(128, device), device) - 128 * MB) < SLACK


@needs_linux
def test_memory_given_back_within_the_call_counts_once(device):
    def one_after_another() -> None:
        for _ in range(3):
            take(64, device)

    def together() -> None:
        _ = [take(64, device) for _ in range(3)]

    assert abs(peak_bytes(one_after_another, device) - 64 * MB) < SLACK
    assert abs(peak_bytes(together, device) - 192 * MB) < SLACK


@needs_linux
def test_what_was_there_before_does_not_count(device):
    kept = take(128, device)
    peak_bytes(lambda: take(128, device), device)
    assert 0 <= peak_bytes(lambda: take(16, device), device) < 16 * MB + SLACK
    assert 0 <= peak_bytes(lambda: None, device) < SLACK
    assert len(kept) == 128 * MB


def test_where_nobody_counts_the_peak_is_refused(monkeypatch):
    monkeypatch.setattr(memory, "_PEAK_RESET", Path("/no/such/file"))
    assert not can_measure(CPU)
    with pytest.raises(ValueError, match="peak memory of cpu cannot be measured here: Linux"):
        peak_bytes(lambda: pytest.fail("was called"), CPU)


def test_cuda_counts_on_every_system(monkeypatch):
    monkeypatch.setattr(memory, "_PEAK_RESET", Path("/no/such/file"))
    check_can_measure(torch.device("cuda:1"))


def test_a_fresh_process_is_another_one():
    assert in_fresh_process(os.getpid) != os.getpid()


def test_a_fresh_process_takes_over_nothing_of_this_one():
    """A forked one would share this one's memory, and with it what the caches have kept."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + 7)
    try:
        assert in_fresh_process(sys.getrecursionlimit) != before + 7
    finally:
        sys.setrecursionlimit(before)


def test_a_fresh_process_is_given_arguments_and_gives_the_result_back():
    assert in_fresh_process(int, "ff", base=16) == 255


def test_an_error_in_a_fresh_process_is_raised_here():
    with pytest.raises(ValueError, match="invalid literal .* 'nonsense'"):
        in_fresh_process(int, "nonsense")
