"""Whether all ways to a surface give the same one, without which their times mean nothing."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from evsurf.bench.variants import Variant, one_pass
from evsurf.events import EventBatch

# The same LSTM in float32, summed in another order. Gradients: by the largest of their tensor.
_VALUES_AGREE = 1e-5
_GRADIENTS_AGREE = 1e-3


class DisagreementError(RuntimeError):
    """Two ways to the same surface gave different numbers."""


def check_agreement(chosen: Sequence[tuple[Variant, EventBatch]]) -> None:
    """Raises DisagreementError unless values and gradients are those of the first variant.

    Gradients are compared where weights have the same names, as those of LSTMs do.
    """
    (ours, batch), *others = chosen
    with torch.no_grad():
        expected = ours.module(batch)
    generator = torch.Generator(expected.device).manual_seed(0)
    gradient = torch.randn(expected.shape, generator=generator, device=expected.device)
    for variant, part in others:
        if not variant.equals_ours:
            continue
        with torch.no_grad():
            found = variant.module(part)
        _compare(f"{variant.name}: values", found, expected[: len(part)], _VALUES_AGREE)
        names = _parameters(variant).keys() & _parameters(ours).keys()
        if names:
            pair = [_gradients(v, part, gradient[: len(part)]) for v in (ours, variant)]
            for name in sorted(names):
                largest = float(pair[0][name].abs().max())
                tolerance = _GRADIENTS_AGREE * max(largest, 1e-3)
                what = f"{variant.name}: gradients of {name}"
                _compare(what, pair[1][name], pair[0][name], tolerance)


def _compare(what: str, found: Tensor, expected: Tensor, tolerance: float) -> None:
    if found.shape != expected.shape:
        raise DisagreementError(
            f"{what} have the shape {list(found.shape)}, evsurf's {list(expected.shape)}"
        )
    difference = float((found - expected).abs().max()) if found.numel() else 0.0
    if not difference <= tolerance:
        raise DisagreementError(
            f"{what} differ from evsurf's by {difference:.2g}, more than {tolerance:.2g}; "
            "no time is reported for a wrong result"
        )


def _parameters(variant: Variant) -> dict[str, torch.nn.Parameter]:
    return {name.split(".")[-1]: p for name, p in variant.module.named_parameters()}


def _gradients(variant: Variant, batch: EventBatch, gradient: Tensor) -> dict[str, Tensor]:
    one_pass(variant, batch, "forward+backward", gradient)()
    return {name: p.grad for name, p in _parameters(variant).items() if p.grad is not None}
