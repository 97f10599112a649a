"""Recordings as columns on a disk, which training reads straight from."""

from evsurf.data.store.conversion import write_store as write_store
from evsurf.data.store.sources import FileSource as FileSource
from evsurf.data.store.store import Store as Store
from evsurf.data.store.writer import StoreWriter as StoreWriter

__all__ = ["FileSource", "Store", "StoreWriter", "write_store"]
