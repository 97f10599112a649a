"""Times how fast events come from a store: shuffled batches, and windows of a long recording."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch.utils.data import DataLoader

from evsurf.bench import machine
from evsurf.bench.measure import Timing, measure
from evsurf.data.arguments import check_least
from evsurf.data.loading import BatchSampler, Loader, collate
from evsurf.data.store import Store, StoreWriter
from evsurf.data.synthetic import camera_like
from evsurf.events import Events

_DRAWN = 512
_WINDOW = 20_000
_PIECE = 1_000_000
_PIECE_TIME = 200_000


@dataclass(frozen=True)
class Plan:
    """What is measured."""

    samples: int = 8192
    """Of N-Cars' kind, about 4,000 events each."""
    batch_size: int = 64
    workers: int = 2
    long_pieces: int = 50
    """Length of the long recording in millions of events, 5 M of them a second."""
    windows: int = 20_000
    repeats: int = 5
    seed: int = 0

    def __post_init__(self) -> None:
        check_least("samples", self.samples, 1)
        check_least("batch_size", self.batch_size, 1)
        check_least("workers", self.workers, 1)
        check_least("windows", self.windows, 1)

    def fast(self) -> Plan:
        """The same in seconds: to see the order of things, not to quote it."""
        return replace(self, samples=256, long_pieces=1, windows=200, repeats=2)


@dataclass(frozen=True)
class Row:
    """One way of reading."""

    name: str
    unit: str
    amount: int
    """Units that one repeat reads."""
    timing: Timing
    cpu: float | None = None
    """Processor seconds of a repeat, the median; None where other processes work too."""

    @property
    def rate(self) -> float:
        """Units a second, by the median."""
        return self.amount / self.timing.median


@dataclass(frozen=True)
class Report:
    """What was measured, on what."""

    plan: Plan
    machine: dict[str, object]
    input: dict[str, object]
    rows: list[Row]

    def as_json(self) -> dict[str, object]:
        """Plain numbers and text."""
        results = [
            {"name": row.name, "unit": row.unit, "amount": row.amount, "per_second": row.rate}
            | ({} if row.cpu is None else {"per_cpu_second": row.amount / row.cpu})
            | row.timing.summary()
            for row in self.rows
        ]
        return {
            "what": "events from a store on a disk whose pages are in memory",
            "machine": self.machine,
            "input": self.input,
            "protocol": {
                "order": "in turns, after warm-up, two rounds",
                "batches": "one shuffled epoch of for batch, targets in loader",
                "windows": "20 ms at random times, as tensors that share the file's memory",
                "per_cpu_second": "by the processor's time, which other work does not count in",
                "seed": self.plan.seed,
            },
            "results": results,
        }


def run(plan: Plan, tell: Callable[[str], object] = lambda _: None) -> Report:
    """Writes a store of drawn samples and a long one to a temporary folder, and reads them."""
    with ExitStack() as closing:
        folder = Path(closing.enter_context(tempfile.TemporaryDirectory()))
        tell("writing the stores")
        ncars, long = _ncars(folder / "ncars.store", plan), _long(folder / "long.store", plan)
        facts = machine.describe()
        tell("reading windows")
        rows = [_windows(long, plan)]
        for name, loader in closing.enter_context(_loaders(ncars, plan)).items():
            tell(name)
            alone = "processes" not in name
            rows.append(
                _measured(name, _epoch(loader), ("events", ncars.num_events), plan, alone=alone)
            )
        given: dict[str, object] = {
            "samples": len(ncars),
            "events": ncars.num_events,
            "batch_size": plan.batch_size,
            "workers": plan.workers,
            "long_events": long.num_events,
            "window_events": long.num_events * _WINDOW // (plan.long_pieces * _PIECE_TIME),
        }
    return Report(plan, facts, given, rows)


def _ncars(path: Path, plan: Plan) -> Store:
    """Samples of N-Cars' kind; some hundred different ones are enough."""
    drawn = camera_like("ncars", min(_DRAWN, plan.samples), plan.seed).unpack()
    with StoreWriter(path) as writer:
        for number in range(plan.samples):
            writer.add(drawn[number % len(drawn)], number % 2)
    return Store(path)


def _long(path: Path, plan: Plan) -> Store:
    """One recording of a large sensor, a piece repeated."""
    import torch

    generator = torch.Generator().manual_seed(plan.seed)

    def draw(high: int) -> torch.Tensor:
        return torch.randint(high, (_PIECE,), generator=generator)

    x, y, p = draw(1280).short(), draw(720).short(), draw(2).bool()
    t = draw(_PIECE_TIME).sort().values
    with StoreWriter(path) as writer:
        pieces = (t + i * _PIECE_TIME for i in range(plan.long_pieces))
        writer.add(Events(x, y, times, p, (720, 1280), validate=False) for times in pieces)
    return Store(path)


def _windows(store: Store, plan: Plan) -> Row:
    drawing = random.Random(plan.seed)
    last = plan.long_pieces * _PIECE_TIME - _WINDOW
    starts = [drawing.randrange(last) for _ in range(plan.windows)]

    def read() -> int:
        return sum(len(store.window(start, start + _WINDOW)) for start in starts)

    return _measured("random windows, one process", read, ("windows", plan.windows), plan)


def _measured(
    name: str, call: Callable[[], int], what: tuple[str, int], plan: Plan, *, alone: bool = True
) -> Row:
    """The row of a call that reads so many units, with its own share of a busy machine."""
    spent = []

    def counted() -> int:
        start = time.process_time()
        found = call()
        spent.append(time.process_time() - start)
        return found

    timing = measure({name: counted}, repeats=plan.repeats, seconds=60.0)[name]
    return Row(name, *what, timing, statistics.median(spent) if alone else None)


class _OneByOne:
    """A store as a data set that gives single samples only."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def __len__(self) -> int:
        return len(self.store)

    def __getitem__(self, index: int) -> Any:
        return self.store[index]


@contextmanager
def _loaders(store: Store, plan: Plan) -> Iterator[dict[str, Any]]:
    """Every way to get batches, by name; ours first."""
    size, workers = plan.batch_size, plan.workers

    def ours(count: int, kind: Any) -> Loader:
        sampler = BatchSampler(store, size, shuffle=True, seed=plan.seed)
        return Loader(store, sampler, workers=count, kind=kind)

    def torchs(dataset: Any) -> DataLoader[Any]:
        return DataLoader(
            dataset, size, shuffle=True, collate_fn=collate, num_workers=workers,
            persistent_workers=True,
        )  # fmt: skip

    made = {
        f"Loader, {workers} threads": ours(workers, "thread"),
        "Loader, no workers": ours(0, "auto"),
        "Loader, 1 thread": ours(1, "thread"),
        f"Loader, {workers} processes": ours(workers, "process"),
        f"torch's DataLoader, {workers} processes": torchs(store),
        f"torch's DataLoader, {workers} processes, sample by sample": torchs(_OneByOne(store)),
    }
    try:
        yield made
    finally:
        for loader in made.values():
            if isinstance(loader, Loader):
                loader.close()


def _epoch(loader: Any) -> Callable[[], int]:
    def read() -> int:
        return sum(batch.num_events for batch, _ in loader)

    return read
