"""Recordings as columns on a disk, which training reads straight from."""

from evsurf.data.store.store import Store as Store
from evsurf.data.store.writer import StoreWriter as StoreWriter

__all__ = ["Store", "StoreWriter"]
