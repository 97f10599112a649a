"""The doctor tells what it finds, and its exit code says whether all is well."""

from __future__ import annotations

import io

import pytest
from jsonargparse import Namespace
from rich.console import Console

from evsurf.bench import checkup
from evsurf.bench.checkup import Finding
from evsurf.cli.doctor import DOCTOR

WELL = [
    Finding("system", "a small one"),
    Finding("gradients, cpu", "values differ by 1e-07", good=True),
]
ILL = [
    *WELL,
    Finding("batches, cpu", "IndexError: a[0] of [red]nothing[/]", good=False),
    Finding("speed, cuda:0", "lost", good=False),
]


@pytest.fixture
def found(monkeypatch):
    """Puts findings in the place of those on this machine."""

    def put(findings) -> None:
        monkeypatch.setattr(checkup, "check_up", lambda: iter(findings))

    return put


def in_colours(report: bool) -> str:
    """What a terminal with colours is sent."""
    sent = io.StringIO()
    console = Console(file=sent, force_terminal=True, color_system="truecolor", width=80)
    DOCTOR.run(Namespace(report=report), console)
    return sent.getvalue()


def test_where_all_is_well_the_exit_code_is_0(typed, found):
    found(WELL)
    code, out, err = typed("doctor")
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "all is well"


def test_a_bad_finding_gives_exit_code_1_and_is_named_at_the_end(typed, found):
    found(ILL)
    for words in [("doctor",), ("doctor", "--report")]:
        code, out, err = typed(*words)
        assert (code, err) == (1, "")
        assert "not well: batches, cpu; speed, cuda:0\n" in out


def test_an_ill_machine_is_sent_to_the_issues(typed, found):
    found(ILL)
    assert "open an issue" in typed("doctor").out
    assert "open an issue" not in typed("doctor", "--report").out
    found(WELL)
    assert "open an issue" not in typed("doctor").out


def test_good_and_bad_are_words_and_not_colours_alone(typed, found):
    found(ILL)
    for words in [("doctor",), ("doctor", "--report")]:
        lines = typed(*words).out.splitlines()
        marks = {
            line[5:].split(",")[0].split()[0]: line[:4].strip() for line in lines if "," in line
        }
        assert marks["gradients"] == "good"
        assert marks["batches"] == marks["speed"] == "BAD"


def test_what_was_found_is_printed_as_it_is(typed, found):
    """Errors may hold brackets, which a terminal's markup would take away."""
    found(ILL)
    for words in [("doctor",), ("doctor", "--report")]:
        assert "IndexError: a[0] of [red]nothing[/]" in typed(*words).out


def test_a_long_finding_goes_on_below_itself(typed, found):
    text = " ".join(["word"] * 40)
    found([Finding("name", text)])
    lines = typed("doctor").out.rstrip().split("\n\n")[0].splitlines()
    assert len(lines) > 2
    assert max(map(len, lines)) <= 80
    assert len({line.index("word") for line in lines}) == 1


def test_findings_are_shown_as_they_are_made():
    console = Console(file=io.StringIO(), width=80)
    shown = []

    def slowly():
        for finding in WELL:
            shown.append(console.file.getvalue())  # type: ignore[attr-defined]
            yield finding

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkup, "check_up", slowly)
        DOCTOR.run(Namespace(report=False), console)
    assert "a small one" not in shown[0]
    assert "a small one" in shown[1]


def test_the_report_is_plain_text_without_codes(found):
    found(ILL)
    assert "\x1b[" in in_colours(report=False)
    assert "\x1b" not in in_colours(report=True)


def test_a_line_of_the_report_is_not_wrapped(typed, found):
    text = " ".join(["word"] * 40)
    found([Finding("name", text)])
    assert text in typed("doctor", "--report").out


def test_this_machine_is_well(typed, monkeypatch):
    """All but the speed, which takes its time and is neither good nor bad."""
    monkeypatch.setattr(checkup, "_speed", lambda _: (None, "not measured"))
    code, out, _ = typed("doctor", "--report")
    assert code == 0
    assert out.startswith("evsurf doctor\n")
    assert out.endswith("all is well\n")
