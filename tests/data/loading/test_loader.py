from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from evsurf.data.formats.damage import FormatError
from evsurf.data.loading import BatchSampler, Loader, Subset, make_loader
from evsurf.data.store import Store, write_store
from evsurf.events import EventBatch
from tests.data.loading.samples import (
    Damaged,
    Deadly,
    Dice,
    Samples,
    doubled,
    sample,
    shifted,
)

ROOT = Path(__file__).parents[3]
# Who makes the batches: this process, threads, or processes.
WAYS = [(0, "auto"), (2, "thread"), (2, "process")]

# A process is forked where torch and its threads are loaded, as torch's own loader does.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")


@pytest.fixture
def store(tmp_path) -> Store:
    return write_store(Samples(10), tmp_path / "a.store")


def _loader(dataset, batch_size=3, *, shuffle=False, seed=0, **options):
    sampler = BatchSampler(dataset, batch_size, shuffle=shuffle, seed=seed)
    return Loader(dataset, sampler, **options)


def _numbers(loader) -> list[list[int]]:
    return [targets.tolist() for _, targets in loader]


@pytest.mark.parametrize(("workers", "kind"), WAYS)
def test_batches_come_in_the_samplers_order_epoch_after_epoch(store, workers, kind):
    for dataset in (store, Samples(10)):
        loader = _loader(dataset, shuffle=True, seed=5, workers=workers, kind=kind)
        order = BatchSampler(dataset, 3, shuffle=True, seed=5)
        assert len(loader) == 4
        for _ in range(2):
            wanted = list(order)
            found = list(loader)
            assert [targets.tolist() for _, targets in found] == wanted
            assert [batch for batch, _ in found] == [
                EventBatch.pack([sample(i) for i in numbers]) for numbers in wanted
            ]
        assert loader.sampler.epoch == 2
        loader.close()


@pytest.mark.parametrize(("workers", "kind"), WAYS)
def test_half_an_epoch_goes_on_exactly_whatever_was_made_ahead(store, workers, kind):
    whole = _numbers(_loader(store, shuffle=True))
    first = _loader(store, shuffle=True, workers=workers, kind=kind)
    batches = iter(first)
    begun = [next(batches)[1].tolist() for _ in range(2)]
    state = first.state_dict()
    del batches
    first.close()
    second = _loader(store, shuffle=True, workers=workers, kind=kind)
    second.load_state_dict(state)
    assert begun + _numbers(second) == whole
    assert second.sampler.epoch == 1
    second.close()


@pytest.mark.parametrize(("workers", "kind"), WAYS)
def test_a_transforms_seeds_do_not_depend_on_who_works_or_on_the_batch(store, workers, kind):
    alone = {
        int(target): batch.t.tolist()
        for batch, target in _loader(store, 1, transform=shifted, seed=2)
    }
    loader = _loader(store, 4, shuffle=True, seed=2, transform=shifted, workers=workers, kind=kind)
    found = {
        int(target): events.t.tolist()
        for batch, targets in loader
        for events, target in zip(batch, targets, strict=True)
    }
    assert found == alone
    assert found[1] != [1]
    again = {
        int(target): events.t.tolist()
        for batch, targets in loader
        for events, target in zip(batch, targets, strict=True)
    }
    assert again != found, "another epoch draws anew"
    loader.close()


def test_a_transform_without_a_seed_works_too(store):
    batch, _ = next(iter(_loader(store, transform=doubled)))
    assert batch.t.tolist() == [2, 4, 6]


def test_processes_draw_numbers_of_their_own_that_do_not_depend_on_how_many():
    def drawn(count):
        loader = _loader(Dice(6), 2, workers=count, kind="process", seed=3)
        epochs = [torch.cat([targets for _, targets in loader]) for _ in range(2)]
        loader.close()
        return epochs

    first, second = drawn(1)
    assert len({*first.flatten().tolist(), *second.flatten().tolist()}) == 36
    assert torch.equal(first, drawn(2)[0])


@pytest.mark.parametrize(("workers", "kind"), WAYS)
def test_a_sample_that_cannot_be_read_is_named(workers, kind):
    loader = _loader(Damaged(7), workers=workers, kind=kind)
    with pytest.raises(ValueError, match="nobody can read this") as caught:
        list(loader)
    notes = "\n".join(caught.value.__notes__)
    assert "Sample 2, file-2: nobody can read this" in notes
    assert "file-5" not in notes
    loader.close()


@pytest.mark.parametrize(("workers", "kind"), WAYS)
def test_samples_that_cannot_be_read_are_left_out_and_counted(workers, kind):
    loader = _loader(Damaged(7), 1, workers=workers, kind=kind, on_error="skip")
    assert _numbers(loader) == [[0], [1], [3], [4], [6]]
    assert loader.skipped == {
        2: "file-2: nobody can read this",
        5: "file-5: nobody can read this",
    }
    loader.close()
    loader = _loader(Damaged(7), workers=workers, kind=kind, on_error="skip", most_skipped=1)
    with pytest.raises(RuntimeError, match=r"2 samples could not be read, more than most_skipped"):
        list(loader)
    loader.close()


def test_a_damaged_sample_of_a_store_is_left_out(store):
    file = store.path / "x.npy"
    raw = bytearray(file.read_bytes())
    raw[128] = 9
    file.write_bytes(raw)
    damaged = Store(store.path)
    assert _numbers(_loader(damaged, 5, on_error="skip")) == [[0, 2, 3, 4], [5, 6, 7, 8, 9]]
    with pytest.raises(FormatError, match=r"sample 1 \(1\) is damaged"):
        list(_loader(damaged, 5, workers=2))


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="needs fork")
def test_a_worker_that_is_killed_ends_the_epoch_soon_with_the_samples_names():
    loader = _loader(Deadly(12), 2, workers=2, kind="process")
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=r"worker.*while these samples were under way: .*3"):
        list(loader)
    assert time.monotonic() - start < 10
    loader.close()


def test_ctrl_c_ends_a_loader_at_once(tmp_path):
    write_store(Samples(400), tmp_path / "a.store")
    script = f"""
import os, signal, sys
from evsurf.data import Store
from evsurf.data.loading import make_loader
for kind in range(2):
    try:
        for number, _ in enumerate(make_loader(Store({str(tmp_path / "a.store")!r}), 2, workers=2)):
            if number == 3:
                os.kill(os.getpid(), signal.SIGINT)
    except KeyboardInterrupt:
        sys.stdout.write("stopped ")
"""
    child = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert child.stdout == "stopped stopped "
    assert child.returncode == 0


@pytest.mark.parametrize(("workers", "kind"), WAYS)
def test_a_loop_that_is_left_early_leaves_nothing_running(store, workers, kind):
    loader = _loader(store, 1, workers=workers, kind=kind)
    for _ in loader:
        break
    assert loader.sampler.position == 1
    assert _numbers(loader) == [[i] for i in range(10)], "whoever looks at a batch loses none"
    loader.close()


def test_make_loader_chooses_as_usual(store):
    assert _numbers(make_loader(store, 4)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    loader = make_loader(Subset(store, [5, 6, 7]), 2, shuffle=True, workers=1, bucket=True)
    assert sorted(i for numbers in _numbers(loader) for i in numbers) == [5, 6, 7]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"workers": -1}, "workers = -1"),
        ({"ahead": 0}, "ahead = 0"),
        ({"kind": "fibre"}, "kind = 'fibre'"),
        ({"on_error": "ignore"}, "on_error = 'ignore'"),
    ],
)
@pytest.mark.usefixtures("own_errors")
def test_wrong_arguments_are_refused(store, options, message):
    with pytest.raises(ValueError, match=message):
        _loader(store, **options)


@pytest.mark.gpu
def test_batches_come_pinned(store):
    for workers, kind in WAYS:
        loader = _loader(store, workers=workers, kind=kind, pin_memory=True)
        assert all(batch.is_pinned() and targets.is_pinned() for batch, targets in loader)
        loader.close()
