"""What can go wrong between the web and a folder of recordings."""

from __future__ import annotations


class DownloadError(OSError):
    """A file could not be fetched."""


class ChecksumError(DownloadError):
    """A file is not the one that was expected."""


class ArchiveError(ValueError):
    """An archive that is broken, or that would do harm when unpacked."""


class MissingDataError(FileNotFoundError):
    """A data set that is not there; the message says where to get it and where to put it."""
