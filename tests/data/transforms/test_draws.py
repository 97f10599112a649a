import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.transforms.draws import Draws, mixed, scaled, seed_for

signed = st.integers(-(2**63), 2**63 - 1)


@given(signed, st.integers(0, 2**40))
def test_seeds_are_the_same_in_python_and_in_tensors(seed, number):
    expected = seed_for(seed, number)
    keys = torch.tensor([seed])
    assert mixed(keys, number).item() == expected
    assert mixed(keys, torch.tensor([number])).item() == expected
    assert -(2**63) <= expected < 2**63


def test_seeds_follow_split_mix_64():
    # The published first outputs for the seed 1234567.
    published = [6457827717110365317, 3203168211198807973, 9817491932198370423]
    assert [seed_for(1234567, k) % 2**64 for k in range(3)] == published


def test_every_number_of_the_path_matters():
    paths = [(1,), (1, 0), (1, 0, 0), (1, 2, 3), (1, 3, 2), (2, 1, 3)]
    assert len({seed_for(*path) for path in paths}) == len(paths)
    assert seed_for(2**64 + 5, 1) == seed_for(5, 1)


def test_numbers_of_events_are_those_of_the_sample_alone(device):
    draws = Draws(torch.tensor([5, 6, 7], device=device))
    offsets = torch.tensor([0, 3, 3, 8], device=device)
    together = draws.bits(2, offsets, 8)
    alone = Draws(draws.keys[2:]).bits(2, torch.tensor([0, 5], device=device), 5)
    assert together[3:].tolist() == alone.tolist()
    assert len(set(together.tolist())) == 8


def test_draws_are_even():
    draws = Draws(torch.tensor([3]))
    n = 40_000
    each = draws.each(0, torch.tensor([0, n]), n)
    assert (each >= 0).all()
    assert (each < 1).all()
    counts = torch.histc(each, 20, 0, 1)
    # Chi squared with 19 degrees of freedom stays below 50 but once in 7,000 times.
    assert ((counts - n / 20) ** 2 / (n / 20)).sum() < 50
    # Neighbours know nothing of each other, and neither do samples with neighbouring seeds.
    assert abs(torch.corrcoef(torch.stack([each[1:], each[:-1]]))[0, 1]) < 0.02
    other = Draws(torch.tensor([4])).each(0, torch.tensor([0, n]), n)
    assert abs(torch.corrcoef(torch.stack([each, other]))[0, 1]) < 0.02


def test_whole_numbers_reach_both_ends_and_no_further():
    keys = torch.arange(2000)
    drawn = Draws(keys).integers(0, -2, 2)
    assert torch.bincount(drawn + 2, minlength=5).min() > 300
    assert set(drawn.tolist()) == {-2, -1, 0, 1, 2}
    widest = scaled(torch.tensor([0.0, 1 - 2.0**-53], dtype=torch.float64), 0, 2**62)
    assert widest.tolist()[0] == 0
    assert widest.tolist()[1] <= 2**62


def test_numbers_of_a_seed_are_whole(own_errors):
    with pytest.raises(TypeError, match="seed must be an int"):
        seed_for("a")
