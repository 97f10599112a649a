"""Without a GPU: every kernel compiles for every architecture, and the small ones do not spill."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from evsurf.ops import recurrence
from evsurf.ops.native import nvrtc

pytest.importorskip("cuda.core", reason="needs the extra [cuda]")

OPS = Path(recurrence.__file__).parents[1]
KINDS = {"surface": 0, "ragged": 1, "live": 2}
HIDDEN = [1, 2, 3, 4, 8, 16, 32, 64]
# Above, registers do not hold all of a lane's sums, and the compiler may choose what to put aside.
LARGEST_WITHOUT_SPILLS = 16


def spills(log: str) -> dict[str, int]:
    """Bytes that each kernel puts aside in local memory, as ptxas reports them."""
    found = re.findall(
        r"Function properties for (\w+)\n.*?(\d+) bytes spill stores, (\d+) bytes spill loads", log
    )
    return {name: int(stores) + int(loads) for name, stores, loads in found}


def test_the_report_of_ptxas_is_understood():
    log = (
        "ptxas info    : Function properties for forward\n"
        "ptxas         .     8 bytes stack frame, 4 bytes spill stores, 12 bytes spill loads\n"
    )
    assert spills(log) == {"forward": 16}


@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("architecture", nvrtc.ARCHITECTURES)
def test_cuda_compile_arch_recurrence(architecture, hidden):
    for kind, number in KINDS.items():
        defines = {"EVSURF_HIDDEN": hidden, "EVSURF_FEATURES": 2, "EVSURF_KIND": number}
        log = nvrtc.compiled(OPS / "recurrence" / "cuda.cu", architecture, defines).log
        found = spills(log)
        assert "forward" in found
        assert ("backward" in found) == (kind != "live")
        if hidden <= LARGEST_WITHOUT_SPILLS:
            assert not any(found.values()), f"{kind}: {found}"


@pytest.mark.parametrize("features", [3, 4, 5])
def test_cuda_compile_arch_features(features):
    defines = {"EVSURF_HIDDEN": 4, "EVSURF_FEATURES": features, "EVSURF_KIND": 0}
    log = nvrtc.compiled(OPS / "recurrence" / "cuda.cu", "sm_90", defines).log
    assert not any(spills(log).values())


@pytest.mark.parametrize("architecture", nvrtc.ARCHITECTURES)
def test_cuda_compile_arch_grouping(architecture):
    found = spills(nvrtc.compiled(OPS / "grouping" / "cuda.cu", architecture, {}).log)
    assert {"group_tiles", "count_chunks", "place_chunks", "part_chunks", "write_groups"} <= set(
        found
    )
