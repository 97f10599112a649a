"""`BatchSampler`: which samples make up which batch, in every epoch, on every machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias, final

import torch

from evsurf.data.loading.batching import by_count, by_events, similar
from evsurf.data.loading.seeding import shuffled
from evsurf.data.loading.splitting import Dataset, lengths_of
from evsurf.events.checks import check_integer

Uneven: TypeAlias = Literal["repeat", "drop", "keep"]


@final
class BatchSampler:
    """Lists of sample numbers, one for each batch of an epoch.

    For `Loader`, or as the `batch_sampler` of `torch.utils.data.DataLoader`. The order depends on
    `seed` and the epoch alone. An epoch that was run through is followed by the next; `set_epoch`
    chooses one.

    `batch_size` samples make a batch, or as many as have no more than `max_events` events together
    (one alone may have more), or both. `bucket=True` puts samples of similar length together: it
    sorts pools of a hundred batches, and shuffles the batches. Both read `dataset.lengths`.

    Of several processes, each takes its own share: `rank` of `world`, which are those of
    `torch.distributed` where that is initialised, else 0 of 1. What does not divide evenly is, as
    `uneven` says, made up for by samples that some rank sees twice ("repeat", which keeps all in
    step), left out ("drop"), or given to the first ranks ("keep", for scores; ranks that wait for
    each other would hang). Without bucket and max_events the shares are those of torch's
    `DistributedSampler`: every world-th sample; else every world-th batch.
    """

    def __init__(
        self,
        dataset: Dataset,
        batch_size: int | None = None,
        *,
        shuffle: bool = False,
        seed: int = 0,
        bucket: bool = False,
        max_events: int | None = None,
        drop_last: bool = False,
        uneven: Uneven = "repeat",
        rank: int | None = None,
        world: int | None = None,
    ) -> None:
        _check_count("batch_size", batch_size)
        _check_count("max_events", max_events)
        if batch_size is None and max_events is None:
            raise ValueError(
                "give batch_size, max_events or both: neither says how large a batch is"
            )
        if len(dataset) == 0:
            raise ValueError("the data set is empty: there is nothing to make batches of")
        if uneven not in ("repeat", "drop", "keep"):
            raise ValueError(f"uneven = {uneven!r} must be 'repeat', 'drop' or 'keep'")
        if (rank is None) != (world is None):
            raise ValueError(f"rank = {rank} and world = {world} go together: give both or neither")
        if rank is not None and world is not None and not 0 <= rank < world:
            raise ValueError(f"rank = {rank} must be from 0 to {world - 1}, below world = {world}")
        self._lengths = lengths_of(dataset) if bucket or max_events is not None else None
        self._settings: dict[str, Any] = {
            "samples": len(dataset),
            "batch_size": batch_size,
            "shuffle": shuffle,
            "seed": check_integer("seed", seed, "any"),
            "bucket": bucket,
            "max_events": max_events,
            "drop_last": drop_last,
            "uneven": uneven,
        }
        self._place = None if rank is None or world is None else (rank, world)
        self._epoch = 0
        self._position = 0
        self._start = 0
        self._cut: tuple[object, list[list[int]]] | None = None

    @property
    def seed(self) -> int:
        """What the order of all epochs comes from."""
        return int(self._settings["seed"])

    @property
    def epoch(self) -> int:
        """The epoch that comes next, or that was begun and not ended."""
        return self._epoch

    @property
    def position(self) -> int:
        """How many batches of the epoch were handed out."""
        return self._position

    @property
    def start(self) -> int:
        """The batch that the next iteration starts with: 0, unless a state was loaded."""
        return self._start

    @property
    def place(self) -> tuple[int, int]:
        """Rank and number of the processes that share the samples."""
        if self._place is not None:
            return self._place
        distributed = torch.distributed
        if distributed.is_available() and distributed.is_initialized():
            return distributed.get_rank(), distributed.get_world_size()
        return 0, 1

    def set_epoch(self, epoch: int) -> None:
        """Chooses the epoch; the one that it is already in goes on where a state was loaded."""
        if check_integer("epoch", epoch, "from 0") < 0:
            raise ValueError(f"epoch = {epoch} must be at least 0")
        if epoch != self._epoch:
            self._epoch, self._position, self._start = epoch, 0, 0

    def batches(self) -> list[list[int]]:
        """All batches of the epoch, from its start."""
        key = (self._epoch, self.place)
        if self._cut is None or self._cut[0] != key:
            self._cut = key, self._made()
        return self._cut[1]

    def _made(self) -> list[list[int]]:
        settings, (rank, world) = self._settings, self.place
        count, batch_size = settings["samples"], settings["batch_size"]
        order = (
            shuffled(self.seed, count, epoch=self._epoch)
            if settings["shuffle"]
            else torch.arange(count)
        )
        if self._lengths is None:
            mine = _even(order.tolist(), world, settings["uneven"])[rank::world]
            return by_count(mine, batch_size, drop_last=settings["drop_last"])
        if settings["bucket"]:
            order = similar(order, self._lengths, self._pool(count))
        lengths = self._lengths[order].tolist()
        made = by_events(order.tolist(), lengths, batch_size, settings["max_events"])
        if settings["drop_last"] and batch_size is not None and len(made[-1]) < batch_size:
            made.pop()
        if settings["bucket"] and settings["shuffle"]:
            made = [made[i] for i in shuffled(~self.seed, len(made), epoch=self._epoch).tolist()]
        return _even(made, world, settings["uneven"])[rank::world]

    def _pool(self, samples: int) -> int:
        """Samples that are sorted together: a hundred batches of them, of all where in order."""
        assert self._lengths is not None
        if not self._settings["shuffle"]:
            return samples
        if self._settings["batch_size"] is not None:
            return 100 * int(self._settings["batch_size"])
        mean = max(float(self._lengths.double().mean()), 1.0)
        return max(int(100 * self._settings["max_events"] / mean), 1)

    def __len__(self) -> int:
        """Number of batches of the epoch on this rank."""
        return len(self.batches())

    def __iter__(self) -> Iterator[list[int]]:
        """The epoch from its first batch, or on from a loaded state; at its end the next comes."""
        batches = self.batches()
        self._position, self._start = self._start, 0
        while self._position < len(batches):
            self._position += 1
            yield batches[self._position - 1]
        self.set_epoch(self._epoch + 1)

    def state_dict(self) -> dict[str, Any]:
        """Where the sampler is, for `load_state_dict` of one that was made alike."""
        settings = {**self._settings, "world": self.place[1]}
        return {"epoch": self._epoch, "position": self._position, "settings": settings}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes to where another sampler was, which must have had the same settings."""
        mine = self.state_dict()["settings"]
        for name, value in state["settings"].items():
            if mine.get(name) != value:
                raise ValueError(
                    f"the state is of a sampler with {name} = {value!r}, and this one has "
                    f"{mine.get(name)!r}: the batches would not be the same"
                )
        self.set_epoch(state["epoch"])
        self._position = self._start = int(state["position"])


def _check_count(name: str, value: int | None) -> None:
    if value is not None and check_integer(name, value, "at least 1") < 1:
        raise ValueError(f"{name} = {value} must be at least 1")


def _even(items: list[Any], world: int, uneven: Uneven) -> list[Any]:
    """As many items as the world divides."""
    rest = len(items) % world
    if rest == 0 or uneven == "keep":
        return items
    if uneven == "drop":
        return items[: len(items) - rest]
    missing = world - rest
    return items + (items * (missing // len(items) + 1))[:missing]
