"""Files or data sets to a store: in parts, by several workers, and on from where it was stopped."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeAlias

import torch

from evsurf.data.formats.damage import FormatError
from evsurf.data.store.growing import check_free, put_in_place
from evsurf.data.store.layout import INDEX
from evsurf.data.store.sources import Dataset, Source, as_source
from evsurf.data.store.store import Store
from evsurf.data.store.writer import StoreWriter

OnError: TypeAlias = Literal["raise", "skip"]
Progress: TypeAlias = Callable[[int, int], object]


def write_store(
    source: Source | Dataset | Sequence[str | os.PathLike[str]] | str | Path,
    path: str | os.PathLike[str],
    *,
    workers: int = 0,
    on_error: OnError = "raise",
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Store:
    """A store of a folder of recordings, a list of files of any formats, or a data set.

    A folder's subfolders are its classes; `FileSource.of_folder` takes labels from a CSV file and
    a sensor's size. Of a data set, `dataset[i]` is a pair (events, target).

    The work is done in parts, by this process or by as many others as `workers` says; what comes
    out does not depend on how many. Parts that are done lie in a folder beside the store that ends
    in `.partial`. Stopped at any moment, even by force, the same call goes on from there. While the
    parts are joined, they take the same space a second time.

    `on_error="skip"` leaves out what cannot be read and keeps the reasons in `Store.notes`.
    `progress` is called with the number of samples that are done and that of all.
    Workers are new processes: a script that uses some must guard its entry with
    `if __name__ == "__main__":`, and its data set must be one that can be pickled.
    """
    wanted, target = as_source(source), Path(path)
    if on_error not in ("raise", "skip"):
        raise ValueError(f"on_error = {on_error!r} must be 'raise' or 'skip'")
    if workers < 0:
        raise ValueError(f"workers = {workers} must be 0, for this process, or more")
    if len(wanted) == 0:
        raise ValueError("source has no samples, and a store has at least one")
    identity = json.dumps([wanted.identity(), on_error])
    partial = target.with_name(f"{target.name}.partial")
    if _finished(partial, identity):
        return Store(target)
    check_free(target, overwrite=overwrite)
    partial.mkdir(exist_ok=True)
    with _alone(partial):
        _resume(partial, identity)
        if not (partial / "done").exists():
            _write_parts(wanted, partial, workers, on_error, progress or (lambda *_: None))
            _join(wanted, partial)
        put_in_place(partial / "whole", target, aside=partial)
        _clear(partial)
    return Store(target)


def _finished(partial: Path, identity: str) -> bool:
    """Whether the same conversion was stopped after its last step but one, which this does."""
    shutil.rmtree(partial.with_name(f".{partial.name}"), ignore_errors=True)
    if not (partial / "done").exists() or (partial / "whole").exists():
        return False
    same = (partial / "plan").read_text() == _digest(identity)
    _clear(partial)
    return same


def _clear(partial: Path) -> None:
    """Removes the parts; renamed first, so that half of them are never taken for a beginning."""
    rest = partial.with_name(f".{partial.name}")
    partial.rename(rest)
    shutil.rmtree(rest)


def _digest(identity: str) -> str:
    return hashlib.sha256(identity.encode("utf-8", "surrogateescape")).hexdigest()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keeps a second conversion to the same place out until this process ends, however it does."""
    try:
        import fcntl
    except ImportError:
        # Elsewhere than on Unix, two at once are the caller's to avoid.
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise RuntimeError(f"another process is writing {folder} at this moment") from None
    try:
        yield
    finally:
        os.close(handle)


def _resume(partial: Path, identity: str) -> None:
    """Keeps the parts of the same conversion, and clears away what was not finished."""
    plan = partial / "plan"
    digest = _digest(identity)
    if plan.exists() and plan.read_text() != digest:
        raise ValueError(
            f"{partial} holds the beginning of another conversion, of other files or with other "
            "choices: remove that folder to start anew"
        )
    for leftover in partial.glob(".*"):
        shutil.rmtree(leftover)
    if not plan.exists():
        fresh = partial / "plan.new"
        fresh.write_text(digest)
        fresh.replace(plan)


def _part(partial: Path, number: int) -> Path:
    return partial / f"part-{number:06d}"


def _write_parts(
    source: Source, partial: Path, workers: int, on_error: OnError, progress: Progress
) -> None:
    parts = source.parts()
    done = {i for i in range(len(parts)) if (_part(partial, i) / INDEX).exists()}
    todo = [i for i in range(len(parts)) if i not in done]
    counted = sum(len(parts[i]) for i in done)
    progress(counted, len(source))
    for i in _written(parts, todo, partial, workers, on_error):
        counted += len(parts[i])
        progress(counted, len(source))


def _written(
    parts: list[Source], todo: list[int], partial: Path, workers: int, on_error: OnError
) -> Iterator[int]:
    """The numbers of the parts, each when it is there."""
    if workers == 0 or not todo:
        for i in todo:
            _write_part(parts[i], _part(partial, i), on_error)
            yield i
        return
    # These take a while to load, and most who import the package convert nothing.
    import multiprocessing
    from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
    from concurrent.futures.process import BrokenProcessPool

    # Forked processes would inherit locks of threads that they do not have.
    context = multiprocessing.get_context("spawn")
    count = min(workers, len(todo))
    with ProcessPoolExecutor(count, context, initializer=_start_worker) as pool:
        running = {pool.submit(_write_part, parts[i], _part(partial, i), on_error): i for i in todo}
        try:
            while running:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    future.result()
                    yield running.pop(future)
        except BrokenProcessPool as error:
            raise RuntimeError(
                "a worker was killed, likely because memory ran out, or the script starts its work "
                f"outside of if __name__ == '__main__'. What is done is kept in {partial}: the "
                "same call goes on from there"
            ) from error
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _start_worker() -> None:
    torch.set_num_threads(1)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A worker whose parent was killed would wait for its next part forever."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _write_part(part: Source, path: Path, on_error: OnError) -> None:
    with StoreWriter(path, classes=part.classes, may_be_empty=True) as writer:
        for number, name in enumerate(part.names()):
            try:
                part.add(number, writer)
            except (ValueError, TypeError, OSError) as error:
                if on_error == "skip":
                    writer.note(name, f"left out: {error}")
                elif isinstance(error, OSError):
                    raise
                else:
                    kind = TypeError if isinstance(error, TypeError) else FormatError
                    raise kind(f"sample {name}: {error}") from error


def _join(source: Source, partial: Path) -> None:
    """One store of all parts, in their order."""
    shutil.rmtree(partial / "whole", ignore_errors=True)
    parts = sorted(partial.glob("part-*"))
    with StoreWriter(partial / "whole", classes=source.classes) as writer:
        for part in parts:
            writer.extend(Store(part))
        if not len(writer):
            name, reason = next(iter(Store(parts[0]).notes.items()))
            raise ValueError(f"no sample could be read; the first, {name}, was {reason}")
    (partial / "done").touch()
