"""Random numbers from hashes: the same in every version of every library, on every machine."""

from __future__ import annotations

import torch
from torch import Tensor

# Apart from the seeds of samples, which count up from epoch 0.
_ORDERS = -1


def shuffled(seed: int, count: int, *, epoch: int = 0) -> Tensor:
    """The numbers below the count in an order of the epoch's own."""
    key = int(seeds_of(seed, _ORDERS, torch.tensor(epoch)))
    return torch.argsort(seeds_of(key, epoch, torch.arange(count)), stable=True)


def seeds_of(seed: int, epoch: int, indices: Tensor) -> Tensor:
    """A seed for each sample of an epoch: a hash, the same whatever else is in its batch."""
    key = torch.tensor((seed + 2**63) % 2**64 - 2**63)
    for number in (torch.tensor(epoch), indices):
        key = _hashed(key + _hashed(number + _GOLDEN))
    return key


_GOLDEN = -0x61C8864680B583EB


def _hashed(key: Tensor) -> Tensor:
    """SplitMix64's finaliser, in which int64 wraps around as it shall."""
    for shift, factor in ((30, -0x40A7B892E31B1A47), (27, -0x6B2FB644ECCEEE15)):
        key = (key ^ _shifted(key, shift)) * factor
    return key ^ _shifted(key, 31)


def _shifted(key: Tensor, bits: int) -> Tensor:
    # The sign is a bit like the others.
    return (key >> bits) & ((1 << (64 - bits)) - 1)
