"""Splits are disjoint, complete, the same everywhere, and as lists say."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evsurf.data.datasets.labelled import Labelled
from evsurf.data.datasets.splits import dealt, dealt_by_class, listed, shuffled
from evsurf.data.formats import FormatError


def recordings(*counts: int) -> list[Labelled]:
    """So many of class a, b, c and so on."""
    return [
        Labelled(Path("root") / chr(97 + target) / f"image_{i:04}.bin", target)
        for target, count in enumerate(counts)
        for i in range(count)
    ]


def test_the_order_is_the_same_for_ever():
    order = shuffled(recordings(4, 2), seed=0)
    names = [f"{one.path.parent.name}{int(one.path.stem[-4:])}" for one in order]
    assert names == ["a0", "a3", "a2", "b1", "a1", "b0"]


def test_another_seed_gives_another_order_and_another_root_the_same():
    here = recordings(30)
    elsewhere = [Labelled(Path("/else") / Path(*one.path.parts[1:]), 0) for one in here]
    order = [one.path.name for one in shuffled(here, 0)]
    assert order == [one.path.name for one in shuffled(elsewhere, 0)]
    assert order != [one.path.name for one in shuffled(here, 1)]
    assert order != sorted(order)


def test_the_shares_of_the_literature():
    """N-Cars' 12,337 and 3,085 of 15,422; ASL-DVS' 80,640 and 20,160 of 100,800."""
    counts = {
        name: len(part)
        for name, part in dealt(recordings(15_422), {"train": 0.8, "validation": 0.2}, 0).items()
    }
    assert counts == {"train": 12_337, "validation": 3_085}


@given(
    counts=st.lists(st.integers(0, 12), min_size=1, max_size=4),
    share=st.floats(0, 1),
    seed=st.integers(0, 5),
)
def test_every_recording_is_in_one_split(counts, share, seed):
    given_ones = recordings(*counts)
    for deal in (dealt, dealt_by_class):
        splits = deal(given_ones, {"train": share, "test": 1 - share}, seed)
        assert sorted(splits["train"] + splits["test"]) == sorted(given_ones)
        assert list(splits["train"]) == [one for one in given_ones if one in splits["train"]]


def test_each_class_is_shared_out_by_itself():
    splits = dealt_by_class(recordings(10, 20), {"a": 0.5, "b": 0.3, "c": 0.2}, 3)
    for name, expected in {"a": [5, 10], "b": [3, 6], "c": [2, 4]}.items():
        targets = [one.target for one in splits[name]]
        assert [targets.count(0), targets.count(1)] == expected


@pytest.mark.parametrize("shares", [{"a": 0.5}, {"a": 0.7, "b": 0.7}, {"a": 1.5, "b": -0.5}])
def test_shares_make_up_the_whole(shares):
    with pytest.raises(ValueError, match="sum to 1"):
        dealt(recordings(3), shares, 0)


def test_a_list_names_class_and_file_on_each_line(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("# mine\nx/b/image_0001.bin\tx/b/image_0001.jpg\n\na\\image_0000.npy,3\n")
    chosen = listed(recordings(2, 2), path)
    assert [(one.target, one.path.name) for one in chosen] == [
        (1, "image_0001.bin"),
        (0, "image_0000.bin"),
    ]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("c/image_0000.bin", "line 2: there is no recording c/image_0000 among the 2"),
        ("a/image_0000.bin", "a second time"),
        ("image_0000.bin", "no path of a class and a file"),
    ],
)
def test_a_wrong_line_is_named(tmp_path, line, message):
    path = tmp_path / "list.txt"
    path.write_text(f"a/image_0000.bin\n{line}\n")
    with pytest.raises(FormatError, match=message):
        listed(recordings(2), path)
