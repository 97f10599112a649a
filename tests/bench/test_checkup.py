"""The check-up finds what works and what does not, and one bad finding does not stop it."""

import re
import tomllib
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from evsurf.bench import checkup, machine
from evsurf.bench.checkup import Finding, check_up, extras
from evsurf.bench.measure import Timing, measure
from evsurf.data.synthetic import camera_like
from evsurf.events import EventBatch
from evsurf.surfaces import MatrixLSTM

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(autouse=True)
def _quick(monkeypatch):
    """Speed is measured once, on one sample."""

    def once(calls, *, synchronize, **_):
        return measure(calls, repeats=1, seconds=0.0, rounds=1, synchronize=synchronize)

    def small(preset, samples):
        return camera_like(preset, 1 if preset == "ncars" else samples)

    monkeypatch.setattr(checkup, "measure", once)
    monkeypatch.setattr(checkup, "camera_like", small)
    monkeypatch.setattr(checkup, "_CHANNELS", (3,))


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(machine, "cuda_devices", list)


@pytest.mark.gpu
def test_everything_is_good_on_a_gpu():
    device = torch.device("cuda:0")
    assert checkup._gradients(device)[0]
    assert checkup._batches(device)[0]


def by_name() -> dict[str, Finding]:
    return {finding.name: finding for finding in check_up()}


def as_if_on_a_gpu(monkeypatch, batch: EventBatch) -> None:
    """From now on the check-up takes this batch, and moves it to no device."""
    unmoved = SimpleNamespace(to=lambda _: batch)
    monkeypatch.setattr(checkup, "camera_like", lambda *_, **__: unmoved)


def surfaces_with(monkeypatch, change):
    """From now on the check-up tries surfaces that were changed."""
    true = checkup._surface

    def changed(channels: int, device: torch.device) -> MatrixLSTM:
        surface = true(channels, device)
        change(surface)
        return surface

    monkeypatch.setattr(checkup, "_surface", changed)


def test_everything_is_good_here():
    found = by_name()
    assert [finding.name for finding in found.values() if finding.good is False] == []
    assert found["gradients, cpu"].good
    assert found["batches, cpu"].good
    assert found["speed, cpu"].good is None
    assert all(finding.text for finding in found.values())


def test_every_number_of_channels_is_compared_with_the_reference(monkeypatch):
    monkeypatch.undo()
    good, text = checkup._gradients(torch.device("cpu"))
    assert good
    assert re.match(r"1,000 events; .* values differ by \de-\d\d, weight gradients by \de", text)


@pytest.mark.usefixtures("no_gpu")
def test_what_is_here_is_told_before_it_is_tried():
    assert list(by_name()) == [
        "evsurf", "python", "system", "processor", "instructions", "openmp", "huge pages", "cuda",
        *(f"extra {name}" for name in extras()),
        "gradients, cpu", "batches, cpu", "speed, cpu",
    ]  # fmt: skip


def test_each_finding_comes_when_it_is_found(monkeypatch):
    """A terminal shows the first ones while the last ones are still being tried."""
    monkeypatch.setattr(checkup, "_gradients", lambda _: pytest.fail("was already tried"))
    assert next(check_up()).name == "evsurf"


BROKEN = {
    "values": lambda surface: surface.register_forward_hook(lambda _, __, out: out + 1e-4),
    "gradients": lambda surface: surface.weight.register_hook(lambda gradient: 1.001 * gradient),
    "values that are no numbers": lambda surface: surface.weight.data.fill_(torch.nan),
    "gradients that are no numbers": lambda surface: surface.weight.register_hook(
        lambda gradient: gradient * torch.nan
    ),
}


@pytest.mark.parametrize("change", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.usefixtures("no_gpu")
def test_wrong_gradients_and_values_are_bad_and_the_rest_goes_on(monkeypatch, change):
    surfaces_with(monkeypatch, change)
    found = by_name()
    assert found["gradients, cpu"].good is False
    assert list(found)[-1] == "speed, cpu"


@pytest.mark.usefixtures("no_gpu")
def test_samples_that_feel_their_batch_mates_are_bad(monkeypatch):
    surfaces_with(
        monkeypatch,
        lambda surface: surface.register_forward_hook(lambda _, __, out: out + 1e-9 * out.sum()),
    )
    found = by_name()
    assert found["batches, cpu"].good is False
    assert "changes with the others of its batch" in found["batches, cpu"].text
    assert found["gradients, cpu"].good


@pytest.mark.parametrize(
    ("amount", "good", "text"),
    [
        (0.0, True, "the same to the last bit, alone"),
        (1e-9, True, r"the same but for \de-\d\d, alone"),
        (1e-3, False, r"changes with the others of its batch, by \de"),
        (torch.nan, False, "changes with the others of its batch, by nan"),
    ],
)
def test_on_a_gpu_samples_may_differ_by_rounding(monkeypatch, amount, good, text):
    """Torch computes there, and sums in an order that goes by the shape of all."""
    as_if_on_a_gpu(monkeypatch, camera_like(checkup._SMALL, 8))
    surface = checkup._surface(3, torch.device("cpu"))
    surface.register_forward_hook(lambda _, __, out: out + amount * out.sum())
    monkeypatch.setattr(checkup, "_surface", lambda *_: surface)
    found, message = checkup._batches(torch.device("cuda"))
    assert found is good
    assert re.search(text, message)


@pytest.mark.usefixtures("no_gpu")
def test_samples_that_feel_their_place_in_the_batch_are_bad(monkeypatch):
    def darken_the_first(_, __, out):
        return out * (torch.arange(len(out)) > 0)[:, None, None, None]

    surfaces_with(monkeypatch, lambda surface: surface.register_forward_hook(darken_the_first))
    assert by_name()["batches, cpu"].good is False


@pytest.mark.usefixtures("no_gpu")
def test_a_check_that_raises_is_a_bad_finding_and_the_rest_goes_on(monkeypatch):
    def out_of_order(_: torch.device) -> None:
        raise RuntimeError("no such kernel")

    monkeypatch.setattr(checkup, "_gradients", out_of_order)
    found = by_name()
    assert found["gradients, cpu"] == Finding(
        "gradients, cpu", "RuntimeError: no such kernel", good=False
    )
    assert found["batches, cpu"].good


def test_ctrl_c_ends_the_check_up(monkeypatch):
    def interrupted(_: torch.device) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(checkup, "_gradients", interrupted)
    with pytest.raises(KeyboardInterrupt):
        list(check_up())


def test_each_cuda_device_is_tried(monkeypatch):
    monkeypatch.setattr(machine, "cuda_devices", lambda: ["card A", "card B"])
    for name in ("_gradients", "_batches", "_speed"):
        monkeypatch.setattr(checkup, name, lambda device: (True, f"on {device}"))
    found = by_name()
    assert found["cuda"].text == "card A, card B"
    assert [finding.text for finding in found.values() if finding.good] == [
        f"on {device}" for device in ("cpu", "cuda:0", "cuda:1") for _ in range(3)
    ]


@pytest.mark.parametrize(
    ("built_for", "text"),
    [(None, "this torch is built without it"), ("12.4", "though torch is built for CUDA 12.4")],
)
@pytest.mark.usefixtures("no_gpu")
def test_without_a_gpu_the_cause_is_guessed(monkeypatch, built_for, text):
    monkeypatch.setattr(torch.version, "cuda", built_for)
    (finding,) = (finding for finding in checkup._inventory() if finding.name == "cuda")
    assert text in finding.text


def test_extras_are_those_of_the_project():
    """All of them, which is an extra too, brings nothing of its own."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = project["optional-dependencies"]
    del declared["all"]
    assert extras() == {
        extra: tuple(re.match(r"[\w.-]+", line)[0] for line in lines)  # type: ignore[index]
        for extra, lines in declared.items()
    }


def test_extras_are_read_in_every_spelling(monkeypatch):
    lines = [
        "torch>=2.6",
        'h5py>=3.12; extra == "io"',
        "hdf5plugin; python_version < '3.15' and extra=='io'",
        'rerun-sdk<0.42,>=0.41; extra == "live-view"',
        'evsurf[io,live-view]; extra == "all"',
    ]
    monkeypatch.setattr(checkup, "requires", lambda _: lines)
    assert extras() == {"io": ("h5py", "hdf5plugin"), "live-view": ("rerun-sdk",)}
    monkeypatch.setattr(checkup, "requires", lambda _: None)
    assert extras() == {}


def test_an_incomplete_extra_is_told_with_what_completes_it(monkeypatch):
    monkeypatch.setattr(checkup, "extras", lambda: {"io": ("numpy", "nothing-such"), "rest": ()})
    assert list(checkup._extras()) == [
        Finding("extra io", "without nothing-such: pip install 'evsurf[io]'"),
        Finding("extra rest", "complete"),
    ]


def test_speed_is_told_beside_that_of_a_known_machine(monkeypatch):
    batch = camera_like("ncars", 1)
    seconds = {"forward": batch.num_events / 20e6, "both": batch.num_events / 10e6}
    timings = {name: Timing(((each,),)) for name, each in seconds.items()}
    monkeypatch.setattr(checkup, "measure", lambda *_, **__: timings)
    monkeypatch.setattr(checkup, "REFERENCE", ("a machine", 60e6, 25e6))
    monkeypatch.setattr(machine, "load", lambda: None)
    _, text = checkup._speed(torch.device("cpu"))
    expected = "20 million events/s forward, 10 with backward (a machine: 60 and 25)"
    assert text == expected
    monkeypatch.setattr(machine, "load", lambda: 1000.0)
    _, text = checkup._speed(torch.device("cpu"))
    assert text == f"{expected}; the machine is busy"


def test_the_speed_of_a_gpu_is_measured_by_waiting_for_that_one(monkeypatch):
    """Not for the current one, which has nothing to do."""
    waited = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device=None: waited.append(device))
    batch, surface = camera_like("ncars", 1), checkup._surface(3, torch.device("cpu"))
    monkeypatch.setattr(
        checkup, "camera_like", lambda *_, **__: SimpleNamespace(to=lambda _: batch)
    )
    monkeypatch.setattr(checkup, "_surface", lambda *_: surface)
    checkup._speed(torch.device("cuda:1"))
    assert waited
    assert set(waited) == {torch.device("cuda:1")}


def test_random_numbers_stay_as_they_were():
    before = torch.get_rng_state()
    list(check_up())
    assert torch.equal(torch.get_rng_state(), before)
