"""Whatever happens to a file, its reader gives events that can be, or an error that says so."""

from __future__ import annotations

import random
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs limits of resources")


@pytest.fixture
def folder(tmp_path):
    """In memory where there is one: files of some hundred bytes wear out no disk."""
    memory = Path("/dev/shm")
    path = (memory if memory.is_dir() else tmp_path) / f"evsurf-{tmp_path.name}-{time.time_ns()}"
    path.mkdir()
    yield path
    # What failed stays, to be looked at.
    if not list(path.glob("failed*")):
        for file in path.iterdir():
            file.unlink()
        path.rmdir()


@pytest.mark.plain
def test_a_hundred_thousand_broken_files_crash_nothing_and_give_only_events(folder):
    """Within a second each, within memory for the file and a little more, and typed errors."""
    from tests.data.formats.fuzzing import FOREIGN, fuzz, seeds

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        corpus = seeds(folder)
        outcomes = fuzz(folder, 100_000)
    assert all(corpus.values()), "a format has no files to break"
    for name in set(corpus) - FOREIGN:
        kinds = {key.split(": ")[1] for key in outcomes if key.startswith(f"{name}: ")}
        # Were all refused, or none, the files would be broken too much or too little.
        assert "read" in kinds, name
        assert kinds & {"refused", "refused at a byte", "damaged"}, name


@pytest.mark.slow
@pytest.mark.plain
@pytest.mark.parametrize("name", ["hdf5", "aedat4", "bag"])
def test_two_thousand_broken_files_for_other_libraries_spare_the_caller(folder, name):
    """In a process of its own; one that they end is an error, and the next file gets another."""
    from evsurf.data.formats.isolation import CrashedReaderError
    from tests.data.formats.fuzzing import mutated, seeds

    corpus = seeds(folder)
    others = [content for files in corpus.values() for content in files]
    path, outcomes = folder / f"broken.{name}", Counter()
    reading = _Reading()
    for number in range(2_000):
        draw = random.Random(f"{name} {number}")
        path.write_bytes(mutated(draw.choice(corpus[name]), others, draw))
        try:
            outcomes[reading.outcome(path, name)] += 1
        except CrashedReaderError as error:
            if "its reader fails with" in str(error):
                pytest.fail(f"file {number}, {path}: {error}")
            outcomes[f"crashed {error.signal_name}"] += 1
    reading.child.end()
    assert outcomes["read"]
    assert outcomes["refused"]


class _Reading:
    """One process for many files, and another one when it has ended."""

    def __init__(self) -> None:
        self._start()

    def _start(self) -> None:
        from evsurf.data.formats.isolation import Limits, parent

        self.child = parent.Child(Limits(seconds=10, memory=2**31))

    def outcome(self, path: Path, name: str) -> str:
        from evsurf.data.formats.damage import Damage
        from evsurf.data.formats.isolation import CrashedReaderError, parent
        from evsurf.data.formats.reader import Options
        from tests.data.formats.fuzzing import judged

        if self.child.closed:
            self._start()
        options = Options(damage=Damage())
        try:
            _, reader = parent.opened_in(self.child, path, options, name)
            for columns in reader.pieces(1000):
                judged(columns, reader.header.size, ordered=True)
        except CrashedReaderError:
            raise
        except ValueError:
            return "refused"
        return "damaged" if options.damage else "read"
