"""What the tests of the benchmarks share."""

import pytest


@pytest.fixture(autouse=True)
def _one_thread(threads_set):
    """Batches this small gain nothing by more, which on a busy machine wait for each other."""
    threads_set(1)
