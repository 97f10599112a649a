"""`Loader`: batches in the sampler's order, made ahead of time by threads or processes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import Any, Literal, TypeAlias, final

import torch
from torch.utils.data import DataLoader

from evsurf.data.loading.fetching import Fetched, Fetcher, OnError, Task, Transform
from evsurf.data.loading.sampler import BatchSampler
from evsurf.data.loading.splitting import Dataset, name_of
from evsurf.data.store.gathering import Packed
from evsurf.events import EventBatch

Kind: TypeAlias = Literal["auto", "thread", "process"]


@final
class Loader:
    """`for batch, targets in loader`: one epoch of batches, in the sampler's order.

    `workers` threads or processes make `ahead` batches each before they are asked for; 0 makes each
    when it is asked for. Threads read a `Store` fastest, as nothing has to go from one process to
    another; processes are for data sets and transforms that compute in Python. "auto" takes threads
    for a `Store` and a `Subset` of one.

    `transform` changes whole batches. One that takes a `seed` is given one per sample, from the
    sampler's seed, the epoch and the sample's number: workers never repeat each other, and their
    number changes nothing. Processes also seed Python's, NumPy's and torch's generators anew for
    each batch.

    `on_error="skip"` leaves out samples that cannot be read, keeps them in `skipped`, and gives up
    once they are more than `most_skipped`. A batch is smaller then, or missing.

    `state_dict`, taken between any two batches, and `load_state_dict` of a loader that was made
    alike go on with exactly the batches that are left.
    """

    def __init__(
        self,
        dataset: Dataset,
        sampler: BatchSampler,
        *,
        transform: Transform | None = None,
        workers: int = 0,
        kind: Kind = "auto",
        ahead: int = 2,
        pin_memory: bool = False,
        on_error: OnError = "raise",
        most_skipped: int = 100,
    ) -> None:
        if workers < 0 or ahead < 1 or most_skipped < 0:
            raise ValueError(
                f"workers = {workers} and most_skipped = {most_skipped} must be at least 0, and "
                f"ahead = {ahead} at least 1"
            )
        if kind not in ("auto", "thread", "process"):
            raise ValueError(f"kind = {kind!r} must be 'auto', 'thread' or 'process'")
        if on_error not in ("raise", "skip"):
            raise ValueError(f"on_error = {on_error!r} must be 'raise' or 'skip'")
        self.dataset = dataset
        self.sampler = sampler
        self.skipped: dict[int, str] = {}
        """Samples that could not be read, and why."""
        self._workers = workers
        self._ahead = ahead
        self._pin = pin_memory
        self._most_skipped = most_skipped
        auto = "thread" if hasattr(dataset, "packed") else "process"
        self._process = workers > 0 and (auto if kind == "auto" else kind) == "process"
        self._fetch = Fetcher(dataset, sampler.seed, transform, on_error, self._process)
        self._tasks = _Tasks()
        self._torch_loader: DataLoader[Any] | None = None

    def __len__(self) -> int:
        """Number of batches of the epoch."""
        return len(self.sampler)

    @property
    def batch_sampler(self) -> BatchSampler:
        """The sampler, under the name by which Lightning asks for it."""
        return self.sampler

    def set_epoch(self, epoch: int) -> None:
        """Chooses the epoch that comes next."""
        self.sampler.set_epoch(epoch)

    def state_dict(self) -> dict[str, Any]:
        """Where the loader is: the epoch and the batches that were handed out."""
        return self.sampler.state_dict()

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Goes to where another loader was."""
        self.sampler.load_state_dict(state)

    def __iter__(self) -> Iterator[tuple[EventBatch, Any]]:
        epoch, start, batches = self.sampler.epoch, self.sampler.start, self.sampler.batches()
        tasks = [Task(epoch, i, batches[i]) for i in range(start, len(batches))]
        made = self._made_by_processes(tasks) if self._process else self._made_by_threads(tasks)
        try:
            # The sampler counts what was handed out, not what was made ahead of it.
            for _, fetched in zip(self.sampler, made, strict=False):
                self._count(fetched)
                if fetched.batch is None:
                    continue
                batch = fetched.batch
                yield batch.batch() if isinstance(batch, Packed) else batch, fetched.targets
        finally:
            made.close()

    def _count(self, fetched: Fetched) -> None:
        if fetched.error is not None:
            raise fetched.error
        self.skipped.update(fetched.skipped)
        if len(self.skipped) > self._most_skipped:
            shown = "; ".join(f"{i}, {why}" for i, why in islice(self.skipped.items(), 3))
            raise RuntimeError(
                f"{len(self.skipped):,} samples could not be read, more than most_skipped = "
                f"{self._most_skipped}. The first of them: {shown}"
            )

    def _made_by_threads(self, tasks: list[Task]) -> Generator[Fetched, None, None]:
        if self._workers == 0:
            yield from (self._pinned(self._fetch(task)) for task in tasks)
            return
        pool = ThreadPoolExecutor(self._workers, "evsurf-loader")
        under_way: deque[Future[Fetched]] = deque()
        try:
            for task in tasks:
                under_way.append(pool.submit(self._fetch_in_thread, task))
                if len(under_way) == self._workers * self._ahead:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)

    def _fetch_in_thread(self, task: Task) -> Fetched:
        return self._pinned(self._fetch(task))

    def _pinned(self, fetched: Fetched) -> Fetched:
        return fetched.pin_memory() if self._pin else fetched

    def _made_by_processes(self, tasks: list[Task]) -> Generator[Fetched, None, None]:
        self._tasks.left = tasks
        if self._torch_loader is None:
            self._torch_loader = DataLoader(
                _ByTask(self._fetch),
                batch_size=None,
                sampler=self._tasks,
                collate_fn=_as_it_is,
                num_workers=self._workers,
                prefetch_factor=self._ahead,
                pin_memory=self._pin,
                persistent_workers=True,
            )
        try:
            yield from self._torch_loader
        except RuntimeError as error:
            if "worker" not in str(error):
                raise
            raise RuntimeError(f"{error} {self._under_way()}") from error

    def _under_way(self) -> str:
        """Which samples a worker that was killed may have worked on."""
        start = max(self.sampler.position - 1, 0)
        batches = self.sampler.batches()[start : start + self._workers * self._ahead]
        numbers = [i for batch in batches for i in batch]
        names = ", ".join(name_of(self.dataset, i) for i in numbers[:5])
        more = f" and {len(numbers) - 5} more" if len(numbers) > 5 else ""
        return (
            f"It was killed from outside, often because memory ran out, while these samples were "
            f"under way: {names}{more}."
        )

    def close(self) -> None:
        """Ends the worker processes; iterating again starts new ones."""
        self._torch_loader = None


class _Tasks:
    """What the epoch has left to do, for a loader of torch that asks anew in each epoch."""

    def __init__(self) -> None:
        self.left: list[Task] = []

    def __iter__(self) -> Iterator[Task]:
        return iter(self.left)


class _ByTask(torch.utils.data.Dataset[Fetched]):
    """A data set whose index is a task, which `DataLoader` carries to a worker."""

    def __init__(self, fetch: Callable[[Task], Fetched]) -> None:
        self._fetch = fetch

    def __getitem__(self, task: Task) -> Fetched:
        return self._fetch(task)


def _as_it_is(fetched: Any) -> Any:
    return fetched


def make_loader(
    dataset: Dataset,
    batch_size: int,
    *,
    shuffle: bool = False,
    workers: int = 0,
    seed: int = 0,
    bucket: bool = False,
    transform: Transform | None = None,
) -> Loader:
    """A `Loader` of a `BatchSampler` with the usual choices; both have more when made by hand."""
    sampler = BatchSampler(dataset, batch_size, shuffle=shuffle, seed=seed, bucket=bucket)
    return Loader(dataset, sampler, transform=transform, workers=workers)
