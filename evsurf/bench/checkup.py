"""Whether everything works on this machine, found by trying it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib.metadata import requires

import torch
from torch import Tensor

from evsurf.bench import machine
from evsurf.bench.measure import measure
from evsurf.data.synthetic import Preset, camera_like
from evsurf.events import EventBatch
from evsurf.ops.recurrence.reference import Cell
from evsurf.ops.recurrence.surface_reference import Input, backward, forward
from evsurf.surfaces import MatrixLSTM

_SMALL = Preset((40, 50), 50_000, (1_000, 1_000), 0.25)
_CHANNELS = (3, 4, 16)
_VALUES_AGREE = 1e-5
_GRADIENTS_AGREE = 1e-4

# Events per second, forward and forward+backward, as `evsurf bench ops` found them for 3 channels.
REFERENCE = ("two cores of an AMD Zen 5 with AVX-512", 60e6, 25e6)


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    name: str
    text: str
    good: bool | None = None
    """None for what is neither good nor bad."""


def check_up() -> Iterator[Finding]:
    """Everything, one finding after the other: what is here first, then whether it works."""
    yield from _inventory()
    yield from _extras()
    for name in ("cpu", *(f"cuda:{k}" for k in range(len(machine.cuda_devices())))):
        device = torch.device(name)
        yield _tried(f"gradients, {name}", partial(_gradients, device))
        yield _tried(f"batches, {name}", partial(_batches, device))
        yield _tried(f"speed, {name}", partial(_speed, device))


def _inventory() -> Iterator[Finding]:
    facts = machine.describe()
    yield Finding("evsurf", f"{facts['evsurf']}, core by {facts['compiler']}")
    yield Finding("python", f"{facts['python']}, numpy {facts['numpy']}, torch {facts['torch']}")
    yield Finding("system", str(facts["system"]))
    yield Finding(
        "processor", f"{facts['cpu']}, {facts['cores']} cores, {facts['threads']} threads"
    )
    yield Finding("instructions", str(facts["isa"]))
    yield Finding("openmp", "yes" if facts["openmp"] else "no: the core runs on one thread")
    yield Finding("huge pages", str(facts["huge_pages"]))
    yield Finding("cuda", ", ".join(machine.cuda_devices()) or _without_cuda())


def _without_cuda() -> str:
    if torch.version.cuda is None:
        return "none: this torch is built without it"
    return f"no device found, though torch is built for CUDA {torch.version.cuda}"


def extras() -> dict[str, tuple[str, ...]]:
    """The packages that each extra brings."""
    found: dict[str, list[str]] = {}
    for line in requires("evsurf") or []:
        wanted = re.search(r"""extra\s*==\s*["']([\w-]+)["']""", line)
        package = re.match(r"[\w.-]+", line)
        if wanted and package and package[0] != "evsurf":
            found.setdefault(wanted[1], []).append(package[0])
    return {extra: tuple(packages) for extra, packages in found.items()}


def _extras() -> Iterator[Finding]:
    for extra, packages in extras().items():
        absent = machine.missing(packages)
        text = (
            f"without {', '.join(absent)}: pip install 'evsurf[{extra}]'" if absent else "complete"
        )
        yield Finding(f"extra {extra}", text)


def _tried(name: str, check: Callable[[], tuple[bool | None, str]]) -> Finding:
    """What the check finds; one that cannot even run has found something bad."""
    try:
        good, text = check()
    except Exception as error:  # noqa: BLE001 - whatever it is, the report goes on and tells it.
        good, text = False, f"{type(error).__name__}: {error}"
    return Finding(name, text, good)


def _gradients(device: torch.device) -> tuple[bool, str]:
    """Values and weight gradients against the reference in float64."""
    batch = camera_like(_SMALL, samples=1).to(device)
    values: list[Tensor] = []
    gradients: list[Tensor] = []
    for channels in _CHANNELS:
        surface = _surface(channels, device)
        image = surface(batch)
        d_image = torch.linspace(-1, 1, image.numel(), device=device).view_as(image)
        image.backward(d_image)
        expected, d_weights = _reference(surface, batch, d_image)
        values.append((image.detach() - expected).abs().max())
        for weight, d_weight in zip(surface.parameters(), d_weights, strict=True):
            assert weight.grad is not None
            gradients.append((weight.grad - d_weight).abs().max() / d_weight.abs().max())
    # Python's max would pass over a NaN, torch's is NaN then.
    worst_value, worst_gradient = (float(torch.stack(each).max()) for each in (values, gradients))
    good = worst_value <= _VALUES_AGREE and worst_gradient <= _GRADIENTS_AGREE
    return good, (
        f"{batch.num_events:,} events; from the float64 reference values differ by "
        f"{worst_value:.0e}, weight gradients by {worst_gradient:.0e}"
    )


def _reference(
    surface: MatrixLSTM, batch: EventBatch, d_image: Tensor
) -> tuple[Tensor, tuple[Tensor, ...]]:
    """The image, and the gradients of w_ih, w_hh and both biases."""
    given = Input(
        batch.x, batch.y, batch.t, batch.p, batch.offsets,
        surface.field(batch.size), 1, 0, False, surface.reading,
    )  # fmt: skip
    w_ih, w_hh, b_ih, b_hh = (weight.detach().double() for weight in surface.parameters())
    cell = Cell(w_ih, w_hh, b_ih, b_hh)
    d_ih, d_hh, d_bias = backward(given, cell, d_image.double())
    return forward(given, cell), (d_ih, d_hh, d_bias, d_bias)


def _batches(device: torch.device) -> tuple[bool, str]:
    """A sample alone, in a batch and in the batch turned round; on a CPU they are bitwise equal."""
    batch = camera_like(_SMALL, samples=8).to(device)
    surface = _surface(_CHANNELS[0], device)
    with torch.inference_mode():
        together = surface(batch)
        backwards = surface(batch[list(reversed(range(len(batch))))]).flip(0)
        alone = torch.cat([surface(sample) for sample in batch])
    worst = float(torch.stack([together - backwards, together - alone]).abs().max())
    # Elsewhere torch's matrix products compute, which sum in an order that goes by their shape.
    good = worst <= (0.0 if device.type == "cpu" else _VALUES_AGREE)
    if not good:
        return good, f"a sample's surface changes with the others of its batch, by {worst:.0e}"
    how = "to the last bit" if worst == 0 else f"but for {worst:.0e}"
    return good, f"a sample's surface is the same {how}, alone or among others"


def _speed(device: torch.device) -> tuple[None, str]:
    """Events per second of a common batch beside those of a known machine; for orientation."""
    batch = camera_like("ncars", samples=64).to(device)
    surface = _surface(_CHANNELS[0], device)

    def forward_pass() -> None:
        with torch.inference_mode():
            surface(batch)

    wait = partial(torch.cuda.synchronize, device) if device.type == "cuda" else lambda: None
    timings = measure(
        {"forward": forward_pass, "both": lambda: surface(batch).sum().backward()},
        repeats=20,
        seconds=1.0,
        synchronize=wait,
    )
    ours = [batch.num_events / timings[name].median / 1e6 for name in ("forward", "both")]
    name, *theirs = REFERENCE
    busy = "; the machine is busy" if machine.is_busy(machine.load()) else ""
    return None, (
        f"{ours[0]:.0f} million events/s forward, {ours[1]:.0f} with backward "
        f"({name}: {theirs[0] / 1e6:.0f} and {theirs[1] / 1e6:.0f}){busy}"
    )


def _surface(channels: int, device: torch.device) -> MatrixLSTM:
    """One whose weights are known; global random numbers stay as they were."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(channels)
        return MatrixLSTM(channels).to(device)
