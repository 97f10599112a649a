"""`evsurf bench loading`."""

from __future__ import annotations

import json

import pytest

from evsurf.bench import loading


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_it_shows_each_way_and_writes_the_numbers(typed, tmp_path, monkeypatch):
    small = loading.Plan(samples=9, long_pieces=1, windows=3, repeats=1, workers=1)
    monkeypatch.setattr(loading.Plan, "fast", lambda _: small)
    output = tmp_path / "load.json"
    code, out, _ = typed("bench", "loading", "--fast", "-o", str(output))
    assert code == 0
    assert "9 samples" in out
    assert "random windows, one process" in out
    assert "sample by sample" in out
    assert len(json.loads(output.read_text())["results"]) == 7
