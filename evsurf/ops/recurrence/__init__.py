"""The ragged recurrent cell: an LSTM over sequences of any lengths, and over packed events."""

from __future__ import annotations

from evsurf.ops.recurrence.ragged import ragged_lstm

__all__ = ["ragged_lstm"]
