from __future__ import annotations

import json

import pytest

from evsurf.bench.loading import Plan, Report, run

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")

SMALL = Plan(samples=20, batch_size=8, workers=1, long_pieces=1, windows=5, repeats=1)


@pytest.fixture(scope="module")
def report() -> Report:
    return run(SMALL)


def test_every_way_reads_every_event(report):
    batches = [row for row in report.rows if row.unit == "events"]
    assert {row.amount for row in batches} == {report.input["events"]}
    assert len(batches) == 6
    assert all(row.rate > 0 for row in report.rows)
    assert report.rows[0].amount == 5
    assert report.input["window_events"] == 100_000


def test_the_numbers_are_plain(report):
    found = json.loads(json.dumps(report.as_json()))
    assert found["results"][1]["name"] == "Loader, 1 threads"
    assert found["results"][1]["per_second"] == report.rows[1].rate
    assert found["results"][1]["per_cpu_second"] > 0
    assert "per_cpu_second" not in found["results"][4], "other processes did the work"
    assert found["protocol"]["seed"] == 0


def test_fast_is_the_same_with_less():
    fast = Plan(workers=3).fast()
    assert (fast.workers, fast.samples, fast.long_pieces) == (3, 256, 1)


@pytest.mark.parametrize("name", ["samples", "batch_size", "workers", "windows"])
def test_nothing_cannot_be_measured(name):
    with pytest.raises(ValueError, match=f"{name} = 0"):
        Plan(**{name: 0})
