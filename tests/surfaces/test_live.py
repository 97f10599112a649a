"""A live surface is the surface of everything pushed so far."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import evsurf as es
from tests.tolerances import assert_near

SIZE = (12, 17)
CAUSAL = {
    "log delay": {"time": "log_delay"},
    "fixed delay": {"time": "delay", "scope": "fixed"},
    "fixed timestamp": {"time": "ts", "scope": "fixed", "time_scale": 5_000.0},
    "signed": {"time": "log_delay", "polarity": "signed"},
    "field": {"time": "log_delay", "kernel_size": (3, 2)},
    "strided field": {"time": "log_delay", "kernel_size": 3, "stride": 2, "padding": "valid"},
    "layers": {"time": "log_delay", "layers": 3},
    "attention": {"time": "log_delay", "attention": True},
    "without bias": {"time": "log_delay", "bias": False},
}


def stream(events: int, *, size: tuple[int, int] = SIZE, seed: int = 0) -> es.Events:
    """A recording with equal times, and with pixels that fire often."""
    random = torch.Generator().manual_seed(seed)
    height, width = size
    t = torch.randint(0, 20 * events + 1, (events,), generator=random) // 40 * 40
    return es.Events(
        torch.randint(0, width, (events,), generator=random).short(),
        torch.randint(0, height, (events,), generator=random).short(),
        t.sort().values,
        torch.rand(events, generator=random) < 0.5,
        size,
    )


def pushed(surface: es.MatrixLSTM, events: es.Events, cuts: list[int]) -> es.Live:
    live = es.Live(surface, events.size)
    for begin, end in zip([0, *cuts], [*cuts, len(events)], strict=True):
        live.push(events[begin:end])
    return live


@pytest.mark.parametrize("options", CAUSAL.values(), ids=CAUSAL.keys())
def test_pieces_give_the_surface_of_the_whole(options, device):
    events = stream(3000).to(device)
    surface = es.MatrixLSTM(3, **options).to(device)
    whole = surface(events).detach()
    live = pushed(surface, events, [1, 2, 700, 700, 1500, 2999])
    # On a CPU both run the same arithmetic; elsewhere sums are in another order. Attention takes
    # means, which torch may sum in another order too.
    if device.type == "cpu" and not options.get("attention"):
        assert torch.equal(live.surface(), whole)
    else:
        assert_near(live.surface(), whole)


@given(cuts=st.lists(st.integers(0, 400), max_size=40).map(sorted), seed=st.integers(0, 2**20))
def test_where_a_stream_is_cut_makes_no_difference_to_the_last_bit(cuts, seed):
    events = stream(400, seed=seed)
    torch.manual_seed(seed)
    surface = es.MatrixLSTM(4, time="log_delay")
    assert torch.equal(pushed(surface, events, cuts).surface(), surface(events))


@pytest.mark.full
def test_a_thousand_ways_to_cut_a_stream_agree_to_the_last_bit():
    events = stream(5000)
    surface = es.MatrixLSTM(3, time="delay", scope="fixed")
    whole = surface(events)
    for seed in range(1000):
        random = torch.Generator().manual_seed(seed)
        count = int(torch.randint(1, 200, (1,), generator=random))
        cuts = torch.randint(0, len(events) + 1, (count,), generator=random).sort().values.tolist()
        assert torch.equal(pushed(surface, events, cuts).surface(), whole)


def test_a_recording_pushed_event_by_event_is_the_recording():
    events = stream(150, size=(3, 4))
    surface = es.MatrixLSTM(2, time="log_delay")
    live = pushed(surface, events, list(range(1, len(events))))
    assert torch.equal(live.surface(), surface(events))


def test_the_surface_can_be_read_between_pushes():
    events = stream(500)
    surface = es.MatrixLSTM(3, time="log_delay")
    live = es.Live(surface, SIZE)
    assert torch.equal(live.surface(), torch.zeros(1, 3, *SIZE))
    for end in (100, 300, 500):
        live.push(events[end - (100 if end == 100 else 200) : end])
        assert torch.equal(live.surface(), surface(events[:end]))


def test_a_surface_read_earlier_does_not_change_with_later_events():
    events = stream(100)
    live = pushed(es.MatrixLSTM(2, time="log_delay"), events[:50], [])
    before = live.surface()
    kept = before.clone()
    live.push(events[50:])
    assert torch.equal(before, kept)
    assert not torch.equal(live.surface(), kept)


def test_an_empty_piece_changes_nothing():
    live = pushed(es.MatrixLSTM(2, time="log_delay"), stream(50), [])
    before = live.surface()
    live.push(es.Events.empty(SIZE))
    assert torch.equal(live.surface(), before)


def test_times_far_from_zero_lose_nothing():
    events = stream(400)
    late = es.Events(events.x, events.y, events.t + 2**61, events.p, SIZE)
    surface = es.MatrixLSTM(2, time="log_delay")
    assert torch.equal(pushed(surface, late, [37, 201]).surface(), surface(events))


def test_reset_forgets_everything():
    events = stream(300)
    surface = es.MatrixLSTM(2, time="log_delay")
    live = pushed(surface, events, [])
    live.reset()
    assert torch.equal(live.surface(), torch.zeros(1, 2, *SIZE))
    live.push(events)
    assert torch.equal(live.surface(), surface(events))


def test_reset_of_some_cells_forgets_those_alone():
    events = stream(600)
    surface = es.MatrixLSTM(2, time="log_delay")
    live = pushed(surface, events[:300], [])
    where = torch.zeros(SIZE, dtype=torch.bool)
    where[:, :8] = True
    live.reset(where)
    live.push(events[300:])
    left = events.x < 8
    later = torch.arange(len(events)) >= 300
    fresh = surface(events[left & later])
    assert torch.equal(live.surface()[..., :8], fresh[..., :8])
    assert torch.equal(live.surface()[..., 8:], surface(events)[..., 8:])


def test_pushing_leaves_the_weights_without_gradients():
    surface = es.MatrixLSTM(2, time="log_delay")
    live = pushed(surface, stream(50), [])
    assert not live.surface().requires_grad
    assert surface.weight.grad is None


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ({}, r'time="delay" with scope="relative"'),
        ({"time": "ts", "scope": "absolute"}, r'scope="absolute"'),
        ({"time": "log_delay", "bins": 2}, "bins > 1"),
        ({"time": "log_delay", "max_events": 5}, "max_events"),
        ({"time": "log_delay", "global_time": True}, "global_time"),
    ],
)
def test_a_surface_that_needs_the_future_is_refused_with_the_causal_choices(options, cause):
    with pytest.raises(ValueError, match=f'{cause}.*Causal are .*time="log_delay"'):
        es.Live(es.MatrixLSTM(2, **options), SIZE)


def test_events_older_than_the_stream_are_refused():
    live = pushed(es.MatrixLSTM(2, time="log_delay"), stream(50), [])
    now = int(live.state.clock.now)
    past = es.Events.from_arrays([0], [0], [now - 1], [1], SIZE)
    before = live.surface()
    with pytest.raises(ValueError, match=rf"has come to t = {now}, and the piece starts at"):
        live.push(past)
    assert torch.equal(live.surface(), before)


def test_wrong_arguments_are_refused(own_errors):
    surface = es.MatrixLSTM(2, time="log_delay")
    live = es.Live(surface, SIZE)
    with pytest.raises(ValueError, match=r"events are of a sensor of size \(5, 5\)"):
        live.push(es.Events.empty((5, 5)))
    with pytest.raises(TypeError, match="events must be Events, not list"):
        live.push([1, 2])
    with pytest.raises(TypeError, match="surface must be a MatrixLSTM, not Linear"):
        es.Live(torch.nn.Linear(2, 2), SIZE)
    with pytest.raises(ValueError, match=r"where must be a bool tensor of \[12, 17\]"):
        live.reset(torch.zeros(3, 3, dtype=torch.bool))
    with pytest.raises(TypeError, match="where must be a tensor of bools, not list"):
        live.reset([True])


@pytest.mark.parametrize(
    ("size", "error"),
    [((0, 5), ValueError), ((3, 2**15), ValueError), ((5.5, 6), TypeError), (7, TypeError)],
)
def test_what_is_no_sensors_size_is_refused(size, error, own_errors):
    with pytest.raises(error, match="size"):
        es.Live(es.MatrixLSTM(2, time="log_delay"), size)


def test_its_printed_form_says_what_it_is():
    live = pushed(es.MatrixLSTM(2, time="log_delay"), stream(50), [])
    assert "12x17" in repr(live)
    assert "cells with events" in repr(live)
