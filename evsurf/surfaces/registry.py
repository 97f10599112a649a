"""Surfaces by name, so that any can stand in front of any network."""

from __future__ import annotations

from typing import Any

from evsurf.surfaces.conv_lstm import ConvLSTM
from evsurf.surfaces.matrix_lstm import MatrixLSTM
from evsurf.surfaces.surface import Surface

_SURFACES: dict[str, type[Surface]] = {"conv_lstm": ConvLSTM, "matrix_lstm": MatrixLSTM}


def names() -> list[str]:
    """The names that `create` knows."""
    return sorted(_SURFACES)


def create(name: str, **options: Any) -> Surface:
    """The surface of this name, with its own options.

    >>> import evsurf as es
    >>> es.surfaces.create("matrix_lstm", channels=3).out_channels
    3
    """
    if name not in _SURFACES:
        raise ValueError(f"name must be one of {', '.join(names())}, not {name!r}")
    return _SURFACES[name](**options)
