"""Batches of streams in pieces, with gradients through their state."""

from __future__ import annotations

import pytest
import torch

import evsurf as es
from evsurf.surfaces import step
from evsurf.surfaces.stream import image_of, new_state
from tests.surfaces.test_live import SIZE, stream
from tests.tolerances import assert_near


def pieces(samples: list[es.Events], cuts: list[int]) -> list[es.EventBatch]:
    borders = zip([0, *cuts], [*cuts, 10**9], strict=True)
    return [es.EventBatch.pack([s[a:b] for s in samples]) for a, b in borders]


def test_a_batch_of_streams_in_pieces_is_the_batch():
    samples = [stream(300, seed=1), stream(40, seed=2), es.Events.empty(SIZE), stream(90, seed=3)]
    surface = es.MatrixLSTM(3, time="log_delay")
    state, image = None, None
    for piece in pieces(samples, [10, 60, 61]):
        image, state = step(surface, piece, state)
    assert torch.equal(image, surface(es.EventBatch.pack(samples)))
    assert torch.equal(image_of(surface, state), image)


def test_gradients_through_the_pieces_are_those_of_the_whole():
    samples = [stream(120, seed=1), stream(200, seed=2)]
    surface = es.MatrixLSTM(3, time="delay", scope="fixed", layers=2).double()
    weight = torch.randn(2, 3, *SIZE, dtype=torch.float64)
    state = None
    for piece in pieces(samples, [50, 100]):
        image, state = step(surface, piece, state)
    (image * weight).sum().backward()
    found = [p.grad for p in surface.parameters()]
    surface.zero_grad(set_to_none=True)
    (surface(es.EventBatch.pack(samples)) * weight).sum().backward()
    for actual, parameter in zip(found, surface.parameters(), strict=True):
        assert_near(actual, parameter.grad, kind="gradient")


def test_a_detached_state_cuts_the_gradient_and_keeps_the_numbers():
    first, second = pieces([stream(200)], [100])
    surface = es.MatrixLSTM(2, time="log_delay")
    _, state = step(surface, first)
    image, _ = step(surface, second, state)
    cut, _ = step(surface, second, state.detach())
    assert torch.equal(image, cut)
    assert not state.detach().memory.h.requires_grad
    whole, alone = (torch.autograd.grad(i.sum(), surface.weight)[0] for i in (image, cut))
    assert not torch.equal(whole, alone)


def test_cells_without_new_events_keep_their_value():
    surface = es.MatrixLSTM(2, time="log_delay")
    first = es.EventBatch.pack([es.Events.from_arrays([1, 2], [3, 3], [5, 9], [1, 0], SIZE)])
    second = es.EventBatch.pack([es.Events.from_arrays([2], [3], [20], [1], SIZE)])
    before, state = step(surface, first)
    after, _ = step(surface, second, state)
    assert torch.equal(before[0, :, 3, 1], after[0, :, 3, 1])
    assert not torch.equal(before[0, :, 3, 2], after[0, :, 3, 2])


def test_a_state_counts_events_and_remembers_times():
    surface = es.MatrixLSTM(2, time="log_delay")
    events = es.Events.from_arrays([0, 1, 0], [0, 0, 0], [5, 6, 9], [1, 0, 1], (1, 3))
    _, state = step(surface, es.EventBatch.pack([events]))
    assert state.memory.seen.tolist() == [2, 1, 0]
    assert state.memory.last.tolist()[:2] == [9, 6]
    assert (int(state.clock.start), int(state.clock.now), bool(state.clock.begun)) == (5, 9, True)


@pytest.mark.parametrize(
    "options", [{"channels": 1}, {"channels": 5}, {"layers": 2}, {"stride": 2, "padding": "valid"}]
)
def test_a_state_of_another_surface_is_refused(options):
    """Its memory would be read beyond its end."""
    piece = es.EventBatch.pack([stream(5)])
    _, state = step(es.MatrixLSTM(2, time="log_delay"), piece)
    other = es.MatrixLSTM(**({"channels": 2, "time": "log_delay"} | options))
    with pytest.raises(ValueError, match="the state is of another surface: it holds"):
        step(other, piece, state)


def test_weights_of_another_layer_are_refused():
    surface = es.MatrixLSTM(2, time="log_delay")
    surface.weight_ih_l0 = torch.nn.Parameter(torch.zeros(8, 1))
    with pytest.raises(ValueError, match=r"w_ih of layer 0 must be \[8, 2\]"):
        step(surface, es.EventBatch.pack([stream(5)]))
    with pytest.raises(ValueError, match=r"w_ih of layer 0 must be \[8, 2\]"):
        es.Live(surface, SIZE).push(stream(5))


def test_a_recording_is_a_batch_of_one():
    surface, events = es.MatrixLSTM(2, time="log_delay"), stream(50)
    assert torch.equal(step(surface, events)[0], surface(events))


def test_what_is_no_state_is_refused(own_errors):
    with pytest.raises(TypeError, match="state must be a StreamState or None, not int"):
        step(es.MatrixLSTM(2, time="log_delay"), stream(5), 3)


def test_a_state_of_other_streams_is_refused():
    surface = es.MatrixLSTM(2, time="log_delay")
    state = new_state(surface, SIZE, 2)
    with pytest.raises(ValueError, match="the state is of 2 streams"):
        step(surface, es.EventBatch.pack([stream(5)]), state)
