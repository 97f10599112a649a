"""ragged_lstm inside torch.compile: one graph for all numbers of events."""

import pytest
import torch
from torch import Tensor

import evsurf as es
from tests.random_events import random_weights

LENGTHS = [[3, 0, 5, 1], [7, 2, 9, 4, 1, 0], [1, 30, 2]]


def scaled_output(features: Tensor, offsets: Tensor, weights: list[Tensor], outputs: str) -> Tensor:
    """More than the op, so that there is something around it to trace."""
    output, (_, c) = es.ops.ragged_lstm(2 * features, offsets, *weights, outputs=outputs)
    return output.sum(1) * c.mean()


@pytest.mark.plain
@torch._dynamo.config.patch(error_on_recompile=True)
def test_one_graph_serves_all_numbers_of_events(device):
    for outputs in ("last", "all"):
        torch.compiler.reset()
        compiled = torch.compile(scaled_output, fullgraph=True, dynamic=True, backend="aot_eager")
        for lengths in LENGTHS:
            offsets = torch.tensor([0, *lengths], device=device).cumsum(0)
            features = torch.randn(sum(lengths), 2, dtype=torch.float64)
            leaves = [features, *random_weights(2, 3)]
            leaves = [a.to(device).requires_grad_() for a in leaves]
            made = []
            for function in (scaled_output, compiled):
                output = function(leaves[0], offsets, leaves[1:], outputs)
                made.append([output, *torch.autograd.grad(output.square().sum(), leaves)])
            assert all(torch.equal(a, b) for a, b in zip(*made, strict=True))
