"""The native decoders under the sanitizers, which no Python test sees; `make fuzz` does more."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
@pytest.mark.skipif(not (shutil.which("make") and shutil.which("g++")), reason="needs make and g++")
def test_mutated_inputs_stay_in_bounds_and_in_agreement():
    command = ["make", "fuzz", "COUNT=100000", "CXX=g++"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "100000 inputs, nothing found" in done.stdout
