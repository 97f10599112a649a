"""Where the files of DSEC's flow are, in the layouts in which people have them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from evsurf.data.datasets.listing import ends_in, files_in, folders_within
from evsurf.data.formats.damage import FormatError


class FlowFile(NamedTuple):
    """One flow: from when to when in microseconds, its number, and its picture if there is one."""

    t0: int
    t1: int
    number: int
    path: Path | None


@dataclass(frozen=True)
class DrivenFiles:
    """The files of one sequence."""

    name: str
    events: Path
    rectification: Path | None
    flows: tuple[FlowFile, ...]


def sequences_in(root: Path, split: str) -> dict[str, DrivenFiles]:
    """The sequences of a split that have events and flow, or times of flow, by name."""
    events: dict[str, Path] = {}
    flows: dict[str, tuple[FlowFile, ...]] = {}
    # The archives put up to five folders around the files: train_events/name/events/left/events.h5.
    for folder in folders_within(root, depth=5):
        if folder.name in ("left", "events_left") and (folder / "events.h5").is_file():
            drive = folder.parent if folder.name == "events_left" else folder.parent.parent
            events[drive.name] = folder / "events.h5"
        if split == "train" and (folder / "forward_timestamps.txt").is_file():
            name = folder.parent.name if folder.name == "flow" else folder.name
            flows[name] = _trained(folder)
        if split == "test" and folder.name.endswith("optical_flow_timestamps"):
            for path in files_in(folder, ends_in(".csv")):
                flows[path.stem] = _asked(path)
    return {
        name: DrivenFiles(name, events[name], _beside(events[name]), flows[name])
        for name in sorted(flows)
        if name in events
    }


def _beside(events: Path) -> Path | None:
    path = events.with_name("rectify_map.h5")
    return path if path.is_file() else None


def _trained(folder: Path) -> tuple[FlowFile, ...]:
    """The pictures of a folder, each with its line of times."""
    table = folder / "forward_timestamps.txt"
    times = _rows(table, 2)
    pictures = (
        files_in(folder / "forward", ends_in(".png")) if (folder / "forward").is_dir() else []
    )
    if len(times) != len(pictures):
        raise FormatError(
            f"{table} has {len(times)} times, and {folder / 'forward'} has {len(pictures)} pictures"
        )
    return tuple(
        FlowFile(t0, t1, int(path.stem) if path.stem.isdecimal() else number, path)
        for number, ((t0, t1), path) in enumerate(zip(times, pictures, strict=True))
    )


def _asked(table: Path) -> tuple[FlowFile, ...]:
    """The times for which the benchmark wants a flow, and the numbers that files have to have."""
    return tuple(FlowFile(t0, t1, number, None) for t0, t1, number in _rows(table, 3))


def _rows(table: Path, columns: int) -> list[tuple[int, ...]]:
    """The whole numbers of each line after the header."""
    rows = []
    for number, line in enumerate(table.read_text(encoding="utf-8").splitlines(), 1):
        cells = [cell.strip() for cell in line.split(",")]
        is_header = line.startswith("#") or (number == 1 and not cells[0].isdecimal())
        if is_header or not line.strip():
            continue
        if len(cells) < columns or not all(cell.isdecimal() for cell in cells[:columns]):
            raise FormatError(f"{table}, line {number}: {line!r} is not {columns} whole numbers")
        rows.append(tuple(int(cell) for cell in cells[:columns]))
    return rows
