"""Files of events: bytes to `Events` and back, one module per format."""

from evsurf.data.formats.damage import DamageError, DamageWarning, FormatError
from evsurf.data.formats.files import open_recording, read, write
from evsurf.data.formats.info import HotPixel, Info, info
from evsurf.data.formats.isolation import CrashedReaderError, Limits
from evsurf.data.formats.recording import Recording
from evsurf.data.formats.telling import GuessedSizeWarning

__all__ = [
    "CrashedReaderError",
    "DamageError",
    "DamageWarning",
    "FormatError",
    "GuessedSizeWarning",
    "HotPixel",
    "Info",
    "Limits",
    "Recording",
    "info",
    "open_recording",
    "read",
    "write",
]
