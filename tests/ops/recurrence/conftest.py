"""What the tests of the recurrence share."""

from __future__ import annotations

import pytest


@pytest.fixture(params=["baseline", "avx2", "avx512"])
def isa(request: pytest.FixtureRequest):
    """Each copy of the kernels that this processor can run."""
    # Not at the top: the package is imported only once its annotations are being checked.
    from evsurf import _core

    if not _core.choose_isa(request.param):
        pytest.skip(f"this processor has no {request.param}")
    yield request.param
    _core.choose_isa("best")
