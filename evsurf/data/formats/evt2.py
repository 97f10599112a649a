"""EVT 2.0 RAW files: 32-bit words with one event each."""

from __future__ import annotations

from functools import partial

from evsurf.data.formats.raw import open_raw, recogniser
from evsurf.data.formats.reader import Format

FORMAT = Format(
    name="evt2",
    summary="Prophesee RAW, EVT 2.0",
    suffixes=(".raw", ".evt2"),
    recognises=recogniser("EVT2"),
    open=partial(open_raw, version="EVT2"),
)
