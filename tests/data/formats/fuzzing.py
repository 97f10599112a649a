"""Broken files in great numbers: small ones of every format, and what may happen to files.

Runs without checked annotations, in a process whose memory is limited. For as many files as wanted:
`python -m tests.data.formats.fuzzing FOLDER COUNT [SEED [FORMAT ...]]`.
"""

from __future__ import annotations

import faulthandler
import io
import json
import random
import re
import resource
import sys
import time
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from evsurf.data.formats.columns import Columns
from evsurf.data.formats.damage import Damage, FormatError
from evsurf.data.formats.isolation.child import limit_memory
from evsurf.data.formats.reader import Format, Options, SeekableReader
from evsurf.data.formats.recording import ALL
from evsurf.data.formats.registry import format_of, formats
from evsurf.events import Events
from evsurf.events.checks import EARLIEST, LATEST, LONGEST_SIDE
from tests.data.formats import aedat4_files, aedat_files, encoders
from tests.data.formats.matlab import Encoder

SIZE = (32, 48)
# Other libraries read these, so a file may crash them.
FOREIGN = {"hdf5", "aedat4", "bag"}
SECONDS = 1.0
SPARE = 64 * 2**20
# A loop in compiled code hears no signal, so a watchdog ends the process: so many seconds after so
# many files.
_HANG, _WATCHED = 60, 500
_HEADER = 512
_EXTREMES = [0, 1, -1, 2**7, 2**15 - 1, 2**15, 2**16 - 1, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63)]
_NUMBERS = [b"0", b"-1", b"65536", b"4294967296", b"99999999999999999999", b"1e400", b"nan", b""]


def some_events(count: int, seed: int) -> Events:
    """A recording in which rows fire together, as formats with vectors like it."""
    rows = encoders.random_events(count, SIZE, us=5000, t0=100, seed=seed)
    x, y, t, p = zip(*rows, strict=True)
    return Events.from_arrays(x, y, t, p, SIZE, sort=True)


def seeds(folder: Path) -> dict[str, list[bytes]]:
    """Small whole files of every format, by its name."""
    found: dict[str, list[bytes]] = {name: [] for name in formats()}
    for number, count in enumerate((3, 40)):
        events = some_events(count, number)
        for contents in (_encoded(events), _written(events, folder / "seed")):
            for name, files in contents.items():
                found[name] += files
    return found


def _encoded(events: Events) -> dict[str, list[bytes]]:
    x, y, t, p = columns = [getattr(events, name).numpy() for name in "xytp"]
    rows = [(int(x[i]), int(y[i]), int(t[i]), int(p[i])) for i in range(len(t))]
    head = {kind: encoders.raw_header(kind, SIZE) for kind in ("EVT2", "EVT21", "EVT3")}
    table = dict(zip("xytp", columns, strict=True))
    whole = {"x": x, "y": y, "ts": t, "pol": p.astype(np.uint8)}
    return {
        "evt2": [head["EVT2"] + encoders.evt2(rows, trigger_every=5)],
        "evt21": [head["EVT21"] + encoders.evt21(rows)],
        "evt3": [
            head["EVT3"] + encoders.evt3(rows, trigger_every=5),
            encoders.old_header("3.0") + encoders.evt3(rows, vectors=False),
        ],
        "dat": [encoders.dat_header() + encoders.dat(rows)],
        "atis_bin": [encoders.atis(rows)],
        "npy": [_npy(events.numpy()), _npy(np.array(rows, np.float64))],
        "npz": [_npz(**table), _npz(events=np.array(rows))],
        "mat": [
            Encoder().file({"TD": whole}),
            Encoder().file({"events": np.stack([x, y, p, t], 1)}, compressed=True),
        ],
    }


def _written(events: Events, path: Path) -> dict[str, list[bytes]]:
    writers: dict[str, Callable[[Path], object]] = {
        name: partial(_write, one) for name, one in formats().items() if one.write is not None
    }
    found = {}
    writers["aedat2"] = lambda path: aedat_files.write_aedat2(path, events, "dvs128")
    writers["aedat3"] = lambda path: aedat_files.write_aedat3(path, events, per=16)
    writers["aedat4"] = lambda path: aedat4_files.write_aedat4(path, events, "lz4", per=16)
    writers["bag"] = partial(_write_bag, len(events) > 10)
    for name, write in writers.items():
        path.unlink(missing_ok=True)
        if isinstance(write, partial):
            write(path=path, events=events)
        else:
            write(path)
        found[name] = [path.read_bytes()]
    path.unlink()
    return found


def _write(one: Format, path: Path, events: Events) -> None:
    assert one.write is not None
    one.write(path, [events], SIZE)


def _write_bag(packed: bool, path: Path, events: Events) -> None:
    """A recording of their own tests, in either of two kinds of messages."""
    del events
    from tests.data.formats.test_bag import Bag, evt3

    with Bag(path, ros2=False) as bag:
        if packed:
            bag.packet("/events", evt3())
        else:
            bag.events("/events", 0, 6)


def _npz(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def _npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def mutated(content: bytes, others: list[bytes], draw: random.Random) -> bytes:
    """What may happen to a file, a few times over."""
    if content[:2] == b"PK" and draw.random() < 0.6:
        return _mutated_inside(content, others, draw)
    data = bytearray(content)
    for _ in range(draw.choice((1, 1, 1, 2, 3, 5))):
        draw.choice(_WAYS)(data, others, draw)
    return bytes(data)


def _mutated_inside(content: bytes, others: list[bytes], draw: random.Random) -> bytes:
    """An archive whose checksums hold, with something wrong in one of its members."""
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(file, "w") as new:
        names = old.namelist()
        wrong = draw.choice(names)
        for name in names:
            member = old.read(name)
            new.writestr(name, mutated(member, others, draw) if name == wrong else member)
    return file.getvalue()


def _place(data: bytearray, draw: random.Random) -> int:
    """Anywhere; but headers are short, and wrong more often."""
    return draw.randrange(min(len(data), 256) if draw.random() < 0.4 else len(data))


def _flip(data: bytearray, others: list[bytes], draw: random.Random) -> None:
    del others
    for _ in range(draw.randrange(1, 9)):
        if data:
            data[_place(data, draw)] ^= 1 << draw.randrange(8)


def _cut(data: bytearray, others: list[bytes], draw: random.Random) -> None:
    del others
    if data:
        del data[_place(data, draw) :]


def _remove(data: bytearray, others: list[bytes], draw: random.Random) -> None:
    del others
    if data:
        start = _place(data, draw)
        del data[start : start + draw.randrange(1, 40)]


def _repeat(data: bytearray, others: list[bytes], draw: random.Random) -> None:
    del others
    if data:
        start = _place(data, draw)
        piece = data[start : start + draw.randrange(1, 64)]
        data[start:start] = piece * draw.choice((1, 1, 2, 50))


def _splice(data: bytearray, others: list[bytes], draw: random.Random) -> None:
    other = draw.choice(others)
    start = draw.randrange(len(other) + 1)
    at = _place(data, draw) if data else 0
    data[at : at + draw.choice((0, 8, 10**9))] = other[start : start + draw.choice((4, 32, 10**9))]


def _extreme(data: bytearray, others: list[bytes], draw: random.Random) -> None:
    del others
    width = draw.choice((1, 2, 4, 8))
    if len(data) >= width:
        at = min(_place(data, draw), len(data) - width)
        at -= at % width if draw.random() < 0.5 else 0
        value = draw.choice(_EXTREMES) & (256**width - 1)
        data[at : at + width] = value.to_bytes(width, draw.choice(("little", "big")))


def _number(data: bytearray, others: list[bytes], draw: random.Random) -> None:
    """Another number in a text."""
    del others
    found = list(re.finditer(rb"\d+", data[:2000]))
    if found:
        one = draw.choice(found)
        data[one.start() : one.end()] = draw.choice(_NUMBERS)


def _line(data: bytearray, others: list[bytes], draw: random.Random) -> None:
    """A line of a header that is gone, twice there or somewhere else."""
    del others
    lines = bytes(data[:2000]).split(b"\n")
    if len(lines) > 1:
        i, j = draw.randrange(len(lines)), draw.randrange(len(lines))
        lines[i : i + draw.choice((0, 1))] = draw.choice(([], [lines[j]], [lines[j], lines[i]]))
        data[:2000] = b"\n".join(lines)


_WAYS = [_flip, _cut, _remove, _repeat, _splice, _extreme, _number, _line]


def judged(columns: Columns, size: tuple[int, int] | None, *, ordered: bool) -> None:
    """Raises unless these can be events."""
    height, width = size or (LONGEST_SIDE, LONGEST_SIDE)
    kinds = [column.dtype for column in columns]
    assert kinds == [np.int16, np.int16, np.int64, np.bool_], kinds
    assert len({len(column) for column in columns}) == 1, "columns differ in length"
    if columns.length:
        assert 0 <= columns.x.min() <= columns.x.max() < width, "x outside"
        assert 0 <= columns.y.min() <= columns.y.max() < height, "y outside"
        assert EARLIEST <= columns.t.min() <= columns.t.max() <= LATEST, "t outside"
        assert not ordered or (np.diff(columns.t) >= 0).all(), "unsorted"
        assert columns.p.view(np.uint8).max() <= 1, "p is no bool"


def read_somehow(path: Path, one: Format, draw: random.Random) -> str:
    """Reads a file in one of the ways that users have; what came of it."""
    damage = Damage(strict=draw.random() < 0.1)
    ordered = draw.random() < 0.5
    size = SIZE if draw.random() < 0.5 else None
    options = Options(size, keep_unsorted=not ordered, damage=damage)
    try:
        chosen = format_of(path) if draw.random() < 0.3 else one
        with chosen.open(path, options) as reader:
            size = size or reader.header.size
            count = draw.choice((7, ALL))
            for columns in reader.pieces(count):
                assert columns.length <= count
                judged(columns, size, ordered=ordered)
            if ordered and isinstance(reader, SeekableReader) and draw.random() < 0.3:
                total = len(reader)
                start = draw.randrange(total + 1)
                judged(reader.part(start, draw.randint(start, total)), size, ordered=True)
                assert 0 <= reader.position(draw.choice((0, 2500, 2**62))) <= total
    except FormatError as error:
        return _refusal(error.offset, path.stat().st_size)
    except ValueError:
        return "refused as a value"
    return "damaged" if damage else "read"


def _refusal(offset: int | None, size: int) -> str:
    # A header that breaks off may be blamed at the byte that it should have had.
    assert offset is None or 0 <= offset <= size + _HEADER, f"byte {offset} of {size}"
    return "refused" if offset is None else "refused at a byte"


def fuzz(folder: Path, count: int, seed: int = 0, names: tuple[str, ...] = ()) -> Counter[str]:
    """Reads this many broken files; what came of them, and the first failure as an error."""
    folder.mkdir(exist_ok=True)
    corpus = seeds(folder)
    chosen = names or tuple(name for name in corpus if name not in FOREIGN)
    others = [content for name in chosen for content in corpus[name]]
    outcomes: Counter[str] = Counter()
    limit_memory(2**30)
    # Torch, numpy and each reader have then taken what they keep.
    draw = random.Random(f"warm {seed}")
    for name in chosen * 30:
        _try(folder, name, mutated(draw.choice(corpus[name]), others, draw), draw)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    largest = 0
    for number in range(count):
        if number % _WATCHED == 0:
            faulthandler.dump_traceback_later(_HANG, exit=True)
        draw = random.Random(f"{seed} {number}")
        name = chosen[number % len(chosen)]
        content = mutated(draw.choice(corpus[name]), others, draw)
        largest = max(largest, len(content))
        outcomes[f"{name}: {_try(folder, name, content, draw)}"] += 1
    faulthandler.cancel_dump_traceback_later()
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    assert grown <= 4 * largest + SPARE, f"{grown:,} bytes of memory for {largest:,} of file"
    return outcomes


def _try(folder: Path, name: str, content: bytes, draw: random.Random) -> str:
    one = formats()[name]
    path = folder / f"broken{one.suffixes[0]}"
    path.write_bytes(content)
    started = time.thread_time()
    try:
        outcome = read_somehow(path, one, draw)
    except BaseException as error:
        kept = folder / f"failed{one.suffixes[0]}"
        kept.write_bytes(content)
        error.add_note(f"{name}: the file is {kept}")
        raise
    taken = time.thread_time() - started
    assert taken < SECONDS, f"{name}: {taken:.1f} s for {len(content)} bytes"
    return outcome


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    begun = time.perf_counter()
    found = fuzz(
        Path(sys.argv[1]),
        int(sys.argv[2]),
        int(sys.argv[3]) if len(sys.argv) > 3 else 0,
        tuple(sys.argv[4:]),
    )
    sys.stdout.write(json.dumps(dict(sorted(found.items())), indent=1) + "\n")
    sys.stdout.write(f"{time.perf_counter() - begun:.1f} s\n")
