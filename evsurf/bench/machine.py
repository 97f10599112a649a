"""What a measurement was made on: the machine, the versions, the build."""

from __future__ import annotations

import datetime as dt
import functools
import os
import platform
import re
import subprocess
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import torch

from evsurf import _core


def describe() -> dict[str, object]:
    """Everything that should stand beside a number, ready for JSON."""
    return {
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "evsurf": version("evsurf"),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.release()} {platform.machine()}",
        "cpu": cpu_model(),
        "cores": cores(),
        "threads": torch.get_num_threads(),
        "load": load(),
        "isa": _core.isa(),
        "compiler": compiler(),
        "openmp": has_openmp(),
        "huge_pages": huge_pages(),
        "cuda": cuda_devices(),
    }


def cores() -> int:
    """Cores that this process may use."""
    available: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    return len(available(0)) if available else os.cpu_count() or 1


def load() -> float | None:
    """How many processes wanted to run over the last minute; None where nobody counts."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None


def is_busy(load: float | None) -> bool:
    """Whether, at this load, others want the machine too, so that times mean little."""
    return load is not None and load > 0.5 * cores()


def cpu_model() -> str:
    """The processor's own name, with its family, as names like "AMD EPYC" span ten years."""
    facts = _cpu_facts()
    if "model name" in facts:
        details = [f"{k} {facts[k]}" for k in ("cpu family", "model") if k in facts]
        return f"{facts['model name']} ({', '.join(details)})" if details else facts["model name"]
    if platform.system() == "Darwin":
        asked = ["sysctl", "-n", "machdep.cpu.brand_string"]
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    return platform.processor() or platform.machine()


def nickname() -> str:
    """A short name for file names, such as zen5x2: the processor and how many of its cores."""
    facts = _cpu_facts()
    if facts.get("vendor_id") == "AuthenticAMD" and facts.get("cpu family") == "26":
        name = "zen5"
    else:
        plain = re.sub(r"\(.*?\)|@.*|CPU|Processor", " ", cpu_model())
        name = "-".join(re.findall(r"[a-z0-9]+", plain.lower())) or "cpu"
    return f"{name}x{cores()}"


def _cpu_facts() -> dict[str, str]:
    """What Linux says about the first processor; nothing elsewhere."""
    source = Path("/proc/cpuinfo")
    if not source.exists():
        return {}
    first = source.read_text(encoding="utf-8", errors="replace").split("\n\n")[0]
    pairs = (line.split(":", 1) for line in first.splitlines() if ":" in line)
    return {key.strip(): value.strip() for key, value in pairs}


@functools.cache
def _core_file() -> bytes:
    return Path(str(_core.__file__)).read_bytes()


def compiler() -> str:
    """What compiled the core; compilers leave their name in what they make."""
    found = re.search(rb"GCC: \([^)\0]*\) [\d.]+|(?:Apple )?clang version [\d.]+", _core_file())
    return found[0].decode() if found else "unknown"


def has_openmp() -> bool:
    """Whether the core runs on several threads."""
    return b"GOMP_parallel" in _core_file() or b"__kmpc_fork_call" in _core_file()


def huge_pages() -> str:
    """Whether Linux gives large pages to who asks: always, madvise or never."""
    source = Path("/sys/kernel/mm/transparent_hugepage/enabled")
    if not source.exists():
        return "unknown"
    chosen = re.search(r"\[(\w+)\]", source.read_text(encoding="utf-8"))
    return chosen[1] if chosen else "unknown"


def cuda_devices() -> list[str]:
    """Names of the CUDA devices that torch can use."""
    if not torch.cuda.is_available():
        return []
    return [torch.cuda.get_device_name(k) for k in range(torch.cuda.device_count())]


def missing(packages: tuple[str, ...]) -> list[str]:
    """Those of the packages that are not installed."""
    return [name for name in packages if not _is_installed(name)]


def _is_installed(name: str) -> bool:
    try:
        version(name)
    except PackageNotFoundError:
        return False
    return True
