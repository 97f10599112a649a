"""EVT 2.1 RAW files: 64-bit words with a vector of neighbours each."""

from __future__ import annotations

from functools import partial

from evsurf.data.formats.raw import open_raw, recogniser
from evsurf.data.formats.reader import Format

FORMAT = Format(
    name="evt21",
    summary="Prophesee RAW, EVT 2.1",
    suffixes=(".raw", ".evt21"),
    recognises=recogniser("EVT21"),
    open=partial(open_raw, version="EVT21"),
)
