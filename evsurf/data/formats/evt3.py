"""EVT 3.0 RAW files: 16-bit words that each change one thing, with vectors of neighbours."""

from __future__ import annotations

from functools import partial

from evsurf.data.formats.raw import open_raw, recogniser
from evsurf.data.formats.reader import Format

FORMAT = Format(
    name="evt3",
    summary="Prophesee RAW, EVT 3.0",
    suffixes=(".raw", ".evt3"),
    recognises=recogniser("EVT3"),
    open=partial(open_raw, version="EVT3"),
)
