"""Random numbers that depend on a seed and on places alone: the same on every device, in any batch.

A generator with a state would give a sample other numbers in another batch. Here the number of
event j of a sample is a hash (the finaliser of SplitMix64) of the sample's seed, of what the
number is for, and of j, in 64-bit integers that wrap around alike everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, final

import torch
from jaxtyping import Float64, Int64
from torch import Tensor

from evsurf.events import EventBatch
from evsurf.events.checks import check_integer
from evsurf.events.ragged import sample_of

Number: TypeAlias = float | int

Seed: TypeAlias = int | Int64[Tensor, "samples"]
"""One seed, or one for each sample of a batch."""

_STEP = 0x9E3779B97F4A7C15
_FIRST, _SECOND = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def seed_for(seed: int, *numbers: int) -> int:
    """A seed of its own for each sequence of numbers, such as epoch, worker and index.

    `transform(batch, seed=s)` gives sample i what `transform(batch[i], seed=seed_for(s, i))` gives.

    >>> seed_for(7, 0, 3) == seed_for(7, 0, 3), seed_for(7, 0, 3) == seed_for(7, 3, 0)
    (True, False)
    """
    key = _wrapped(check_integer("seed", seed, "any"))
    for number in numbers:
        key = _scrambled(_wrapped(key + _STEP * (check_integer("number", number, "any") + 1)))
    return key


def _wrapped(value: int) -> int:
    """The value as a signed integer of 64 bits."""
    return (value + 2**63) % 2**64 - 2**63


def _scrambled(key: int) -> int:
    bits: int = key % 2**64
    bits = (bits ^ (bits >> 30)) * _FIRST % 2**64
    bits = (bits ^ (bits >> 27)) * _SECOND % 2**64
    return _wrapped(bits ^ (bits >> 31))


def mixed(keys: Int64[Tensor, "keys"], numbers: Int64[Tensor, "keys"] | int) -> Tensor:
    """`seed_for` of each key and a number."""
    if isinstance(numbers, int):
        return _scramble_(keys + _wrapped((numbers + 1) * _STEP))
    return _scramble_(keys + (numbers + 1) * _wrapped(_STEP))


def _scramble_(bits: Int64[Tensor, "keys"]) -> Int64[Tensor, "keys"]:
    # Shifts of signed integers copy the sign, which the masks remove.
    bits ^= (bits >> 30) & (2**34 - 1)
    bits *= _wrapped(_FIRST)
    bits ^= (bits >> 27) & (2**37 - 1)
    bits *= _wrapped(_SECOND)
    bits ^= (bits >> 31) & (2**33 - 1)
    return bits


def _fractions(bits: Int64[Tensor, "keys"]) -> Float64[Tensor, "keys"]:
    """From 0 up to 1, evenly: the upper 53 bits."""
    return ((bits >> 11) & (2**53 - 1)).double() * 2.0**-53


@final
@dataclass(frozen=True)
class Draws:
    """The random numbers of some samples; `purpose` tells apart what they are drawn for."""

    keys: Int64[Tensor, "samples"]

    @staticmethod
    def of(seed: Seed, batch: EventBatch, *, alone: bool = False) -> Draws:
        """From one seed for each sample, or from one seed and the places in the batch."""
        if isinstance(seed, Tensor):
            if seed.dtype != torch.int64 or seed.shape != (len(batch),):
                raise ValueError(
                    f"seed must be an int or one int64 for each of {len(batch)} samples, got "
                    f"{seed.dtype} of shape {tuple(seed.shape)}"
                )
            return Draws(seed.to(batch.device))
        key = _wrapped(check_integer("seed", seed, "any"))
        keys = torch.full_like(batch.offsets[1:], key)
        return Draws(keys if alone else mixed(keys, torch.arange(len(batch), device=keys.device)))

    def part(self, purpose: int) -> Draws:
        """Other numbers for the same samples, for one of several transforms."""
        return Draws(mixed(self.keys, purpose))

    def among(self, samples: Int64[Tensor, "chosen"]) -> Draws:
        """The numbers of some of the samples."""
        return Draws(self.keys.index_select(0, samples))

    def uniform(
        self, purpose: int, low: Number | Tensor = 0.0, high: Number | Tensor = 1.0
    ) -> Float64[Tensor, "samples"]:
        """One number for each sample, from low up to high."""
        return low + (high - low) * _fractions(mixed(self.keys, purpose))

    def integers(
        self,
        purpose: int,
        low: Int64[Tensor, "samples"] | int,
        high: Int64[Tensor, "samples"] | int,
    ) -> Int64[Tensor, "samples"]:
        """One whole number for each sample, from low to high, both included."""
        return scaled(_fractions(mixed(self.keys, purpose)), low, high)

    def bits(
        self, purpose: int, offsets: Int64[Tensor, "offsets"], events: int
    ) -> Int64[Tensor, "events"]:
        """64 random bits for each of the packed things that offsets divide among the samples."""
        # Key and place in one: the key of the sample, moved back by where the sample starts.
        keys = mixed(self.keys, purpose) - offsets[:-1] * _wrapped(_STEP)
        spread = keys.index_select(0, sample_of(offsets, events))
        places = torch.arange(1, events + 1, device=spread.device)
        return _scramble_(spread.add_(places.mul_(_wrapped(_STEP))))

    def each(
        self, purpose: int, offsets: Int64[Tensor, "offsets"], events: int
    ) -> Float64[Tensor, "events"]:
        """A number from 0 up to 1 for each of the packed things."""
        return _fractions(self.bits(purpose, offsets, events))


def scaled(
    fractions: Float64[Tensor, "draws"],
    low: Int64[Tensor, "draws"] | int,
    high: Int64[Tensor, "draws"] | int,
) -> Int64[Tensor, "draws"]:
    """Whole numbers from low to high for fractions from 0 up to 1."""
    drawn = (fractions * (high - low + 1)).floor().long() + low
    # Beyond 2**53 values a double cannot tell the last few apart.
    return drawn.clamp_max(high) if isinstance(high, int) else torch.minimum(drawn, high)
