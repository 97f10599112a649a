import torch

from evsurf.data.loading import BatchSampler, split
from evsurf.data.loading.seeding import seeds_of, shuffled
from tests.data.loading.samples import Samples

ORDER = [2, 1, 7, 5, 6, 0, 4, 3]


def test_orders_are_the_same_in_every_version():
    assert shuffled(0, 8).tolist() == ORDER
    assert split(Samples(8), (3, 5), seed=0)[0].indices == tuple(sorted(ORDER[:3]))
    assert list(BatchSampler(Samples(8), 8, shuffle=True)) == [ORDER]


def test_every_seed_and_epoch_has_an_order_of_its_own():
    orders = [shuffled(seed, 50, epoch=epoch) for seed in (0, 1, -1) for epoch in range(3)]
    assert len({str(order.tolist()) for order in orders}) == 9
    assert all(sorted(order.tolist()) == list(range(50)) for order in orders)
    assert shuffled(3, 0).tolist() == []


def test_every_place_is_as_likely():
    places = torch.stack([shuffled(seed, 10) for seed in range(2000)])
    counts = torch.stack([(places == number).sum(0) for number in range(10)])
    assert ((counts - 200).abs() < 70).all()


def test_each_sample_of_each_epoch_has_a_seed_of_its_own():
    indices = torch.arange(1000)
    seeds = [seeds_of(seed, epoch, indices) for seed in (0, 1, -5, 2**63) for epoch in range(5)]
    assert len(set(torch.cat(seeds).tolist())) == 20_000
    assert torch.equal(seeds_of(0, 3, indices)[7:9], seeds_of(0, 3, torch.tensor([7, 8])))
    bits = torch.stack([(torch.cat(seeds) >> k) & 1 for k in range(64)]).double().mean(1)
    assert ((bits - 0.5).abs() < 0.02).all()
