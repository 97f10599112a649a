"""Large surfaces use memory again, and nobody can tell."""

from __future__ import annotations

import copy

import torch

import evsurf as es
from evsurf import _core
from tests.random_events import random_batch

LARGE = 33 << 20


def test_memory_that_is_done_with_is_used_again():
    first = _core.large_memory(LARGE)
    place = first.data_ptr()
    del first
    assert _core.large_memory(LARGE).data_ptr() == place


def test_memory_in_use_is_not_given_out():
    first, second = _core.large_memory(LARGE), _core.large_memory(LARGE)
    view = first[5:]
    place = first.data_ptr()
    del first
    assert _core.large_memory(LARGE).data_ptr() not in (place, second.data_ptr())
    assert view.data_ptr() == place + 5


def test_a_large_surface_in_used_memory_is_zero_where_nothing_happened():
    size = (720, 1280)
    surface = es.MatrixLSTM(12)
    first = surface(random_batch([3000], size, seed=1)).detach()
    assert first.numel() * first.element_size() >= LARGE
    place = first.data_ptr()
    first.fill_(torch.nan)
    del first
    events = es.Events.from_arrays([7], [9], [0], [1], size)
    image = surface(events).detach()
    assert image.data_ptr() == place
    assert int(image.count_nonzero()) == 12
    assert torch.equal(image[0, :, 9, 7], surface(events.crop(9, 7, 1, 1))[0, :, 0, 0])


def test_a_large_surface_behaves_as_any_tensor():
    surface = es.MatrixLSTM(12)(random_batch([3000], (720, 1280), seed=1))
    surface.sum().backward()
    assert surface.data_ptr() % 64 == 0
    assert torch.equal(copy.deepcopy(surface.detach()), surface)
