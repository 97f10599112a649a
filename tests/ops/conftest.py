"""What the tests of ops share."""

from __future__ import annotations

import pytest
import torch


@pytest.fixture
def threads_set():
    """Sets the number of threads until the end of the test."""
    before = torch.get_num_threads()
    yield torch.set_num_threads
    torch.set_num_threads(before)
