"""The tables of times show what was measured, losses included."""

from __future__ import annotations

import json
from pathlib import Path

from docs import speed_tables
from docs.speed_tables import TIMES
from evsurf.bench.measure import Timing
from evsurf.bench.ops import PASSES, Plan, Report, Row

MACHINE = {
    "cpu": "a processor", "threads": 2, "isa": "avx2", "torch": "2.6", "evsurf": "0.1.0",
    "date": "2026-01-02T03:04:05+00:00",
}  # fmt: skip
INPUT = {
    "stream": "ncars", "samples": 64, "size": [100, 120], "events": 1_000_000,
    "active_pixels": 500_000, "busiest_pixel": 70,
}  # fmt: skip


def report(milliseconds: dict[str, float]) -> Report:
    """As `evsurf bench ops` makes it, with one time for each variant."""
    rows = [
        Row(name, 3, pass_name, 64, 1_000_000, Timing(((ms / 1e3,), (ms / 1e3,))), 5_000_000)
        for pass_name in PASSES
        for name, ms in milliseconds.items()
    ]
    rows.append(Row("nn.LSTM padded", 3, "forward", 0, 0, None))
    return Report(Plan(), MACHINE, INPUT, rows)


def page(folder: Path, *found: Report) -> str:
    for number, each in enumerate(found):
        text = json.dumps(each.as_json())
        (folder / f"{number}.json").write_text(text, encoding="utf-8")
    return speed_tables.page_of(speed_tables.reports(folder))


def test_medians_speeds_and_comparisons_are_shown(tmp_path: Path) -> None:
    text = page(tmp_path, report({"evsurf": 10.0, "nn.LSTM packed": 250.0}))
    assert "| evsurf | **10 ms** (10 to 10)<br>**100 M/s** |" in text
    assert f"| nn.LSTM packed | 250 ms (250 to 250)<br>4 M/s; 25 {TIMES} |" in text
    assert "left out: needs more than" in text
    assert "5.0 MB" in text
    assert "a processor, 2 threads, avx2" in text
    assert "None in these tables." in text


def test_losses_are_named(tmp_path: Path) -> None:
    text = page(tmp_path, report({"evsurf": 10.0, "nn.LSTM packed": 5.0}))
    assert "nn.LSTM packed takes 0.50 of our time." in text


def test_fewer_samples_are_said_so(tmp_path: Path) -> None:
    found = report({"evsurf": 10.0})
    few = Row("nn.LSTM padded", 3, PASSES[1], 8, 125_000, Timing(((0.5,), (0.5,))))
    text = page(tmp_path, Report(found.plan, found.machine, found.input, [*found.rows, few]))
    assert f"500 ms (500 to 500)<br>0.25 M/s; 400 {TIMES} (8) |" in text
    assert "(n): on n samples" in text


def test_without_measurements_the_page_says_how_to_make_them(tmp_path: Path) -> None:
    assert "evsurf bench ops -o" in page(tmp_path)


def test_other_measurements_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text('{"results": [{"seconds": 1}]}', encoding="utf-8")
    assert page(tmp_path) == speed_tables.NOTHING


def test_figures_have_three_digits_and_no_exponent() -> None:
    shown = [speed_tables.figure(number) for number in (0.04931, 1.7349, 99.96, 164.4, 12_900.6)]
    assert shown == ["0.0493", "1.73", "100", "164", "12,901"]
