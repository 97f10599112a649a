"""Around every test: checked annotations, poisoned memory, known randomness, both devices."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import hypothesis
import jaxtyping
import numpy as np
import pytest
import torch

from tests import poison, signatures

# Derandomised: the run that decides about a change gives the same answer twice.
hypothesis.settings.register_profile("ci", max_examples=25, deadline=None, derandomize=True)
hypothesis.settings.register_profile("full", max_examples=10_000, deadline=None)

_SECONDS_FOR_A_PLAIN_TEST = 600


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("evsurf")
    group.addoption("--full", action="store_true", help="10,000 examples of each property")
    group.addoption(
        "--plain", action="store_true", help="no checked annotations and no poisoned memory"
    )


def pytest_configure(config: pytest.Config) -> None:
    hypothesis.settings.load_profile("full" if config.getoption("--full") else "ci")
    if config.getoption("--plain"):
        return
    assert not any(name.split(".")[0] == "evsurf" for name in sys.modules), (
        "evsurf was imported before its annotations could be checked"
    )
    signatures.let_custom_ops_see_through_checks()
    jaxtyping.install_import_hook("evsurf", "beartype.beartype")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") is None or torch.cuda.is_available():
        return
    reason = "needs a CUDA device"
    if os.environ.get("EVSURF_REQUIRE_GPU") == "1":
        pytest.fail(f"{reason}, and EVSURF_REQUIRE_GPU=1 says there is one", pytrace=False)
    pytest.skip(reason)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Hand a `plain` test to a process of its own; annotations stay checked in this one."""
    config = pyfuncitem.config
    if pyfuncitem.get_closest_marker("plain") is None or config.getoption("--plain"):
        return None
    command = [sys.executable, "-m", "pytest", pyfuncitem.nodeid, "--plain", "-q", "-m", ""]
    command += ["-p", "no:cacheprovider", *(["--full"] if config.getoption("--full") else [])]
    child = subprocess.run(
        command,
        cwd=config.rootpath,
        capture_output=True,
        text=True,
        timeout=_SECONDS_FOR_A_PLAIN_TEST,
    )
    if child.returncode != 0:
        pytest.fail(f"in its own process:\n{child.stdout}\n{child.stderr}", pytrace=False)
    return True


@pytest.fixture(
    scope="session", params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)], ids=str
)
def device(request: pytest.FixtureRequest) -> torch.device:
    """Each device in turn. Of the session, so that properties of hypothesis may use it too."""
    return torch.device(request.param)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real recordings, which is no part of the project and may lie beside it."""
    folder = Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the real recordings are not beside the project")
    return folder


@pytest.fixture(params=["baseline", "avx2", "avx512"])
def isa(request: pytest.FixtureRequest):
    """Each copy of the compiled kernels that this processor can run."""
    # Not at the top: the package is imported only once its annotations are being checked.
    from evsurf import _core

    if not _core.choose_isa(request.param):
        pytest.skip(f"this processor has no {request.param}")
    yield request.param
    _core.choose_isa("best")


@pytest.fixture
def threads_set():
    """Sets the number of threads until the end of the test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)


@pytest.fixture
def own_errors():
    """Lets wrong arguments past the checked annotations to our own errors, which users see."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture(autouse=True)
def _known_randomness():
    """Every test starts from the same random numbers and leaves no trace in those of the next."""
    states = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    torch.manual_seed(0)
    yield
    random.setstate(states[0])
    np.random.set_state(states[1])  # noqa: NPY002
    torch.set_rng_state(states[2])


@pytest.fixture(autouse=True)
def _poisoned_memory(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch):
    if not request.config.getoption("--plain"):
        poison.install(monkeypatch)
