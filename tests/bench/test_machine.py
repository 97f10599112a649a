"""What stands beside a measurement says on what it was made."""

import datetime as dt
import json
import os
import platform
import re
import subprocess
from types import SimpleNamespace

import pytest
import torch

from evsurf import _core
from evsurf.bench import machine

ZEN5 = {
    "vendor_id": "AuthenticAMD",
    "cpu family": "26",
    "model": "2",
    "model name": "AMD EPYC 9575F 64-Core Processor",
}
XEON = {
    "vendor_id": "GenuineIntel",
    "cpu family": "6",
    "model": "106",
    "model name": "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz",
}


@pytest.fixture
def facts(monkeypatch):
    """Sets what Linux says about the processor, of whose cores this process may use eight."""
    monkeypatch.setattr(machine, "cores", lambda: 8)
    return lambda said: monkeypatch.setattr(machine, "_cpu_facts", lambda: said)


def test_the_description_survives_json():
    described = machine.describe()
    assert json.loads(json.dumps(described, allow_nan=False)) == described


def test_the_description_names_machine_versions_and_build():
    assert set(machine.describe()) == {
        "date", "evsurf", "torch", "numpy", "python", "system", "cpu", "cores", "threads", "load",
        "isa", "compiler", "openmp", "huge_pages", "cuda",
    }  # fmt: skip


def test_the_description_is_of_now(threads_set):
    threads_set(3)
    described = machine.describe()
    made = dt.datetime.fromisoformat(str(described["date"]))
    assert abs(dt.datetime.now(dt.UTC) - made) < dt.timedelta(minutes=1)
    assert described["threads"] == 3
    assert described["torch"] == torch.__version__
    assert described["isa"] == _core.isa()


def test_cores_are_those_that_the_process_may_use(monkeypatch):
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3, 5}, raising=False)
    assert machine.cores() == 3


@pytest.mark.parametrize(("counted", "cores"), [(6, 6), (None, 1)])
def test_cores_are_all_where_the_system_tells_no_more(monkeypatch, counted, cores):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: counted)
    assert machine.cores() == cores


def test_the_load_is_unknown_where_nobody_counts_it(monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (1.5, 2.5, 3.5), raising=False)
    assert machine.load() == 1.5
    monkeypatch.delattr(os, "getloadavg")
    assert machine.load() is None


@pytest.mark.parametrize(
    ("load", "busy"), [(None, False), (0.0, False), (4.0, False), (4.1, True), (30.0, True)]
)
def test_a_machine_is_busy_when_half_of_its_cores_are(monkeypatch, load, busy):
    monkeypatch.setattr(machine, "cores", lambda: 8)
    assert machine.is_busy(load) == busy


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (ZEN5, "AMD EPYC 9575F 64-Core Processor (cpu family 26, model 2)"),
        (XEON, "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz (cpu family 6, model 106)"),
        ({"model name": "Virtual CPU"}, "Virtual CPU"),
    ],
)
def test_a_processor_is_named_with_its_family(facts, said, name):
    facts(said)
    assert machine.cpu_model() == name


def test_a_processor_that_linux_does_not_name_is_named_by_python(facts, monkeypatch):
    facts({"BogoMIPS": "50.00"})
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert machine.cpu_model() == "aarch64"


def test_on_a_mac_the_system_is_asked_for_the_processor(facts, monkeypatch):
    facts({})
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    answer = SimpleNamespace(stdout="Apple M2 Pro\n")
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: answer)
    assert machine.cpu_model() == "Apple M2 Pro"


@pytest.mark.parametrize(
    ("said", "name"),
    [
        (ZEN5, "zen5x8"),
        (XEON, "intel-xeon-platinum-8375cx8"),
        ({**ZEN5, "cpu family": "25", "model name": "AMD EPYC 7B13"}, "amd-epyc-7b13x8"),
        ({"model name": "Weird/..\\ name: *?\n"}, "weird-namex8"),
        ({"model name": "龍芯"}, "cpux8"),
    ],
)
def test_a_nickname_is_short_and_counts_cores(facts, said, name):
    facts(said)
    assert machine.nickname() == name


def test_the_nickname_of_this_machine_is_good_in_file_names():
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", machine.nickname())


@pytest.mark.parametrize(
    ("core", "compiler"),
    [
        (b"\x7fELF\0GCC: (Debian 12.2.0-14) 12.2.0\0.text", "GCC: (Debian 12.2.0-14) 12.2.0"),
        (b"\0Ubuntu clang version 18.1.3 (1ubuntu1)\0", "clang version 18.1.3"),
        (b"\0Apple clang version 15.0.0 (clang-1500)\0", "Apple clang version 15.0.0"),
        (b"\x7fELF stripped", "unknown"),
    ],
)
def test_the_core_names_its_compiler(monkeypatch, core, compiler):
    monkeypatch.setattr(machine, "_core_file", lambda: core)
    assert machine.compiler() == compiler


@pytest.mark.parametrize(
    ("core", "threads"),
    [(b"\0GOMP_parallel\0", True), (b"\0__kmpc_fork_call\0", True), (b"\0one thread\0", False)],
)
def test_the_core_shows_whether_it_runs_on_several_threads(monkeypatch, core, threads):
    monkeypatch.setattr(machine, "_core_file", lambda: core)
    assert machine.has_openmp() == threads


@pytest.mark.parametrize(
    ("text", "chosen"),
    [
        ("always [madvise] never\n", "madvise"),
        ("[always] madvise never\n", "always"),
        ("", "unknown"),
    ],
)
def test_huge_pages_are_as_the_system_says(monkeypatch, tmp_path, text, chosen):
    source = tmp_path / "enabled"
    source.write_text(text, encoding="utf-8")
    monkeypatch.setattr(machine, "Path", lambda _: source)
    assert machine.huge_pages() == chosen


def test_huge_pages_are_unknown_where_the_system_does_not_say(monkeypatch, tmp_path):
    monkeypatch.setattr(machine, "Path", lambda _: tmp_path / "nothing")
    assert machine.huge_pages() == "unknown"


def test_cuda_devices_are_named_in_order(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda k: f"card {k}")
    assert machine.cuda_devices() == ["card 0", "card 1"]
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert machine.cuda_devices() == []


def test_missing_packages_are_those_that_are_not_installed():
    assert machine.missing(("numpy", "no-such-package", "torch", "nor-this")) == [
        "no-such-package",
        "nor-this",
    ]
    assert machine.missing(()) == []
