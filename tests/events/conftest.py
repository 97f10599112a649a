"""What the tests of events share."""

import jaxtyping
import pytest


@pytest.fixture
def own_errors():
    """Lets wrong arguments through to our own checks, whose messages users see."""
    config = jaxtyping.config
    checked = not config.jaxtyping_disable
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", not checked)
