"""Streams of an event camera as learned images.

The way of the data: `Events` and `EventBatch` hold recordings, `ops` works on packed tensors, and
`surfaces` turns a batch into images that any frame network can use.
"""

from importlib.metadata import version

from evsurf import data, ops, surfaces
from evsurf.data.formats import info, read, write
from evsurf.data.formats import open_recording as open  # noqa: A004
from evsurf.events import EventBatch, Events
from evsurf.surfaces import ConvLSTM, Live, MatrixLSTM

__all__ = [
    "Events",
    "EventBatch",
    "read",
    "write",
    "open",
    "info",
    "data",
    "ops",
    "surfaces",
    "MatrixLSTM",
    "ConvLSTM",
    "Live",
    "__version__",
]

__version__ = version("evsurf")
