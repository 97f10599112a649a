"""A way that gives another surface, or other gradients, is found and named."""

import copy
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from evsurf.bench.agreement import DisagreementError, check_agreement
from evsurf.bench.variants import Variant, full_precision, variants
from evsurf.events import EventBatch
from tests.random_events import random_batch

CPU = torch.device("cpu")
BATCH = random_batch([40, 0, 90], (5, 6))
LSTMS = ["nn.LSTM packed", "nn.LSTM padded"]

Change = Callable[[nn.Module], object]


def chosen(batch: EventBatch = BATCH, **changed: Change) -> list[tuple[Variant, EventBatch]]:
    """All variants on the batch, of which those of these names were changed."""
    torch.manual_seed(0)
    found = []
    for variant in variants(3, batch.device):
        if variant.name in changed:
            # A copy, as several variants share their weights.
            module = copy.deepcopy(variant.module)
            changed[variant.name](module)
            variant = replace(variant, module=module)  # noqa: PLW2901
        found.append((variant, batch))
    return found


def add(amount: float) -> Change:
    """Changes every value of a surface."""
    return lambda module: module.register_forward_hook(lambda _, __, out: out + amount)


def scale_gradients(factor: float) -> Change:
    """Changes the gradients of the recurrent weights and no value."""

    def change(module: nn.Module) -> None:
        for name, weight in module.named_parameters():
            if "weight_hh" in name:
                weight.register_hook(lambda gradient: gradient * factor)

    return change


def move_a_weight(module: nn.Module) -> None:
    with torch.no_grad():
        next(module.parameters()).view(-1)[0] += 0.01


@pytest.mark.parametrize("counts", [[40, 0, 90], [2000], [1], [0], [0, 0], []], ids=str)
def test_the_true_variants_agree(counts, device):
    with full_precision():
        check_agreement(chosen(random_batch(counts, (5, 6)).to(device)))


def test_a_variant_with_fewer_samples_is_compared_on_those():
    first, *others = chosen()
    check_agreement([first, *((variant, BATCH[:2]) for variant, _ in others)])
    wrong = [(variant, BATCH[1:]) for variant, _ in others]
    with pytest.raises(DisagreementError, match="nn.LSTM packed: values differ"):
        check_agreement([first, *wrong])


@pytest.mark.parametrize("name", [*LSTMS, "ConvLSTM 1x1"])
@pytest.mark.parametrize(
    "change",
    [move_a_weight, add(2e-5), add(float("nan"))],
    ids=["a weight", "all values", "not a number"],
)
def test_other_values_are_refused_by_the_variant_s_name(name, change):
    with pytest.raises(
        DisagreementError,
        match=rf"^{name}: values differ from evsurf's by .*no time is reported for a wrong",
    ):
        check_agreement(chosen(**{name: change}))


@pytest.mark.parametrize("name", LSTMS)
@pytest.mark.parametrize("factor", [1.01, 0.0, -1.0, float("nan")])
def test_other_gradients_are_refused_by_the_weight_s_name(name, factor):
    with pytest.raises(DisagreementError, match=f"^{name}: gradients of weight_hh_l0 differ from"):
        check_agreement(chosen(**{name: scale_gradients(factor)}))


def test_a_surface_of_nothing_but_nan_agrees_with_nobody():
    with pytest.raises(DisagreementError, match="values differ from evsurf's by nan"):
        check_agreement(chosen(evsurf=add(float("nan"))))


def test_a_surface_of_another_shape_is_refused():
    """Though one sample can be compared with each of several."""

    def keep_one(module: nn.Module) -> None:
        def first(_: nn.Module, __: object, surface: Tensor) -> Tensor:
            return surface[1:2]

        module.register_forward_hook(first)

    batch = random_batch([0, 0, 0], (5, 6))
    with pytest.raises(
        DisagreementError,
        match=r"padded: values have the shape \[1, 3, 5, 6\], evsurf's \[3, 3, 5, 6\]",
    ):
        check_agreement(chosen(batch, **{"nn.LSTM padded": keep_one}))


def test_differences_of_rounding_are_let_pass():
    check_agreement(
        chosen(**{"nn.LSTM packed": add(1e-7), "nn.LSTM padded": scale_gradients(1.00001)})
    )


def test_what_computes_something_else_is_not_compared():
    check_agreement(chosen(**{"ConvLSTM 3x3": add(1.0)}))


def test_random_numbers_stay_as_they_were():
    pairs = chosen()
    before = torch.get_rng_state()
    check_agreement(pairs)
    assert torch.equal(torch.get_rng_state(), before)
