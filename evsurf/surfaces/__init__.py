"""Surfaces: events to images, one contract, by name."""

from __future__ import annotations

from evsurf.surfaces.matrix_lstm import MatrixLSTM
from evsurf.surfaces.surface import Surface

__all__ = ["MatrixLSTM", "Surface"]
