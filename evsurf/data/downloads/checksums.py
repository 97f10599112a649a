"""Knowing a file again: by a published checksum, else by the one it had when it first came.

The second kind is written to `checksums.json` beside the archives. It cannot tell whether the first
copy was right, only that a later one is the same; whoever knows better can write the file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any

from evsurf.data.downloads.errors import ChecksumError
from evsurf.data.downloads.source import Source

LEDGER = "checksums.json"

_BLOCK = 1 << 20


def check(source: Source, path: Path, folder: Path) -> None:
    """Raises `ChecksumError` unless the file is the source's; what nobody knows is written down."""
    size = path.stat().st_size
    if source.size is not None and size != source.size:
        raise ChecksumError(f"{path} has {size:,} bytes, and {source.size:,} were expected")
    kind, _, expected = (source.digest or "sha256:").partition(":")
    found = digests(path, {kind, "sha256"})
    if expected and found[kind] != expected:
        raise ChecksumError(f"{path} has the {kind} {found[kind]}, and {expected} was published")
    ledger = _read(folder / LEDGER)
    known = ledger.get(source.file)
    if known is not None and known != found["sha256"] and not (expected and kind == "sha256"):
        raise ChecksumError(
            f"{path} has the sha256 {found['sha256']}, and {known} is in {folder / LEDGER}, from "
            "when it first came here"
        )
    if known != found["sha256"]:
        _write(folder / LEDGER, {**ledger, source.file: found["sha256"]})


def digests(path: Path, kinds: set[str]) -> dict[str, str]:
    """Several checksums of a file, read once."""
    running = {kind: hashlib.new(kind, usedforsecurity=False) for kind in sorted(kinds)}
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            for digest in running.values():
                digest.update(block)
    return {kind: digest.hexdigest() for kind, digest in running.items()}


def _read(path: Path) -> dict[str, str]:
    try:
        content: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ChecksumError(f"{path} is no list of checksums: {error}") from error
    if not isinstance(content, dict) or not all(
        isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) for value in content.values()
    ):
        raise ChecksumError(f"{path} must map names of files to their sha256 in hexadecimals")
    return content


def _write(path: Path, content: dict[str, str]) -> None:
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    draft.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8")
    draft.replace(path)
