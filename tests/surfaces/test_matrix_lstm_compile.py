"""MatrixLSTM inside torch.compile: one graph for all numbers of events."""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from evsurf.events import EventBatch
from evsurf.surfaces import MatrixLSTM
from tests.random_events import random_batch
from tests.tolerances import assert_near


def networks() -> Iterator[nn.Module]:
    """Surfaces of every path through the code, and one as the start of a network."""
    yield MatrixLSTM(3)
    yield MatrixLSTM(3, bins=2, time="ts", scope="absolute", global_time=True)
    yield MatrixLSTM(3, kernel_size=3, stride=2, max_events=4)
    yield MatrixLSTM(3, layers=2)
    yield MatrixLSTM(3, layers=2, bins=2, kernel_size=3, max_events=4, attention=True)
    yield nn.Sequential(MatrixLSTM(3, attention=True), nn.Conv2d(3, 2, 3), nn.ReLU())


# Numbers of events and of samples both change.
BATCHES = [random_batch(counts, (4, 5)) for counts in ([40, 0, 25], [90, 1, 33, 7], [7, 300])]


def results(function: Any, network: nn.Module, batch: EventBatch) -> list[Tensor]:
    image = function(batch)
    return [image, *torch.autograd.grad(image.square().sum(), list(network.parameters()))]


@pytest.mark.plain
@torch._dynamo.config.patch(error_on_recompile=True)
def test_one_graph_serves_all_numbers_of_events(device):
    for network in networks():
        torch.compiler.reset()
        network.to(device)
        compiled = torch.compile(network, fullgraph=True, dynamic=True, backend="aot_eager")
        for batch in BATCHES:
            batch_there = batch.to(device)
            made = [results(function, network, batch_there) for function in (network, compiled)]
            assert all(torch.equal(a, b) for a, b in zip(*made, strict=True)), network


@pytest.mark.slow
@pytest.mark.plain
def test_the_default_backend_compiles_it(device):
    layer = MatrixLSTM(3, bins=2, attention=True).to(device)
    compiled = torch.compile(layer, fullgraph=True, dynamic=True)
    for batch in BATCHES:
        batch_there = batch.to(device)
        made = [results(function, layer, batch_there) for function in (layer, compiled)]
        assert_near(made[1][0], made[0][0].detach())
        for actual, gradient in zip(made[1][1:], made[0][1:], strict=True):
            assert_near(actual, gradient, kind="gradient")


class FromTensors(nn.Module):
    """A network as it is exported: of tensors, which somebody else has validated."""

    def __init__(self) -> None:
        super().__init__()
        self.surface = MatrixLSTM(3, bins=2)

    def forward(self, x: Tensor, y: Tensor, t: Tensor, p: Tensor, offsets: Tensor) -> Tensor:
        image: Tensor = self.surface(EventBatch(x, y, t, p, offsets, (4, 5), validate=False))
        return image.relu()


@pytest.mark.slow
@pytest.mark.plain
def test_an_exported_network_serves_all_numbers_of_events():
    network = FromTensors()
    events = torch.export.Dim("events", min=2)
    # Torch has other graphs for one sample than for several.
    offsets = torch.export.Dim("offsets", min=3)
    shapes = tuple({0: dim} for dim in (events, events, events, events, offsets))
    columns = [tuple(getattr(batch, name) for name in EventBatch.FIELDS) for batch in BATCHES]
    exported = torch.export.export(network, columns[0], dynamic_shapes=shapes, strict=True)
    for given in columns:
        assert torch.equal(exported.module()(*given), network(*given))
