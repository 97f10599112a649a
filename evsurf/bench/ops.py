"""Times the Matrix-LSTM surface against every other way to compute it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import torch

from evsurf.bench import machine
from evsurf.bench.agreement import check_agreement
from evsurf.bench.measure import Timing, measure
from evsurf.bench.memory import check_can_measure, in_fresh_process, peak_bytes
from evsurf.bench.variants import Variant, full_precision, one_pass, variants
from evsurf.data.arguments import check_least
from evsurf.data.synthetic import camera_like
from evsurf.events import EventBatch
from evsurf.ops import group_by_pixel

PASSES = ("forward", "forward+backward")

_MOST_BYTES = 6e9


@dataclass(frozen=True)
class Plan:
    """What is measured."""

    stream: str = "ncars"
    """The name of a camera-like preset."""
    samples: int = 64
    channels: tuple[int, ...] = (3, 4, 16)
    repeats: int = 30
    seconds: float = 6.0
    """For the repeats of one variant in one round; slow ones are repeated less."""
    device: str = "cpu"
    seed: int = 0
    memory: bool = False

    def __post_init__(self) -> None:
        check_least("samples", self.samples, 1)
        # Now, not when everything has been timed.
        if self.memory:
            check_can_measure(torch.device(self.device))

    def fast(self) -> Plan:
        """The same in seconds: to see the order of things, not to quote it."""
        return replace(
            self,
            samples=min(self.samples, 8),
            channels=self.channels[:1],
            repeats=min(self.repeats, 5),
            seconds=min(self.seconds, 0.5),
        )

    def batch(self) -> EventBatch:
        """The events."""
        return camera_like(self.stream, self.samples, self.seed).to(self.device)


@dataclass(frozen=True)
class Row:
    """One variant in one pass."""

    variant: str
    channels: int
    pass_name: str
    samples: int
    events: int
    timing: Timing | None
    """None where it was left out, as it needs too much memory."""
    peak_bytes: int | None = None

    @property
    def events_per_second(self) -> float:
        """By the median."""
        return self.events / self.timing.median if self.timing else 0.0


@dataclass(frozen=True)
class Report:
    """What was measured, on what."""

    plan: Plan
    machine: dict[str, object]
    input: dict[str, object]
    rows: list[Row]

    def times_slower(self, row: Row) -> float:
        """How often the time of ours this row takes per event, in the same pass and run."""
        ours = next(
            r
            for r in self.rows
            if (r.channels, r.pass_name, r.variant) == (row.channels, row.pass_name, "evsurf")
        )
        return ours.events_per_second / row.events_per_second if row.timing else float("nan")

    def as_json(self) -> dict[str, object]:
        """Plain numbers and text."""
        return {
            "what": "Matrix-LSTM surface, from packed events to the dense image",
            "machine": self.machine,
            "input": self.input,
            "protocol": {
                "order": "in turns, after warm-up, two rounds",
                "precision": "float32, without TF32",
                "forward": "torch.inference_mode",
                "forward+backward": "gradients of the weights from a fixed random gradient",
                "checked": "values of all but ConvLSTM 3x3, weight gradients of the LSTMs",
                "seed": self.plan.seed,
                "device": self.plan.device,
            },
            "results": [self._row_as_json(row) for row in self.rows],
        }

    def _row_as_json(self, row: Row) -> dict[str, object]:
        facts: dict[str, object] = {
            "variant": row.variant,
            "channels": row.channels,
            "pass": row.pass_name,
            "samples": row.samples,
            "events": row.events,
        }
        if row.timing is None:
            return {**facts, "left_out": f"needs more than {_MOST_BYTES / 1e9:.0f} GB"}
        facts |= {
            **row.timing.summary(),
            "events_per_second": row.events_per_second,
            "times_slower_than_evsurf": self.times_slower(row),
        }
        return facts if row.peak_bytes is None else {**facts, "peak_extra_bytes": row.peak_bytes}


def run(plan: Plan, progress: Callable[[str], None] = lambda _: None) -> Report:
    """Checks that all variants agree, then times them; raises DisagreementError if they do not."""
    batch = plan.batch()
    described = machine.describe()
    rows: list[Row] = []
    # Seeding is not to be felt by who runs this.
    seeded = torch.random.fork_rng([batch.device] if batch.device.type == "cuda" else [])
    with full_precision(), seeded:
        for channels in plan.channels:
            torch.manual_seed(plan.seed)
            chosen = [(v, _affordable(v, batch)) for v in variants(channels, batch.device)]
            progress(f"{channels} channels: checking that all agree")
            check_agreement([(v, part) for v, part in chosen if part is not None])
            for pass_name in PASSES:
                progress(f"{channels} channels: timing {pass_name}")
                rows += _timed(plan, channels, pass_name, chosen)
    if plan.memory:
        rows = [_with_memory(plan, row, progress) for row in rows]
    return Report(plan, described, _describe_input(plan, batch), rows)


def _affordable(variant: Variant, batch: EventBatch) -> EventBatch | None:
    """As many of the samples as the variant has memory for, halved until they fit."""
    count = len(batch)
    while count and variant.training_bytes(batch[:count]) > _MOST_BYTES:
        count //= 2
    return batch[:count] if count else None


def _timed(
    plan: Plan,
    channels: int,
    pass_name: str,
    chosen: Sequence[tuple[Variant, EventBatch | None]],
) -> list[Row]:
    device = torch.device(plan.device)
    size = next(part.size for _, part in chosen if part is not None)
    gradient = torch.randn(plan.samples, channels, *size, device=device)
    calls = {
        v.name: one_pass(v, part, pass_name, gradient[: len(part)])
        for v, part in chosen
        if part is not None
    }
    wait = partial(torch.cuda.synchronize, device) if device.type == "cuda" else lambda: None
    timings = measure(calls, repeats=plan.repeats, seconds=plan.seconds, synchronize=wait)
    return [
        Row(v.name, channels, pass_name, len(part), part.num_events, timings[v.name])
        if part is not None
        else Row(v.name, channels, pass_name, 0, 0, None)
        for v, part in chosen
    ]


def _with_memory(plan: Plan, row: Row, progress: Callable[[str], None]) -> Row:
    if row.timing is None:
        return row
    progress(f"{row.channels} channels: memory of {row.variant}, {row.pass_name}")
    threads = torch.get_num_threads()
    peak = in_fresh_process(
        _peak, plan, row.variant, row.channels, row.pass_name, row.samples, threads
    )
    return replace(row, peak_bytes=peak)


def _peak(plan: Plan, name: str, channels: int, pass_name: str, samples: int, threads: int) -> int:
    """Runs in a process of its own."""
    torch.set_num_threads(threads)
    device = torch.device(plan.device)
    batch = plan.batch()[:samples]
    variant = next(v for v in variants(channels, device) if v.name == name)
    with full_precision():
        # What is loaded and started at first use is not the pass's.
        one_pass(variant, batch[:1], pass_name)()
        return peak_bytes(one_pass(variant, batch, pass_name), device)


def _describe_input(plan: Plan, batch: EventBatch) -> dict[str, object]:
    groups = group_by_pixel(batch)
    return {
        "stream": plan.stream,
        "samples": len(batch),
        "size": list(batch.size),
        "events": batch.num_events,
        "active_pixels": len(groups),
        "busiest_pixel": int(groups.lengths.max()) if len(groups) else 0,
    }
