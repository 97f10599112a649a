"""What a reader in a process of its own may take, and what it is when it fails."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import dataclass

from evsurf.data.formats.damage import FormatError

_SECONDS = 60.0
# Slower than any reader, so that nobody waits for a file that will not be read.
_BYTES_PER_SECOND = 1_000_000


class CrashedReaderError(FormatError):
    """A file at which its reader, in a process of its own, crashed, hung or ran out of memory."""

    def __init__(self, message: str, *, signal_name: str | None = None) -> None:
        super().__init__(message)
        self.signal_name = signal_name
        """The signal that ended the process, such as "SIGSEGV"; None where none did."""


@dataclass(frozen=True)
class Limits:
    """What a reader in a process of its own may take; beyond it is stopped."""

    seconds: int | float | None = None
    """For opening, and for each piece. None: a minute, and a second for each MB of the file."""
    memory: int | None = None
    """Bytes, besides those of the interpreter and its libraries; only Linux counts them.

    None: half of the machine's.
    """

    def __post_init__(self) -> None:
        for name in ("seconds", "memory"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} = {value} must be above 0")

    def seconds_for(self, size: int) -> float:
        """Seconds to wait for a piece of a file with this many bytes."""
        return float(self.seconds or _SECONDS + size / _BYTES_PER_SECOND)

    @property
    def bytes(self) -> int:
        """Bytes that may be taken."""
        if self.memory is not None or not hasattr(os, "sysconf"):
            return self.memory or sys.maxsize
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2


def signal_of(code: int) -> str | None:
    """The signal that a process with this exit code ended by."""
    if code >= 0:
        return None
    try:
        return signal.Signals(-code).name
    except ValueError:
        return f"signal {-code}"
