"""Each process opens for itself."""

from __future__ import annotations

import multiprocessing
import os
import pickle

import pytest

from evsurf.data.datasets.process import PerProcess


def test_it_opens_once_and_only_when_asked():
    opened: list[int] = []

    def open_it() -> int:
        opened.append(1)
        return len(opened)

    thing = PerProcess(open_it)
    assert not opened
    assert (thing.get(), thing.get()) == (1, 1)


def test_a_copy_opens_anew():
    thing = PerProcess(os.getpid)
    copy = pickle.loads(pickle.dumps(thing))
    assert copy.get() == thing.get()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_process_opens_anew():
    thing = PerProcess(os.getpid)
    assert thing.get() == os.getpid()
    queue = multiprocessing.get_context("fork").SimpleQueue()
    child = multiprocessing.get_context("fork").Process(
        target=lambda: queue.put((thing.get(), os.getpid()))
    )
    child.start()
    child.join()
    theirs, child_process = queue.get()
    assert theirs == child_process != os.getpid()
