"""Where events come from."""

from evsurf.data import filters as filters
from evsurf.data import transforms as transforms
from evsurf.data.loading import BatchSampler as BatchSampler
from evsurf.data.loading import Loader as Loader
from evsurf.data.loading import Subset as Subset
from evsurf.data.loading import collate as collate
from evsurf.data.loading import data_module as data_module
from evsurf.data.loading import make_loader as make_loader
from evsurf.data.loading import split as split
from evsurf.data.store import FileSource as FileSource
from evsurf.data.store import Store as Store
from evsurf.data.store import StoreWriter as StoreWriter
from evsurf.data.store import write_store as write_store

__all__ = [
    "Store",
    "StoreWriter",
    "FileSource",
    "write_store",
    "split",
    "Subset",
    "make_loader",
    "Loader",
    "BatchSampler",
    "collate",
    "data_module",
    "transforms",
    "filters",
]
