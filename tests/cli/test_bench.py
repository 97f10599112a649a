"""Times are shown and written, once all ways to a surface agree."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import pytest
import torch

from docs import speed_tables
from evsurf.bench import ops
from evsurf.bench.agreement import DisagreementError
from evsurf.bench.measure import Timing
from evsurf.bench.ops import PASSES, Plan, Report, Row
from evsurf.data.synthetic import PRESETS

MACHINE = {
    "cpu": "a processor [old]", "threads": 2, "isa": "avx2", "torch": "2.6", "evsurf": "0.1.0",
    "date": "2026-01-02T03:04:05+00:00", "load": 0.0,
}  # fmt: skip
INPUT = {
    "stream": "ncars", "samples": 64, "size": [100, 120], "events": 1_000_000,
    "active_pixels": 500_000, "busiest_pixel": 70,
}  # fmt: skip


def timing(milliseconds: float) -> Timing:
    seconds = milliseconds / 1e3
    return Timing(((0.5 * seconds, seconds), (seconds, 2 * seconds)))


def rows(samples: int, *, peak: int | None = None) -> list[Row]:
    """Of one hidden size: ours, one that is slower, one on fewer samples, one left out."""
    few = samples // 2
    return [
        row
        for name in PASSES
        for row in (
            Row("evsurf", 3, name, samples, 1_000_000, timing(10.0), peak),
            Row("nn.LSTM packed", 3, name, samples, 1_000_000, timing(250.0), peak),
            Row("nn.LSTM padded", 3, name, few, 500_000, timing(250.0), peak),
            Row("ConvLSTM 1x1", 3, name, 0, 0, None),
        )
    ]


class Benchmark:
    """Stands in for the timing: keeps the plan, and gives the rows or the error it is told."""

    def __init__(self) -> None:
        self.plan = Plan()
        self.threads = 0
        self.load = 0.0
        self.error: BaseException | None = None

    def __call__(self, plan: Plan, progress) -> Report:
        self.plan, self.threads = plan, torch.get_num_threads()
        progress("timing")
        if self.error:
            raise self.error
        peak = 5_000_000 if plan.memory else None
        return Report(plan, MACHINE | {"load": self.load}, INPUT, rows(plan.samples, peak=peak))


@pytest.fixture
def benchmark(monkeypatch):
    stand_in = Benchmark()
    monkeypatch.setattr(ops, "run", stand_in)
    return stand_in


def cells(out: str, variant: str) -> list[list[str]]:
    """The words of each line of a variant, without its name."""
    return [line.replace(variant, "").split() for line in out.splitlines() if variant in line]


def test_a_small_benchmark_is_measured_and_its_numbers_are_those_of_the_tables(typed, tmp_path):
    path = tmp_path / "ops.json"
    small = ["--samples", "1", "--hidden", "2", "--repeats", "1", "--threads", "1"]
    code, out, err = typed("bench", "ops", "--fast", *small, "-o", str(path))
    assert (code, err) == (0, "")
    assert f"The numbers are in {path}\n" in out
    report = json.loads(path.read_text(encoding="utf-8"))
    assert speed_tables.is_of_ops(report)
    assert {row["channels"] for row in report["results"]} == {2}
    assert report["machine"]["threads"] == 1
    (tmp_path / "other.json").write_text("{}", encoding="utf-8")
    assert "1 samples of `ncars`" in speed_tables.page_of(speed_tables.reports(tmp_path))
    for row in report["results"]:
        assert row["variant"] in out


def test_the_table_tells_times_spread_speed_and_comparison(typed, benchmark):
    out = typed("bench").out
    assert "64 samples of ncars: 1,000,000 events, 70 in the busiest pixel." in " ".join(
        out.split()
    )
    assert "a processor [old]" in " ".join(out.split())
    for name in PASSES:
        assert f"3 channels, {name}" in out
    assert cells(out, "  evsurf  ") == [["10.0", "8.75", "-", "12.5", "100"]] * 2
    assert cells(out, "nn.LSTM packed") == [["250", "219", "-", "312", "4.00", "25.0", "x"]] * 2


def test_fewer_samples_and_what_is_left_out_are_said_so(typed, benchmark):
    out = typed("bench").out
    assert cells(out, "nn.LSTM padded")[0] == ["*32", "250", "219", "-", "312", "2.00", "50.0", "x"]
    assert "*N: on N samples" in out
    assert cells(out, "ConvLSTM 1x1")[0] == ["left", "out", "too", "much", "memory"]


def test_a_table_fits_a_terminal(typed, benchmark):
    lines = typed("bench", "--memory").out.splitlines()
    assert max(map(len, lines)) <= 80


def test_memory_is_shown_and_written_when_asked_for(typed, benchmark, tmp_path):
    assert "MB" not in typed("bench").out
    path = tmp_path / "ops.json"
    out = typed("bench", "--memory", "-o", str(path)).out
    assert benchmark.plan.memory
    assert "peak MB" in out
    assert cells(out, "nn.LSTM packed")[0][-1] == "5"
    (first, *_) = json.loads(path.read_text(encoding="utf-8"))["results"]
    assert first["peak_extra_bytes"] == 5_000_000


def test_options_make_the_plan(typed, benchmark):
    typed("bench")
    assert benchmark.plan == Plan()
    words = "--stream mvsec-20k --samples 3 --hidden 5 6 --repeats 7 --seed 8 --device cpu"
    typed("bench", "ops", *words.split())
    assert benchmark.plan == Plan(
        stream="mvsec-20k", samples=3, channels=(5, 6), repeats=7, seed=8, device="cpu"
    )


def test_fast_is_the_fast_plan(typed, benchmark):
    typed("bench", "--fast", "--hidden", "4", "16")
    assert benchmark.plan == replace(Plan(), channels=(4, 16)).fast()


def test_nothing_is_written_unless_asked_for(typed, benchmark, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "The numbers are in" not in typed("bench").out
    assert list(tmp_path.iterdir()) == []


def test_a_busy_machine_is_told(typed, benchmark):
    assert "busy" not in typed("bench").out.replace("busiest", "")
    benchmark.load = 1000.0
    assert "do not quote these times" in " ".join(typed("bench").out.split())


def test_a_wrong_result_is_refused_with_exit_code_1(typed, benchmark, tmp_path):
    path = tmp_path / "ops.json"
    benchmark.error = DisagreementError("nn.LSTM packed: values [0] differ")
    code, out, err = typed("bench", "-o", str(path))
    assert (code, err) == (1, "")
    assert out == "refused: nn.LSTM packed: values [0] differ\n"
    assert not path.exists()


@pytest.mark.parametrize("error", [None, DisagreementError("differ"), ValueError("x")])
def test_threads_are_set_for_the_benchmark_and_put_back(typed, benchmark, threads_set, error):
    threads_set(2)
    benchmark.error = error
    typed("bench", "--threads", "1")
    assert benchmark.threads == 1
    assert torch.get_num_threads() == 2


def test_torch_chooses_the_threads_unless_told(typed, benchmark, threads_set):
    threads_set(2)
    typed("bench")
    assert benchmark.threads == 2


def test_help_lists_every_stream(typed):
    text = " ".join(typed("bench", "--help").out.split())
    assert " ".join([*PRESETS][:-1]).replace(" ", ", ") + f" or {[*PRESETS][-1]}" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--stream foo", "--stream must be one of ncars, .*, megapixel, not 'foo'"),
        ("--stream=", "--stream must be one of .*, not ''"),
        ("--device gpu", "--device must be cpu, cuda or cuda:N, not 'gpu'"),
        ("--device cpu:x", "--device must be cpu, cuda or cuda:N, not 'cpu:x'"),
        ("--device cuda:-1", "--device must be cpu, cuda or cuda:N, not 'cuda:-1'"),
        ("--device cuda:9999", "--device is 'cuda:9999', but torch finds no such CUDA device"),
        ("--hidden 3 0", "--hidden must be a whole number, at least 1, not '0'"),
        ("--threads 5000", "--threads must be a whole number, at most 1024, not '5000'"),
        ("-o absent/ops.json", "--output is 'absent/ops.json', but there is no folder 'absent'"),
        ("-o .", "--output is '.', a folder; name a file in it"),
        ("--output=", "--output is '', a folder; name a file in it"),
    ],
)
def test_wrong_values_are_refused_before_the_work(
    typed, no_work, tmp_path, monkeypatch, words, message
):
    monkeypatch.chdir(tmp_path)
    code, out, err = typed("bench", *words.split())
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert re.match(f"evsurf: error: {message}", err)


def test_cuda_is_refused_where_there_is_none(typed, no_work, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    code, _, err = typed("bench", "--device", "cuda")
    assert code == 2
    assert "--device is 'cuda', but torch finds no such CUDA device; `evsurf doctor`" in err


def test_a_cuda_device_is_taken_by_its_number(typed, benchmark, monkeypatch):
    monkeypatch.setattr("evsurf.bench.machine.cuda_devices", lambda: ["first", "second"])
    assert typed("bench", "--device", "cuda:1").code == 0
    assert benchmark.plan.device == "cuda:1"
    assert typed("bench", "--device", "cuda:2").code == 2
