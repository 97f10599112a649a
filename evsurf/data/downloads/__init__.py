"""Archives from the web: fetched over https, checked, and unpacked where they can do no harm."""

from evsurf.data.downloads.errors import (
    ArchiveError,
    ChecksumError,
    DownloadError,
    MissingDataError,
)
from evsurf.data.downloads.extract import extract
from evsurf.data.downloads.fetch import fetch
from evsurf.data.downloads.source import Source
from evsurf.data.downloads.staging import Limits
from evsurf.data.downloads.transport import Transport

__all__ = [
    "ArchiveError",
    "ChecksumError",
    "DownloadError",
    "Limits",
    "MissingDataError",
    "Source",
    "Transport",
    "extract",
    "fetch",
]
