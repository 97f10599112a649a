"""Real recordings of N-MNIST beside simulated ones of the same pictures, in numbers.

`python -m tests.data.datasets.calibration DATA OUT.json` writes them, for the folder that holds
`nmnist` and `mnist`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from evsurf.data.datasets import nmnist_like
from evsurf.data.formats import read
from evsurf.events import Events

# When the three moves of the eye end, in the mean recording.
_MOVES = (0, 90_000, 222_000, 400_000)
_PIECE, _PIECES = 10_000, 31


def described(recordings: Iterable[Events]) -> dict[str, Any]:
    """Means over recordings."""
    lengths, on, active, most, last = [], [], [], [], []
    rate = np.zeros(_PIECES)
    moves = np.zeros(len(_MOVES) - 1)
    between = []
    for events in recordings:
        x, y, t = (column.numpy().astype(np.int64) for column in (events.x, events.y, events.t))
        place = y * 34 + x
        counts = np.bincount(place, minlength=34 * 34)
        lengths.append(len(events))
        on.append(int(events.p.sum()))
        active.append(int((counts > 0).sum()))
        most.append(int(counts.max()))
        last.append(int(t[-1]))
        rate += np.bincount(np.minimum(t // _PIECE, _PIECES - 1), minlength=_PIECES)
        moves += np.histogram(t, _MOVES)[0]
        order = np.lexsort((t, place))
        between.append(np.diff(t[order])[np.diff(place[order]) == 0])
    count = len(lengths)
    return {
        "count": count,
        "means": {
            "events": float(np.mean(lengths)),
            "share of ON": sum(on) / sum(lengths),
            "active pixels": float(np.mean(active)),
            "events per active pixel": sum(lengths) / sum(active),
            "events of the busiest pixel": float(np.mean(most)),
            "last event (us)": float(np.mean(last)),
        },
        "moves": (moves / count).tolist(),
        "rate": (rate / count).tolist(),
        "intervals": np.quantile(np.concatenate(between), [0.1, 0.5, 0.9]).tolist(),
    }


def polarities(events: Events) -> np.ndarray:
    """ON less OFF events of each pixel in each move of the eye."""
    place = (events.y.long() * 34 + events.x).numpy()
    move = np.digitize(events.t.numpy(), _MOVES[1:-1])
    balance = np.zeros((len(_MOVES) - 1, 34 * 34))
    np.add.at(balance, (move, place), np.where(events.p.numpy(), 1, -1))
    return balance.ravel()


def compared(data: Path, split: str) -> dict[str, Any]:
    """Pairs of numbers, real and simulated, of one split."""
    name, first, count = {"train": ("train", 1, 700), "test": ("t10k", 60_001, 100)}[split]
    folder = data / "mnist"
    like = nmnist_like(
        folder / f"{name}-images.idx3-ubyte.gz", folder / f"{name}-labels.idx1-ubyte.gz"
    )
    files = [data / "nmnist" / split / f"{first + i:05d}.bin" for i in range(count)]
    recordings = [read(file, (34, 34), format="atis_bin") for file in files]
    likenesses = [like[i][0] for i in range(count)]
    real, simulated = described(recordings), described(likenesses)
    alike = [
        np.corrcoef(polarities(one), polarities(other))[0, 1]
        for one, other in zip(recordings, likenesses, strict=True)
    ]
    pieces = np.array([real["rate"], simulated["rate"]])
    return {
        "pairs": real["count"],
        "means": {key: [real["means"][key], simulated["means"][key]] for key in simulated["means"]},
        "events_per_move": list(map(list, zip(real["moves"], simulated["moves"], strict=True))),
        "events_per_10_ms": pieces.T.round(1).tolist(),
        "correlation_of_polarities": float(np.mean(alike)),
        "difference_of_rates": float(abs(pieces[0] - pieces[1]).sum() / pieces[0].sum()),
        "intervals_us_at_10_50_90_percent": [real["intervals"], simulated["intervals"]],
    }


if __name__ == "__main__":
    found = {split: compared(Path(sys.argv[1]), split) for split in ("train", "test")}
    Path(sys.argv[2]).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
