"""CUDA sources to machine code: compiled by NVRTC where they are first used, then kept on disk."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

ARCHITECTURES = ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120")
"""What the kernels are compiled for in the tests; code for one also runs on later minor ones."""

_INCLUDES = Path(__file__).parent.parent


@dataclass(frozen=True)
class Machine:
    """Machine code for one architecture, and what the compiler says it takes."""

    code: bytes
    log: str


def compiled(source: Path, architecture: str, defines: Mapping[str, int]) -> Machine:
    """The machine code of a source for an architecture such as "sm_90", compiled anew.

    Needs no GPU. `defines` are the numbers that the source is compiled for. Raises ImportError
    where the extra is missing, and what NVRTC says of a source that is wrong.
    """
    program, options = _compiler()
    log = io.StringIO()
    chosen = options(
        name=source.name,
        arch=architecture,
        std="c++17",
        include_path=[str(_INCLUDES)],
        define_macro=[(name, str(number)) for name, number in sorted(defines.items())] or None,
        ptxas_options=["-v"],
    )
    done = program(source.read_text(encoding="utf-8"), "c++", chosen).compile("cubin", logs=log)
    return Machine(bytes(done.code), log.getvalue())


def cached(
    source: Path, architecture: str, defines: Mapping[str, int], *, folder: Path | None = None
) -> Machine:
    """As `compiled`, from the folder of earlier results if it is there, and else put there.

    The name says everything that the code depends on, so nothing there is ever out of date. Many
    processes may start at once: each file appears whole. Where the folder cannot be written, the
    code is compiled at each start.
    """
    place = cache_folder() if folder is None else folder
    file = place / f"{source.parent.name}-{_fingerprint(source, architecture, defines)}.cubin"
    if file.is_file():
        return Machine(file.read_bytes(), "")
    machine = compiled(source, architecture, defines)
    with suppress(OSError):
        _put(file, machine.code)
    return machine


def cache_folder() -> Path:
    """Where compiled kernels are kept, in the user's own cache."""
    return Path.home() / ".cache" / "evsurf" / "kernels"


@cache
def version() -> tuple[int, int]:
    """Of the NVRTC that torch brought or the system has."""
    _compiler()
    from cuda.bindings import nvrtc

    _, major, minor = nvrtc.nvrtcVersion()
    return major, minor


def _compiler() -> tuple[Any, Any]:
    """What compiles, and its options; their types are known only where the extra is."""
    try:
        from cuda.core import Program, ProgramOptions
    except ImportError as error:
        raise ImportError(
            "the kernels for a GPU are compiled with cuda-core: pip install 'evsurf[cuda]'"
        ) from error
    return Program, ProgramOptions


def _fingerprint(source: Path, architecture: str, defines: Mapping[str, int]) -> str:
    """Of the source, of whatever it may include, and of how it is compiled."""
    digest = hashlib.sha256()
    for file in [source, *sorted(_INCLUDES.rglob("*.h"))]:
        digest.update(file.read_bytes())
    digest.update(repr((architecture, sorted(defines.items()), version())).encode())
    return digest.hexdigest()[:32]


def _put(file: Path, code: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as partial:
            partial.write(code)
        Path(name).replace(file)
    finally:
        Path(name).unlink(missing_ok=True)
