"""Files of events: bytes to `Events` and back, one module per format."""

from evsurf.data.formats.damage import DamageError, DamageWarning, FormatError
from evsurf.data.formats.files import open_recording, read, write
from evsurf.data.formats.recording import GuessedSizeWarning, Recording

__all__ = [
    "DamageError",
    "DamageWarning",
    "FormatError",
    "GuessedSizeWarning",
    "Recording",
    "open_recording",
    "read",
    "write",
]
