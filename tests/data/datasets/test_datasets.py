"""What holds for every data set."""

from __future__ import annotations

import inspect
import sys

import pytest

from evsurf.data import datasets
from evsurf.data.datasets import listing, provision
from evsurf.data.downloads import Source, Transport

CONSTRUCTED = ["NCars", "NCaltech101", "NMNIST", "ASLDVS", "DVSGesture", "MVSEC", "DSECFlow"]


@pytest.mark.parametrize("name", [*CONSTRUCTED, "RecordingFolder", "TonicDataset"])
def test_what_is_not_obvious_goes_by_keyword_and_transforms_are_there(name):
    parameters = inspect.signature(getattr(datasets, name)).parameters
    assert {"transform", "target_transform"} <= set(parameters)
    by_place = [p for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert len(by_place) <= 2
    assert all(p.default in (None, False) for p in parameters.values() if "transform" in p.name)


@pytest.mark.parametrize("name", ["NCars", "NCaltech101", "NMNIST", "ASLDVS", "DVSGesture"])
def test_nothing_is_fetched_unless_asked_for(name):
    assert inspect.signature(getattr(datasets, name)).parameters["download"].default is False


def test_tonic_is_never_imported():
    assert "tonic" not in sys.modules


def test_every_name_is_there():
    assert all(hasattr(datasets, name) for name in datasets.__all__)


def test_splits_go_by_several_names():
    every = ("train", "validation", "test")
    assert [listing.canonical_split(s, every) for s in ("training", "val", "testing")] == [*every]
    with pytest.raises(ValueError, match="must be one of 'train', 'test'"):
        listing.canonical_split("val", ("train", "test"))


def test_folders_come_from_the_outside_in_and_hidden_ones_not(tmp_path):
    for name in ("b/c", "a", ".hidden/d", "b/.git"):
        (tmp_path / name).mkdir(parents=True)
    found = [path.relative_to(tmp_path).as_posix() for path in listing.folders_within(tmp_path)]
    assert found == [".", "a", "b", "b/c"]
    assert list(listing.folders_within(tmp_path / "none")) == []


def test_a_set_that_is_there_is_never_fetched(tmp_path):
    origin = provision.Origin("X", "a file", (Source("a.zip", "https://example.org"),))
    assert provision.provide(origin, tmp_path, lambda: 7, Transport()) == 7
