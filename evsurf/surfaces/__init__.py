"""Surfaces: events to images, one contract, by name."""

from __future__ import annotations

from evsurf.surfaces.conv_lstm import ConvLSTM
from evsurf.surfaces.live import Live
from evsurf.surfaces.matrix_lstm import MatrixLSTM
from evsurf.surfaces.registry import create, names
from evsurf.surfaces.stream import StreamState, step
from evsurf.surfaces.surface import Surface

__all__ = [
    "ConvLSTM",
    "Live",
    "MatrixLSTM",
    "StreamState",
    "Surface",
    "create",
    "names",
    "step",
]
