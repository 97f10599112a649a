"""The tables in which the authors of EST gave out data sets: x, y, t in seconds, p of -1 and 1.

These recordings take less than a second. Times beyond a thousand are therefore microseconds, which
some tables made after theirs have.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evsurf.data.formats.columns import Columns, Sieve, Size
from evsurf.data.formats.damage import Damage, FormatError
from evsurf.data.formats.recording import as_events
from evsurf.data.formats.telling import warn_of_damage
from evsurf.events import Events

_MOST_SECONDS = 1_000


def read_table(path: Path, size: Size) -> Events:
    """The events of such a table, their times in whole microseconds."""
    try:
        table = np.load(path, allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise FormatError(f"{path} is no table of numbers: {error}") from error
    if not isinstance(table, np.ndarray) or table.ndim != 2 or table.shape[1] != 4:
        shape = getattr(table, "shape", None)
        raise FormatError(f"{path} must be a table of N x 4 numbers, and has the shape {shape}")
    if table.dtype.kind not in "iuf":
        raise FormatError(f"{path} must hold numbers, and holds {table.dtype}")
    x, y, seconds, p = table.T
    damage = Damage()
    # Doubles, in which a microsecond of the longest recording is still exact.
    t = seconds.astype(np.float64)
    if np.abs(t).max(initial=0) < _MOST_SECONDS:
        t = np.rint(t * 1e6)
    columns = Sieve(size, damage, keep_unsorted=True).sift(Columns(x, y, t, p))
    if "time_backwards" in damage.violations:
        order = np.argsort(columns.t, kind="stable")
        columns = Columns(*(column[order] for column in columns))
    warn_of_damage(path, damage)
    return as_events(columns, size)
