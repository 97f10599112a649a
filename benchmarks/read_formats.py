"""How fast files of ten million events become four columns, beside other readers.

    python benchmarks/read_formats.py [--events N] [--rounds R] [-o FILE]

Other readers are measured where they are installed (`pip install evt3 expelliarmus faery eventcv
evlib`). A process reads a small file, which pays for imports, then the large one several times: the
first reading pays for fresh memory, the others find what the one before let go of. Readers take
turns. What they read is compared with what was written: sums of every column and of every column
times its place.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SIZE = 720, 1280
# The rows and columns of a `.bin` file are bytes.
SMALL = 128, 128
REPEATS = 6


def synthetic(count: int, size: tuple[int, int], seed: int = 0) -> list[np.ndarray[Any, Any]]:
    """Columns x, y, t, p of two seconds; half of the events in short rows at one time."""
    draw = np.random.default_rng(seed)
    height, width = size
    # Some fall together or outside.
    drawn = count + count // 10 + 100
    lengths = draw.geometric(1 / 6, drawn // 12)
    starts = np.cumsum(lengths) - lengths
    single = drawn - drawn // 2
    rows = np.arange(lengths.sum()) - np.repeat(starts, lengths)
    pixels = [draw.pareto(1.2, (size[side] + 15) // 16).repeat(16)[: size[side]] for side in (0, 1)]
    y_of, x_of = (np.cumsum(pixel) / pixel.sum() for pixel in pixels)

    def places(n: int) -> tuple[Any, Any, Any, Any]:
        y = np.searchsorted(y_of, draw.random(n))
        x = np.searchsorted(x_of, draw.random(n))
        return x, y, draw.integers(0, 2_000_000, n), draw.integers(0, 2, n)

    bursts = [np.repeat(column, lengths) for column in places(len(lengths))]
    bursts[0] = bursts[0] + rows
    columns = [np.concatenate(pair) for pair in zip(places(single), bursts, strict=True)]
    columns = [column[columns[0] < width] for column in columns]
    x, y, t, p = columns
    key = ((t * height + y) * 2 + p) * width + x
    key = np.unique(key)
    assert len(key) >= count
    key = key[np.sort(draw.permutation(len(key))[:count])]
    return [key % width, key // width // 2 % height, key // width // 2 // height, key // width % 2]


def evt21(columns: list[np.ndarray[Any, Any]]) -> bytes:
    """EVT 2.1 words of events that are sorted by time, row, polarity and column."""
    x, y, t, p = (column.astype(np.uint64) for column in columns)
    key = ((t * 4096 + y) * 2 + p) * 64 + x // 32
    first = np.flatnonzero(np.diff(key.astype(np.int64), prepend=-1))
    mask = np.bitwise_or.reduceat(np.uint64(1) << x % 32, first)
    x, y, t, p = (column[first] for column in (x // 32 * 32, y, t, p))
    high = np.diff((t >> 6).astype(np.int64), prepend=-1) != 0
    at = np.cumsum(high + 1) - 1
    words = np.empty(int(at[-1]) + 1, "<u8")
    words[at] = p << 60 | (t & 63) << 54 | x << 43 | y << 32 | mask
    words[at[high] - 1] = np.uint64(8 << 60) | (t[high] >> 6) << 32
    return words.tobytes()


def write_files(folder: Path, events: int, prefix: str) -> None:
    """A file in each format, and the sums of its columns."""
    import evsurf as es

    for size, suffixes in ((SIZE, ("evt3", "evt2", "dat")), (SMALL, ("bin",))):
        columns = synthetic(events, size)
        made = es.Events.from_arrays(*columns, size=size)
        for suffix in suffixes:
            es.write(made, folder / f"{prefix}.{suffix}")
            (folder / f"{prefix}.{suffix}.json").write_text(json.dumps(sums(*columns)))
        if size == SIZE:
            head = "% evt 2.1\n% format EVT21;endianness=little;height=720;width=1280\n"
            head += "% geometry 1280x720\n% end\n"
            (folder / f"{prefix}.evt21").write_bytes(head.encode() + evt21(columns))
            (folder / f"{prefix}.evt21.json").write_text(json.dumps(sums(*columns)))


def sums(*columns: Any) -> list[int]:
    """What tells wrong columns from right ones."""
    found = []
    for values in columns:
        column = np.asarray(values).astype(np.int64)
        place = np.arange(len(column)) % 1009
        found += [int(column.sum()), int((column * place).sum())]
    return [len(np.asarray(columns[0])), *found]


def by_evsurf(path: Path) -> tuple[Any, ...]:
    """Ours."""
    import evsurf as es

    events = es.read(path, SMALL if path.suffix == ".bin" else None)
    return events.x, events.y, events.t, events.p


def by_evt3(path: Path) -> tuple[Any, ...]:
    """PyPI's evt3."""
    import evt3

    events = evt3.decode_file(str(path))
    return events.x, events.y, events.timestamp, events.polarity


def by_expelliarmus(path: Path) -> tuple[Any, ...]:
    """PyPI's expelliarmus."""
    from expelliarmus import Wizard

    kind = "dat" if path.suffix == ".dat" else path.stem.partition("_")[2]
    events = Wizard(encoding=kind).read(str(path))
    return events["x"], events["y"], events["t"], events["p"]


def by_faery(path: Path) -> tuple[Any, ...]:
    """PyPI's faery."""
    import faery

    events = faery.events_stream_from_file(path).to_array()
    return events["x"], events["y"], events["t"], events["on"]


def by_eventcv(path: Path) -> tuple[Any, ...]:
    """PyPI's eventcv."""
    import eventcv

    events = eventcv.load(str(path)).numpy()
    return tuple(events[:, k] for k in range(4))


def by_evlib(path: Path) -> tuple[Any, ...]:
    """PyPI's evlib."""
    import evlib

    table = evlib.formats.load_events(str(path)).collect()
    time_of = table["t"].to_physical().to_numpy()
    return table["x"].to_numpy(), table["y"].to_numpy(), time_of, table["polarity"].to_numpy() > 0


READERS: dict[str, Callable[[Path], tuple[Any, ...]]] = {
    "evsurf": by_evsurf,
    "evt3": by_evt3,
    "expelliarmus": by_expelliarmus,
    "faery": by_faery,
    "eventcv": by_eventcv,
    "evlib": by_evlib,
}
FILES = {
    "evt3": ("evsurf", "evt3", "expelliarmus", "faery", "eventcv", "evlib"),
    "evt2": ("evsurf", "expelliarmus", "faery", "eventcv", "evlib"),
    "evt21": ("evsurf", "evlib"),
    "dat": ("evsurf", "expelliarmus", "faery", "eventcv"),
    "bin": ("evsurf",),
}


def raw_named(path: Path) -> Path:
    """The same file under the suffix that other readers expect."""
    if path.suffix in (".dat", ".bin"):
        return path
    link = path.with_name(f"{path.stem}_{path.suffix[1:]}.raw")
    if not link.exists():
        link.hardlink_to(path)
    return link


def resident(field: str) -> int:
    """Bytes of this process in memory: now (VmRSS), or at most so far (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(field))


def readings(folder: Path, kind: str, reader: str) -> None:
    """Reads a small file once and a large one several times, and prints what that took."""
    read = READERS[reader]
    path = folder / f"large.{kind}"
    choose = (lambda one: one) if reader == "evsurf" else raw_named
    read(choose(folder / f"small.{kind}"))
    before = resident("VmRSS")
    walls, cpus, right = [], [], True
    for _ in range(REPEATS):
        busy, start = time.process_time(), time.perf_counter()
        columns = read(choose(path))
        count = len(np.asarray(columns[0]))
        walls.append(time.perf_counter() - start)
        cpus.append(time.process_time() - busy)
        if len(walls) == 1:
            peak = resident("VmHWM") - before
            right = sums(*columns) == json.loads((folder / f"large.{kind}.json").read_text())
        del columns
    found = {"s": walls, "cpu_s": cpus, "peak_bytes": peak, "right": right, "events": count}
    sys.stdout.write(json.dumps(found))


def measured(folder: Path, rounds: int) -> list[dict[str, object]]:
    """Every reader of every file, in turns."""
    rows: list[dict[str, object]] = []
    for kind, readers in FILES.items():
        takes: dict[str, list[dict[str, Any]]] = {}
        for _ in range(rounds):
            for reader in readers:
                command = [sys.executable, __file__, "--one", str(folder), kind, reader]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode == 0:
                    takes.setdefault(reader, []).append(json.loads(done.stdout.splitlines()[-1]))
        for reader, found in takes.items():
            rows.append({"format": kind, "reader": reader, **summary(found)})
    return rows


def summary(found: list[dict[str, Any]]) -> dict[str, object]:
    """Millions of events per second, by the clock and by processor time, and bytes an event."""
    events = found[0]["events"] / 1e6

    def rate(unit: str, again: bool) -> float:
        takes = [take for one in found for take in (one[unit][1:] if again else one[unit][:1])]
        return round(events / statistics.median(takes), 1)

    return {
        "right": all(one["right"] for one in found),
        "again_mev_s": rate("s", True),
        "again_mev_cpu_s": rate("cpu_s", True),
        "first_mev_s": rate("s", False),
        "first_mev_cpu_s": rate("cpu_s", False),
        "best_mev_s": round(events / min(min(one["s"]) for one in found), 1),
        "peak_bytes_per_event": round(
            statistics.median(one["peak_bytes"] for one in found) / max(found[0]["events"], 1), 1
        ),
        "readings": sum(len(one["s"]) for one in found),
    }


def main() -> None:
    """Writes the files, measures, writes the results."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.one:
        readings(Path(chosen.one[0]), chosen.one[1], chosen.one[2])
        return
    from evsurf.bench.machine import describe

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder, 1000, "small")
        write_files(folder, chosen.events, "large")
        rows = measured(folder, chosen.rounds)
    protocol = "a small file first, then the large one in turns; page cache warm"
    found = {
        "what": f"{chosen.events:,} events of a file to columns x, y, t, p",
        "machine": describe(),
        "protocol": protocol,
        "results": rows,
    }
    text = json.dumps(found, indent=1) + "\n"
    if chosen.output:
        chosen.output.write_text(text)
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
