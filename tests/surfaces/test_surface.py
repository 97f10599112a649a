import pytest
import torch

from evsurf.events import EventBatch, Events
from evsurf.surfaces.surface import Surface, as_batch

EVENTS = Events.from_arrays([0, 1], [0, 0], [3, 5], [1, 0], size=(1, 2))


class Ones(Surface):
    """The smallest surface there is."""

    out_channels = 1

    def forward(self, batch):
        batch = as_batch(batch)
        return torch.ones(len(batch), self.out_channels, *batch.size)


def test_a_surface_is_a_module_of_its_own_forward():
    surface = Ones()
    assert isinstance(surface, torch.nn.Module)
    assert surface(EventBatch.pack([EVENTS, EVENTS])).shape == (2, 1, 1, 2)
    assert surface(EVENTS).shape == (1, 1, 1, 2)


def test_a_surface_without_a_forward_cannot_be_made():
    class Idle(Surface):
        out_channels = 1

    with pytest.raises(TypeError, match="abstract"):
        Surface()  # type: ignore[abstract]
    with pytest.raises(TypeError, match="abstract.*forward"):
        Idle()  # type: ignore[abstract]


def test_a_batch_passes_as_it_is():
    batch = EventBatch.pack([EVENTS])
    assert as_batch(batch) is batch


def test_a_recording_becomes_a_batch_of_one():
    batch = as_batch(EVENTS)
    assert batch == EventBatch.pack([EVENTS])
    assert len(batch) == 1


@pytest.mark.usefixtures("own_errors")
@pytest.mark.parametrize("wrong", [torch.zeros(2, 4), [EVENTS], None])
def test_anything_else_is_refused_with_the_way_out(wrong):
    kind = type(wrong).__name__
    with pytest.raises(TypeError, match=rf"Events, not {kind}; arrays .*Events\.from_arrays\("):
        as_batch(wrong)
