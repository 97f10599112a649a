"""Where events come from."""

from evsurf.data.loading import collate as collate
from evsurf.data.store import Store as Store
from evsurf.data.store import StoreWriter as StoreWriter

__all__ = [
    "Store",
    "StoreWriter",
    "collate",
]
