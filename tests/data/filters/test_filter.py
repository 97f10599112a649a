import pickle

import pytest

from evsurf.data import filters, transforms
from evsurf.data.filters import BackgroundActivity, KeepPolarity, Refractory
from evsurf.events import Events
from tests.random_events import random_batch


def test_filters_are_transforms_that_draw_nothing():
    batch = random_batch([40, 50], (4, 4), seed=1)
    both = transforms.Compose([Refractory(20), KeepPolarity(True)])
    assert both(batch, seed=1) == both(batch, seed=2) == KeepPolarity(True)(Refractory(20)(batch))


def test_the_printed_form_shows_the_parameters():
    assert repr(BackgroundActivity(500)) == "BackgroundActivity(duration=500, radius=1)"
    assert repr(Refractory(5).start((3, 4))) == "Filtering(Refractory(period=5), size=(3, 4))"
    assert pickle.loads(pickle.dumps(Refractory(5))) == Refractory(5)


def test_pieces_of_another_size_are_refused():
    filtering = Refractory(5).start((3, 4))
    with pytest.raises(ValueError, match=r"the piece has size \(4, 3\), the stream \(3, 4\)"):
        filtering.push(Events.empty((4, 3)))


def test_every_public_name_is_there():
    assert all(hasattr(filters, name) for name in filters.__all__)
