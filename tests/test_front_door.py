"""What `import evsurf` gives, and what it costs."""

from __future__ import annotations

import functools
import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import evsurf

ROOT = Path(__file__).parent.parent

IMPORT_SECONDS = 0.3
PUBLIC = (
    "evsurf",
    "evsurf.data",
    "evsurf.data.datasets",
    "evsurf.data.transforms",
    "evsurf.data.filters",
    "evsurf.ops",
    "evsurf.surfaces",
)
HEAVY = {
    "IPython",
    "PIL",
    "cuda",
    "h5py",
    "jsonargparse",
    "lightning",
    "matplotlib",
    "pandas",
    "rerun",
    "rich",
    "scipy",
    "sklearn",
    "sympy",
    "timm",
    "torch._dynamo",
    "torch._inductor",
    "torchvision",
    "triton",
}

COLD_IMPORT = """
import json, sys, time
import torch
before = set(sys.modules)
start = time.perf_counter()
import evsurf
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "loaded": sorted(set(sys.modules) - before)}))
"""


@functools.cache
def cold_import(attempt: int) -> dict[str, Any]:
    """What `import evsurf` adds to `import torch`: seconds, and the modules it loads."""
    command = [sys.executable, "-c", COLD_IMPORT]
    child = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    measured: dict[str, Any] = json.loads(child.stdout)
    return measured


def test_import_takes_little_more_than_torch() -> None:
    """The least of up to five runs: other work on the machine can only add."""
    seconds = []
    for attempt in range(5):
        seconds.append(cold_import(attempt)["seconds"])
        if seconds[-1] <= IMPORT_SECONDS:
            return
    pytest.fail(f"import evsurf took {min(seconds):.2f} s, more than {IMPORT_SECONDS} s")


def test_import_loads_nothing_heavy() -> None:
    loaded = cold_import(0)["loaded"]
    assert "evsurf" in loaded
    found = [m for m in loaded if any(m == heavy or m.startswith(f"{heavy}.") for heavy in HEAVY)]
    assert not found


def test_public_names_change_only_on_purpose() -> None:
    frozen = (ROOT / "tests" / "public_names.txt").read_text(encoding="utf-8").split()
    found = [
        f"{name}.{public}" for name in PUBLIC for public in importlib.import_module(name).__all__
    ]
    assert len(found) == len(set(found))
    hint = "if meant, change tests/public_names.txt and CHANGELOG.md too"
    new, gone = sorted(set(found) - set(frozen)), sorted(set(frozen) - set(found))
    assert not new, hint
    assert not gone, hint


def test_every_public_name_is_there() -> None:
    for name in PUBLIC:
        module = importlib.import_module(name)
        assert all(hasattr(module, public) for public in module.__all__)


def test_the_version_is_that_of_the_sources() -> None:
    """Otherwise what is installed is older than what is read here: `make setup` installs it."""
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{evsurf.__version__}"' in project


def test_the_core_is_the_installed_one() -> None:
    """A forgotten build among the sources would hide what was compiled from them."""
    assert not list((ROOT / "evsurf").rglob("_core*.so"))


def test_annotations_are_checked_during_tests() -> None:
    assert hasattr(evsurf.Events.__init__, "__wrapped__"), "the import hook did not reach evsurf"
