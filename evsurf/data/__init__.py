"""Where events come from."""

from evsurf.data import transforms as transforms
from evsurf.data.loading import collate as collate
from evsurf.data.store import FileSource as FileSource
from evsurf.data.store import Store as Store
from evsurf.data.store import StoreWriter as StoreWriter
from evsurf.data.store import write_store as write_store

__all__ = [
    "Store",
    "StoreWriter",
    "FileSource",
    "write_store",
    "collate",
    "transforms",
]
