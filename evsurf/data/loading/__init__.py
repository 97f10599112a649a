"""From samples to batches: in which order, by whom, and how they are put together."""

from evsurf.data.loading.collate import collate as collate

__all__ = ["collate"]
