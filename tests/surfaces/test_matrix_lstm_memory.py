"""The memory that a surface takes beyond its events and images."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(),
    reason="needs Linux to tell a process's largest size",
)


HOT = 1_000_000


@functools.cache
def probe(events: int) -> dict[str, dict[str, int]]:
    """What a process of its own measured, with events spread evenly and with a hot pixel."""
    program = Path(__file__).with_name("memory_probe.py")
    # Large pieces go back to the system at once, so that one run does not hide the next one's.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"}
    command = [sys.executable, str(program), str(events), str(HOT)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    measured: dict[str, dict[str, int]] = json.loads(done.stdout)
    return measured


@pytest.mark.parametrize("events", [2 * HOT, pytest.param(4 * HOT, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kind", ["even", "hot"])
@pytest.mark.parametrize(("passes", "bytes_an_event"), [("forward", 32), ("both", 64)])
def test_an_event_takes_few_bytes(events, kind, passes, bytes_an_event):
    """Padded to the longest pixel, a million events on one would take terabytes."""
    assert 0 < probe(events)[f"{kind} {passes}"]["extra"] <= bytes_an_event * events


@pytest.mark.slow
@pytest.mark.parametrize("passes", ["forward", "both"])
def test_a_hot_pixel_hardly_changes_the_peak(passes):
    """A tenth of all events on one pixel, or none; events and images are counted too."""
    measured = probe(10 * HOT)
    even, hot = (measured[f"{kind} {passes}"]["whole"] for kind in ("even", "hot"))
    assert abs(hot - even) < 0.1 * even
