"""Fetching one archive: resumed where it broke off, and there only once it is whole and right."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import ssl
import time
import urllib.error
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import BinaryIO

from evsurf.data.downloads import checksums
from evsurf.data.downloads.errors import ChecksumError, DownloadError, MissingDataError
from evsurf.data.downloads.source import Source
from evsurf.data.downloads.transport import Transport

_BLOCK = 1 << 18
# Answers that may be different in a moment.
_PASSING = {408, 425, 429, 500, 502, 503, 504}


@dataclass
class _State:
    """What the server said of a file that is partly here, so that the rest can be asked for."""

    url: str
    validator: str | None = None
    total: int | None = None


def fetch(source: Source, folder: Path, *, transport: Transport | None = None) -> Path:
    """The archive's path in the folder, after fetching it unless it is there, and checking it.

    What breaks off is kept as `FILE.part` and continued the next time, if the server can say that
    the file is still the same. A file that is there already is checked without any network.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / source.file
    if path.exists():
        try:
            checksums.check(source, path, folder)
        except ChecksumError as error:
            raise ChecksumError(f"{error}. Delete it to fetch it again") from error
        return path
    if source.url is None:
        raise MissingDataError(source.by_hand(folder))
    part = path.with_name(f"{path.name}.part")
    with _alone(part):
        _fetch_whole(source, part, transport or Transport())
        try:
            checksums.check(source, part, folder)
        except ChecksumError:
            _forget(part)
            raise
        part.replace(path)
        _state_of(part).unlink(missing_ok=True)
    return path


@contextmanager
def _alone(part: Path) -> Iterator[None]:
    """Keeps two processes from writing one file, where the system has locks."""
    with part.with_name(f".{part.name}.lock").open("w") as file:
        try:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:
            pass
        except OSError as error:
            raise DownloadError(f"{part} is being fetched by another process") from error
        try:
            yield
        finally:
            Path(file.name).unlink(missing_ok=True)


def _fetch_whole(source: Source, part: Path, transport: Transport) -> None:
    """Asks until all bytes are there; attempts that bring nothing are counted."""
    assert source.url is not None
    failures = 0
    while True:
        before = _length(part)
        try:
            _continue(source, part, transport)
            return
        except (urllib.error.URLError, HTTPException, TimeoutError, ConnectionError) as error:
            if isinstance(error, urllib.error.HTTPError):
                error.close()
                if error.code == 416:
                    # What is here does not fit what is there any more.
                    _forget(part)
                elif error.code not in _PASSING:
                    raise DownloadError(
                        f"{source.url} answered {error.code} {error.reason}. "
                        f"{source.by_hand(part.parent)}"
                    ) from error
            failures = 0 if _length(part) > before else failures + 1
            if failures >= transport.attempts or _is_final(error):
                raise DownloadError(
                    f"{source.url} could not be fetched, {failures} attempts in a row: {error}. "
                    f"What came is kept and will be continued. {source.by_hand(part.parent)}"
                ) from error
            if failures:
                time.sleep(transport.pause * 2 ** (failures - 1))


def _is_final(error: Exception) -> bool:
    """Whether asking again is of no use: nobody of that name, or nobody to be trusted."""
    reason = getattr(error, "reason", None)
    return isinstance(reason, ssl.SSLCertVerificationError | socket.gaierror)


def _continue(source: Source, part: Path, transport: Transport) -> None:
    """One connection: appends what is missing, or starts anew where the server insists."""
    assert source.url is not None
    state, start = _resumable(source.url, part)
    headers = {"Range": f"bytes={start}-", "If-Range": state.validator or ""} if start else {}
    with transport.open(source.url, headers) as answer:
        start = _start_of(answer, start, state.total)
        total = _total_of(answer, start)
        _check_size(source, total)
        _check_space(part, (total or 0) - start)
        state = _State(source.url, _validator_of(answer), total)
        _state_of(part).write_text(json.dumps(asdict(state)), encoding="utf-8")
        with part.open("r+b" if start else "wb") as file:
            file.truncate(start)
            file.seek(start)
            _copy(answer, file, source, total, transport)


def _copy(
    answer: HTTPResponse,
    file: BinaryIO,
    source: Source,
    total: int | None,
    transport: Transport,
) -> None:
    done, limit = file.tell(), source.size if source.size is not None else total
    while block := answer.read(_BLOCK):
        done += len(block)
        if limit is not None and done > limit:
            raise DownloadError(f"{source.url} sends more than the {limit:,} bytes it should have")
        file.write(block)
        if transport.progress is not None:
            transport.progress(source.file, done, total)
    file.flush()
    os.fsync(file.fileno())
    if total is not None and done < total:
        raise ConnectionError(f"the connection ended after {done:,} of {total:,} bytes")


def _resumable(url: str, part: Path) -> tuple[_State, int]:
    """What is known of the file, and how many of its bytes can be kept."""
    try:
        state = _State(**json.loads(_state_of(part).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return _State(url), 0
    if state.url != url or not state.validator:
        return _State(url), 0
    return state, _length(part)


def _start_of(answer: HTTPResponse, wanted: int, total: int | None) -> int:
    """At which byte the answer starts: where we asked, or at the front."""
    if answer.status != 206:
        return 0
    found = re.fullmatch(r"bytes (\d+)-\d+/(\d+|\*)", answer.headers.get("Content-Range", ""))
    same = found and (total is None or found[2] in ("*", str(total)))
    if not found or int(found[1]) != wanted or not same:
        raise DownloadError(
            f"the server was asked for the bytes from {wanted} on, and sends "
            f"{answer.headers.get('Content-Range')!r}"
        )
    return wanted


def _total_of(answer: HTTPResponse, start: int) -> int | None:
    length = answer.headers.get("Content-Length")
    return None if length is None or not length.isdecimal() else start + int(length)


def _validator_of(answer: HTTPResponse) -> str | None:
    """What says that a file has not changed; a weak tag does not promise the same bytes."""
    tag = answer.headers.get("ETag", "")
    return tag if tag.startswith('"') else answer.headers.get("Last-Modified")


def _check_size(source: Source, total: int | None) -> None:
    if source.size is not None and total is not None and total != source.size:
        raise ChecksumError(
            f"{source.url} offers {total:,} bytes, and {source.size:,} were expected"
        )


def _check_space(part: Path, needed: int) -> None:
    free = shutil.disk_usage(part.parent).free
    if needed > free:
        raise DownloadError(
            f"{part.parent} has {free:,} bytes left, and {needed:,} more are needed for {part.name}"
        )


def _length(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _state_of(part: Path) -> Path:
    return part.with_name(f"{part.name}.json")


def _forget(part: Path) -> None:
    part.unlink(missing_ok=True)
    _state_of(part).unlink(missing_ok=True)
