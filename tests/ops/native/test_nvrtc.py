"""Compiled kernels are kept, and many processes may ask at once."""

from __future__ import annotations

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import pytest

from evsurf.ops.native import nvrtc

pytest.importorskip("cuda.core", reason="needs the extra [cuda]")

SOURCE = """
#include "native/device.h"
extern "C" __global__ void fill(int* out) { out[threadIdx.x] = EVSURF_NUMBER; }
"""


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "fill.cu"
    path.write_text(SOURCE, encoding="utf-8")
    return path


def test_code_is_compiled_once_and_then_read(source, tmp_path, monkeypatch):
    folder = tmp_path / "deep" / "kernels"
    first = nvrtc.cached(source, "sm_90", {"EVSURF_NUMBER": 7}, folder=folder)
    assert first.code.startswith(b"\x7fELF")
    assert "Compiling entry function 'fill' for 'sm_90'" in first.log
    monkeypatch.setattr(nvrtc, "compiled", lambda *_: pytest.fail("compiled again"))
    assert nvrtc.cached(source, "sm_90", {"EVSURF_NUMBER": 7}, folder=folder).code == first.code
    assert [file.suffix for file in folder.iterdir()] == [".cubin"]


@pytest.mark.parametrize("change", ["number", "architecture", "source"])
def test_whatever_code_depends_on_makes_it_another(source, tmp_path, change):
    nvrtc.cached(source, "sm_90", {"EVSURF_NUMBER": 7}, folder=tmp_path / "kernels")
    number, architecture = 7, "sm_90"
    if change == "number":
        number = 8
    elif change == "architecture":
        architecture = "sm_80"
    else:
        source.write_text(SOURCE + "// Another line.\n", encoding="utf-8")
    nvrtc.cached(source, architecture, {"EVSURF_NUMBER": number}, folder=tmp_path / "kernels")
    assert len(list((tmp_path / "kernels").iterdir())) == 2


def test_a_folder_that_cannot_be_written_only_costs_time(source, tmp_path):
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    machine = nvrtc.cached(source, "sm_90", {"EVSURF_NUMBER": 7}, folder=tmp_path / "file")
    assert machine.code.startswith(b"\x7fELF")


def _asked(source: Path, folder: Path) -> bytes:
    return nvrtc.cached(source, "sm_90", {"EVSURF_NUMBER": 7}, folder=folder).code


@pytest.mark.plain
def test_processes_that_start_at_once_get_the_same_code(source, tmp_path):
    folder = tmp_path / "kernels"
    with ProcessPoolExecutor(4, mp_context=get_context("fork")) as pool:
        codes = {job.result() for job in [pool.submit(_asked, source, folder) for _ in range(8)]}
    assert len(codes) == 1
    assert [file.suffix for file in folder.iterdir()] == [".cubin"]


def test_what_is_wrong_in_a_source_is_said(source):
    source.write_text("no code", encoding="utf-8")
    with pytest.raises(Exception, match=r"fill.cu\(1\): error"):
        nvrtc.compiled(source, "sm_90", {})


def test_without_the_extra_the_error_names_it(source, monkeypatch):
    monkeypatch.setitem(sys.modules, "cuda.core", None)
    with pytest.raises(ImportError, match=r"pip install 'evsurf\[cuda\]'"):
        nvrtc.compiled(source, "sm_90", {})


def test_kernels_are_kept_in_the_users_own_cache():
    assert nvrtc.cache_folder().is_relative_to(Path.home())
