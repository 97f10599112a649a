"""Reading in a process of its own, so that what a file does to its reader spares the caller."""

from evsurf.data.formats.isolation.limits import CrashedReaderError, Limits
from evsurf.data.formats.isolation.parent import isolated

__all__ = ["CrashedReaderError", "Limits", "isolated"]
