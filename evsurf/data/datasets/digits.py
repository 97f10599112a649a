"""`Digits`: handwritten digits under eye movements, in seconds and without a download."""

from __future__ import annotations

from typing import Any, final

import numpy as np
import numpy.typing as npt

from evsurf.data.datasets.looks import PictureRecordings
from evsurf.data.datasets.made import MadeRecordings
from evsurf.data.store import StoreWriter

_SIZE = (34, 34)
_SIDE = 28
_TEST = 360


@final
class Digits(MadeRecordings):
    """1,797 handwritten digits, seen by an event camera as those of N-MNIST were: 34x34, 310 ms.

    ```python
    train, test = Digits(split="train"), Digits(split="test")
    events, digit = train[0]
    ```

    The pictures are those that scikit-learn brings along (`pip install 'evsurf[classic]'`), 8x8
    made 28x28; the last 360 are for testing. Recordings are made at the first use, which takes
    seconds, and kept in `root`, the user's cache by default.
    """

    name = "digits"
    version = 2
    classes = tuple("0123456789")

    def _make(self, writer: StoreWriter) -> None:
        pictures, targets = scanned_digits()
        train = len(targets) - _TEST
        # A test recording differs from those of the training set in its seed too.
        part = slice(train) if self.split == "train" else slice(train, None)
        seed = 2 * self.seed + (self.split == "test")
        # Dark on a light ground, as in N-MNIST.
        large = [1 - enlarged(picture, _SIDE) for picture in pictures[part]]
        data = PictureRecordings(
            large, targets[part].tolist(), self.classes, _SIZE, surround=1.0, seed=seed
        )
        for events, target in data.recordings():
            writer.add(events, target)


def scanned_digits() -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """Scikit-learn's 1,797 pictures of 8x8, from 0 to 1, and their digits."""
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise ImportError(
            "Digits are the pictures of scikit-learn: pip install 'evsurf[classic]'"
        ) from error
    bunch: Any = load_digits()
    return bunch.images.astype(np.float32) / np.float32(16), bunch.target.astype(np.int64)


def enlarged(picture: npt.NDArray[np.float32], side: int) -> npt.NDArray[np.float32]:
    """A square picture of so many pixels, smooth, with the strokes' edges made as steep again.

    Sums in one order, so that every machine gives the same.
    """
    for _ in range(2):
        picture = _spread(picture, side).T
    steep: npt.NDArray[np.float32] = np.clip((picture - np.float32(0.25)) * 2, 0, 1)
    return steep


def _spread(picture: npt.NDArray[np.float32], side: int) -> npt.NDArray[np.float32]:
    """The rows made so many, by cubic B-splines."""
    rows = len(picture)
    at = (np.arange(side) + 0.5) * rows / side - 0.5
    spread = np.zeros((side, picture.shape[1]), np.float32)
    for k in range(rows):
        away = np.abs(at - k)
        near = 2 / 3 - away * away + away * away * away / 2
        far = (2 - away) * (2 - away) * (2 - away) / 6
        weight = np.where(away < 1, near, np.where(away < 2, far, 0))
        spread += weight[:, None].astype(np.float32) * picture[k]
    return spread
