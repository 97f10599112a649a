"""Digits are made in a moment, look like digits, and are not the same for another seed."""

from __future__ import annotations

import builtins

import numpy as np
import pytest

from evsurf.data.datasets import Digits
from evsurf.data.datasets.digits import enlarged


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    pytest.importorskip("sklearn")
    return Digits(tmp_path_factory.mktemp("digits"), "test")


def test_there_are_360_for_testing(digits):
    assert (len(digits), digits.size, len(set(digits.targets))) == (360, (34, 34), 10)
    assert repr(digits) == "Digits('test': 360 recordings of 10 classes, 34x34)"


def test_recordings_are_like_those_of_n_mnist(digits):
    lengths = digits.store.lengths.double()
    assert 4_000 < lengths.mean() < 7_000
    assert lengths.min() > 1_000
    events = digits[0][0]
    assert 290_000 < events.duration < 320_000
    assert 0.45 < float(events.p.double().mean()) < 0.55


def test_digits_are_told_apart_by_their_counts(digits):
    """By the nearest mean of the other half: far above a chance of one in ten."""
    maps = np.zeros((360, 34 * 34))
    for k in range(360):
        events, _ = digits[k]
        maps[k] = np.bincount((events.y.long() * 34 + events.x).numpy(), minlength=34 * 34)
    maps /= np.sqrt((maps**2).sum(1, keepdims=True))
    targets = np.array(digits.targets)
    means = np.stack([maps[::2][targets[::2] == digit].mean(0) for digit in range(10)])
    found = np.argmax(maps[1::2] @ means.T, axis=1)
    assert (found == targets[1::2]).mean() > 0.6


def test_the_second_use_reads_what_the_first_one_made(digits, monkeypatch):
    monkeypatch.setattr(Digits, "_make", None)
    again = Digits(digits.folder.parent, "test")
    assert again[5] == digits[5]


def test_enlarged_pictures_keep_their_middle_and_are_steep():
    picture = np.zeros((8, 8), np.float32)
    picture[3:5, 2:6] = 1
    large = enlarged(picture, 28)
    rows, columns = np.nonzero(large > 0.5)
    assert (rows.mean(), columns.mean()) == (13.5, 13.5)
    assert (large.min(), large.max()) == (0, 1)
    assert np.allclose(enlarged(picture.T, 28), large.T, atol=1e-6)


def test_without_scikit_learn_the_error_says_what_to_install(monkeypatch, tmp_path):
    normal = builtins.__import__

    def missing(name, *rest, **named):
        if name.startswith("sklearn"):
            raise ImportError(name)
        return normal(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(ImportError, match=r"pip install 'evsurf\[classic\]'"):
        Digits(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_splits_and_seeds_that_there_are_not_are_refused(tmp_path, own_errors):
    with pytest.raises(ValueError, match="seed = -1"):
        Digits(tmp_path, seed=-1)
    with pytest.raises(ValueError, match="split"):
        Digits(tmp_path, "validation")
