"""Conversions: the same store from any number of workers, and after being killed."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evsurf.data.formats.damage import FormatError
from evsurf.data.store import Store, write_store
from evsurf.events import EventBatch, Events
from tests.data.store.countable import SIZE, Countable

ROOT = Path(__file__).parents[3]


def _content(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


class Broken(Countable):
    """Samples 3 and 300 cannot be read."""

    def __getitem__(self, index: int) -> tuple[Events, int]:
        if index in (3, 300):
            raise FormatError("nobody can read this", offset=7)
        return super().__getitem__(index)


def test_a_data_set_becomes_a_store(tmp_path):
    seen = []
    store = write_store(Countable(300), tmp_path / "a.store", progress=lambda *at: seen.append(at))
    assert list(store) == [Countable(300)[i] for i in range(300)]
    assert seen == [(0, 300), (256, 300), (300, 300)]
    assert [one.name for one in tmp_path.iterdir()] == ["a.store"]
    store.verify()


def test_a_store_can_be_made_of_a_store(tmp_path):
    first = write_store(Countable(9), tmp_path / "a.store")
    write_store(first, tmp_path / "b.store")
    assert _content(tmp_path / "a.store") == _content(tmp_path / "b.store")


@pytest.mark.slow
def test_workers_write_the_same_bytes_as_one_process(tmp_path):
    write_store(Countable(600), tmp_path / "alone.store")
    write_store(Countable(600), tmp_path / "many.store", workers=2)
    assert _content(tmp_path / "alone.store") == _content(tmp_path / "many.store")


def test_what_cannot_be_read_is_named_or_left_out(tmp_path):
    with pytest.raises(FormatError, match=r"sample 3: nobody can read this \(at byte 7\)"):
        write_store(Broken(302), tmp_path / "a.store")
    store = write_store(Broken(302), tmp_path / "b.store", on_error="skip")
    assert len(store) == 300
    assert store.batch([3])[0] == EventBatch.pack([Countable(9)[4][0]])
    assert store.notes == {
        "3": "left out: nobody can read this (at byte 7)",
        "300": "left out: nobody can read this (at byte 7)",
    }


def test_a_conversion_that_failed_goes_on_where_it_stopped(tmp_path, monkeypatch):
    read = []
    whole = Countable.__getitem__

    def sometimes(self, index):
        read.append(index)
        if index == 300 and len(read) < 400:
            raise OSError("the disk is away")
        return whole(self, index)

    monkeypatch.setattr(Countable, "__getitem__", sometimes)
    with pytest.raises(OSError, match="away"):
        write_store(Countable(302), tmp_path / "a.store")
    assert (tmp_path / "a.store.partial").is_dir()
    read.clear()
    read += [-1] * 400
    write_store(Countable(302), tmp_path / "a.store")
    assert read[400:] == list(range(256, 302))


def test_the_beginning_of_another_conversion_is_not_taken_up(tmp_path):
    with pytest.raises(FormatError):
        write_store(Broken(302), tmp_path / "a.store")
    with pytest.raises(ValueError, match="holds the beginning of another conversion"):
        write_store(Countable(302), tmp_path / "a.store")


def test_two_conversions_to_one_place_do_not_run_at_once(tmp_path):
    pytest.importorskip("fcntl")

    class Nested(Countable):
        def __getitem__(self, index):
            with pytest.raises(RuntimeError, match="another process is writing"):
                write_store(Countable(3), tmp_path / "a.store")
            return super().__getitem__(index)

    assert len(write_store(Nested(1), tmp_path / "a.store")) == 1


def test_wrong_arguments_are_refused(tmp_path, own_errors):
    cases = [
        ({"workers": -1}, Countable(1), ValueError, "workers = -1"),
        ({"on_error": "ignore"}, Countable(1), ValueError, "on_error = 'ignore'"),
        ({}, Countable(0), ValueError, "source has no samples"),
        ({}, 5, TypeError, "source must be a folder, a list of files or a data set"),
        ({}, tmp_path / "no", FileNotFoundError, "there is no folder"),
        ({}, [3], TypeError, "must be a pair"),
        ({}, [(3, 4)], TypeError, r"dataset\[0\] must begin with Events"),
    ]
    for number, (options, source, kind, message) in enumerate(cases):
        with pytest.raises(kind, match=message):
            write_store(source, tmp_path / f"{number}.store", **options)


def test_a_store_that_is_there_is_replaced_only_on_purpose(tmp_path):
    write_store(Countable(2), tmp_path / "a.store")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        write_store(Countable(3), tmp_path / "a.store")
    assert len(write_store(Countable(3), tmp_path / "a.store", overwrite=True)) == 3
    assert [one.name for one in tmp_path.iterdir()] == ["a.store"]


def test_stopped_between_its_last_two_steps_it_is_done(tmp_path, monkeypatch):
    from evsurf.data.store import conversion

    def stop(partial: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(conversion, "_clear", stop)
        with pytest.raises(KeyboardInterrupt):
            write_store(Countable(3), tmp_path / "a.store")
    assert len(write_store(Countable(3), tmp_path / "a.store")) == 3
    assert [one.name for one in tmp_path.iterdir()] == ["a.store"]


CHANGES = {"open", "os.rename", "os.remove", "os.rmdir", "os.mkdir", "os.truncate"}


def _killed_at(change: int, path: Path) -> bool:
    """Converts in a process that is killed before its so-manieth change of the disk, if any."""
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    left = [change]

    def hook(event: str, arguments: object) -> None:
        if event in CHANGES:
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    try:
        sys.addaudithook(hook)
        write_store(Countable(5), path, overwrite=path.exists())
    finally:
        os._exit(0)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("step", [pytest.param(1, marks=pytest.mark.slow), 23])
@pytest.mark.parametrize("replaced", [False, True])
def test_killed_before_any_change_of_the_disk_it_goes_on(tmp_path, monkeypatch, step, replaced):
    from evsurf.data.store import sources

    monkeypatch.setattr(sources, "_PART_SAMPLES", 2)
    write_store(Countable(5), tmp_path / "whole.store")
    change = 1
    while True:
        path = tmp_path / f"{change}.store"
        if replaced:
            write_store(Countable(3), path)
        if not _killed_at(change, path):
            break
        if path.exists():
            assert len(Store(path)) in (3, 5), "what is there is whole"
        done = path.exists() and len(Store(path)) == 5 and not Path(f"{path}.partial").exists()
        if not done:
            write_store(Countable(5), path, overwrite=replaced)
        assert _content(path) == _content(tmp_path / "whole.store")
        assert not Path(f"{path}.partial").exists()
        change += step
    assert change > 50


SCRIPT = """
import sys
from evsurf.data.store import write_store
from tests.data.store.countable import Countable

if __name__ == "__main__":
    write_store(Countable(2000, delay=0.001), sys.argv[1], workers=int(sys.argv[2]))
"""


def _latest_change(folder: Path) -> int:
    """When anything below a folder changed last."""
    latest = 0
    for one in [folder, *folder.rglob("*")]:
        # What is there may be gone in a moment.
        with contextlib.suppress(FileNotFoundError):
            latest = max(latest, one.stat().st_mtime_ns)
    return latest


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 2])
def test_killed_at_any_moment_it_goes_on_and_gives_the_same_bytes(tmp_path, workers):
    write_store(Countable(2000), tmp_path / "whole.store")
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "killed.store"), str(workers)]
    moments = random.Random(0)
    kills = 0
    for _ in range(60):
        child = subprocess.Popen(command, cwd=ROOT, start_new_session=True)
        before = _latest_change(tmp_path)
        # Past the import, which takes the most of it, and a while into the work.
        while child.poll() is None and _latest_change(tmp_path) == before:
            time.sleep(0.01)
        try:
            child.wait(timeout=moments.uniform(0.0, 0.8))
        except subprocess.TimeoutExpired:
            # The parent alone: its workers have to notice.
            os.kill(child.pid, signal.SIGKILL)
            child.wait()
            kills += 1
            left = {one.name for one in tmp_path.iterdir()}
            if "killed.store" in left and "killed.store.partial" not in left:
                break  # It was done, and about to say so.
            continue
        assert child.returncode == 0
        break
    assert kills > 0
    time.sleep(1.0)
    assert _content(tmp_path / "killed.store") == _content(tmp_path / "whole.store")
    Store(tmp_path / "killed.store").verify()
    assert Store(tmp_path / "killed.store").size == SIZE
    left = {one.name for one in tmp_path.iterdir() if not one.name.startswith(".")}
    assert left == {"killed.store", "whole.store"}
