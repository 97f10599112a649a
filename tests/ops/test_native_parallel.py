"""The compiled core beside other threads and other processes."""

from __future__ import annotations

import os
import threading
import time

import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, Dataset

import evsurf as es
from tests.random_events import random_batch

# More tiles and runs than one, so that threads have something to share.
BATCH = random_batch([30_000, 0, 50_000], (60, 70))


def pass_through(layer: es.MatrixLSTM) -> list[Tensor]:
    image = layer(BATCH)
    return [image.detach(), *torch.autograd.grad(image.square().sum(), list(layer.parameters()))]


class Surfaces(Dataset[Tensor]):
    """Surfaces that are made where the data loader is."""

    def __init__(self) -> None:
        self.layer = es.MatrixLSTM(2, kernel_size=2).requires_grad_(False)

    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> Tensor:
        image: Tensor = self.layer(BATCH[index : index + 1])[0]
        return image


def test_workers_of_a_data_loader_give_the_same_surfaces(threads_set):
    threads_set(2)
    surfaces = Surfaces()
    wanted = [surfaces[n] for n in range(2)]
    loader = DataLoader(surfaces, batch_size=None, num_workers=1, timeout=60)
    assert all(torch.equal(a, b) for a, b in zip(loader, wanted, strict=True))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded, use of fork")
def test_a_forked_process_does_not_wait_for_threads_that_it_has_not(threads_set):
    threads_set(2)
    layer = es.MatrixLSTM(2).requires_grad_(False)
    wanted = layer(BATCH)[0, 0, 0].tolist()
    child = os.fork()
    if child == 0:
        # Torch's own operations on large tensors would wait; hence the lists.
        os._exit(0 if layer(BATCH)[0, 0, 0].tolist() == wanted else 1)
    for _ in range(600):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            assert os.waitstatus_to_exitcode(status) == 0
            return
        time.sleep(0.05)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("the forked process waits")


def test_layers_in_several_threads_of_python_do_not_disturb_one_another():
    layers = [es.MatrixLSTM(3, kernel_size=k) for k in (1, 2, 3)]
    wanted = [pass_through(layer) for layer in layers]
    made: list[list[list[Tensor]]] = [[] for _ in layers]

    def work(n: int) -> None:
        made[n].extend(pass_through(layers[n]) for _ in range(3))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(len(layers))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for runs, first in zip(made, wanted, strict=True):
        assert len(runs) == 3
        assert all(torch.equal(a, b) for run in runs for a, b in zip(run, first, strict=True))


def test_more_threads_than_processors_make_no_difference(threads_set):
    layer = es.MatrixLSTM(3)
    threads_set(1)
    one = pass_through(layer)
    threads_set(64)
    assert all(torch.equal(a, b) for a, b in zip(pass_through(layer), one, strict=True))
