"""From samples to batches: in which order, by whom, and how they are put together."""

from evsurf.data.loading.collate import collate as collate
from evsurf.data.loading.loader import Loader as Loader
from evsurf.data.loading.loader import make_loader as make_loader
from evsurf.data.loading.module import data_module as data_module
from evsurf.data.loading.sampler import BatchSampler as BatchSampler
from evsurf.data.loading.splitting import Subset as Subset
from evsurf.data.loading.splitting import split as split

__all__ = ["BatchSampler", "Loader", "Subset", "collate", "data_module", "make_loader", "split"]
