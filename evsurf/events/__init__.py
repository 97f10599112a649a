"""Recordings of an event camera: `Events` is one recording, `EventBatch` several of them packed."""

from evsurf.events.batch import EventBatch as EventBatch
from evsurf.events.recording import Events as Events

__all__ = ["EventBatch", "Events"]
