"""What a person types is done, or refused in a line."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from dataclasses import replace

import pytest

import evsurf
from evsurf import cli
from evsurf.cli.doctor import DOCTOR
from evsurf.cli.verb import UsageError

SECONDS = 120

# A shell may have started the tests with Ctrl-C ignored, which a child inherits.
AS_FROM_A_TERMINAL = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from evsurf.cli import main
sys.exit(main())
"""

WHAT_IS_LOADED = """
import json, sys
import evsurf
before = set(sys.modules)
from evsurf.cli import main
for words in ["--help"], ["demo", "--help"], ["dmo"], ["bench", "--samples", "0"], ["--version"]:
    main(words)
print()
print(json.dumps(sorted(set(sys.modules) - before)))
"""


@pytest.fixture
def doctor_raises(monkeypatch):
    """Puts an error in the place of what `evsurf doctor` does."""

    def put(error: BaseException) -> None:
        def run(*_) -> int:
            raise error

        monkeypatch.setattr(cli, "VERBS", (replace(DOCTOR, run=run),))

    return put


@pytest.mark.parametrize("words", [(), ("--help",), ("-h",)])
def test_no_words_print_the_help(typed, words):
    outcome = typed(*words)
    assert outcome.code == 0
    assert outcome.out.startswith("Turns streams")
    assert all(verb.name in outcome.out for verb in cli.VERBS)
    assert outcome.err == ""


def test_the_words_of_the_command_line_are_the_default(typed, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["evsurf", "--version"])
    assert cli.main() == 0
    assert capsys.readouterr().out == f"evsurf {evsurf.__version__}\n"


def test_the_version_is_that_of_the_package(typed):
    assert typed("--version") == (0, f"evsurf {evsurf.__version__}\n", "")


def test_what_cannot_be_understood_is_refused_in_one_line(typed, no_work):
    code, out, err = typed("dmo")
    assert code == 2
    assert out == ""
    assert err == "evsurf: error: there is no verb 'dmo'; did you mean demo?\n"


@pytest.mark.parametrize(
    "error",
    [
        ValueError("sizes differ"),
        TypeError("sizes differ"),
        OSError("sizes differ"),
        ImportError("sizes differ"),
        RuntimeError("sizes differ"),
        MemoryError("sizes differ"),
    ],
)
def test_an_error_of_the_library_is_told_without_a_traceback(typed, doctor_raises, error):
    doctor_raises(error)
    assert typed("doctor") == (
        2,
        "",
        "evsurf: error: sizes differ\n(--debug shows where it came from)\n",
    )


@pytest.mark.parametrize("words", [("doctor", "--debug"), ("--debug", "doctor")])
def test_debug_shows_where_an_error_came_from(typed, doctor_raises, words):
    doctor_raises(ValueError("sizes differ"))
    with pytest.raises(ValueError, match="sizes differ") as caught:
        typed(*words)
    assert caught.traceback[-1].name == "run"


def test_debug_shows_where_words_were_refused(typed, no_work):
    with pytest.raises(UsageError, match="--seed must be"):
        typed("demo", "--seed", "x", "--debug")


def test_an_error_that_nobody_expects_is_not_hidden(typed, doctor_raises):
    doctor_raises(KeyError("a mistake of ours"))
    with pytest.raises(KeyError):
        typed("doctor")


def test_ctrl_c_within_a_verb_is_one_line(typed, doctor_raises):
    doctor_raises(KeyboardInterrupt())
    assert typed("doctor") == (130, "", "evsurf: stopped\n")


def test_the_exit_code_is_the_verbs(typed, monkeypatch):
    monkeypatch.setattr(cli, "VERBS", (replace(DOCTOR, run=lambda *_: 7),))
    assert typed("doctor").code == 7


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_ctrl_c_in_a_terminal_is_one_line_and_130():
    command = [sys.executable, "-u", "-c", AS_FROM_A_TERMINAL, "doctor"]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout is not None
    # Its first finding shows that it is at work, and more follows.
    child.stdout.readline()
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=SECONDS)
    assert err == "evsurf: stopped\n"
    assert child.returncode == 130


def test_help_and_wrong_words_load_nothing_beyond_the_package_and_the_parser():
    command = [sys.executable, "-c", WHAT_IS_LOADED]
    child = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)
    loaded = json.loads(child.stdout.splitlines()[-1])
    assert "evsurf.cli.parser" in loaded
    ours = {name for name in loaded if name.startswith("evsurf.")}
    assert all(name.startswith("evsurf.cli") for name in ours)
    assert "evsurf.cli.foresight" not in ours
    assert not {"matplotlib", "PIL", "torch._dynamo"} & set(loaded)


def test_the_module_is_the_command():
    command = [sys.executable, "-m", "evsurf", "bench", "--hidden", "0"]
    child = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert child.returncode == 2
    assert child.stdout == ""
    assert child.stderr == ("evsurf: error: --hidden must be a whole number, at least 1, not '0'\n")
