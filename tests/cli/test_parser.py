"""The help helps, and wrong words are answered in words."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from evsurf.cli import VERBS
from evsurf.cli.parser import build_parser, parse
from evsurf.cli.verb import UsageError

ROOT = Path(__file__).parent.parent.parent
COLUMNS = 80
LINES = 24


def meant(line: str):
    """What a command line without its `evsurf` is understood as."""
    return parse(build_parser(VERBS, "1.2.3"), shlex.split(line))


def refusal(line: str) -> str:
    with pytest.raises(UsageError) as caught:
        meant(line)
    return str(caught.value)


each_help = pytest.mark.parametrize(
    "words", [(), *((verb.name,) for verb in VERBS)], ids=lambda words: " ".join(words) or "evsurf"
)
each_verb = pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)


@each_help
def test_help_fits_one_screen(typed, words):
    lines = typed(*words, "--help").out.splitlines()
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= COLUMNS
    assert all(line == line.rstrip() for line in lines)


@each_help
def test_help_opens_with_a_sentence_and_two_examples(typed, words):
    sentence, nothing, *examples, after = typed(*words, "--help").out.splitlines()[:5]
    assert re.fullmatch(r"[A-Z].+[^.]\.", sentence)
    assert nothing == after == ""
    assert len(examples) == 2
    assert all(example.startswith(" ".join(["  evsurf", *words])) for example in examples)


@each_help
def test_the_examples_of_the_help_can_be_typed(typed, words):
    examples = typed(*words, "--help").out.splitlines()[2:4]
    for example in examples:
        evsurf, verb, *_ = example.split()
        assert evsurf == "evsurf"
        assert meant(example.removeprefix("  evsurf ")).verb == verb


def test_the_commands_of_the_documents_can_be_typed():
    found = []
    for path in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        text = path.read_text(encoding="utf-8")
        found += re.findall(
            r"(?:`|^)evsurf ((?:demo|doctor|bench|info|convert|simulate)[^`\n]*)",
            text,
            re.MULTILINE,
        )
    assert found
    for command in found:
        # A verb that needs files is only mentioned where there are none.
        if not command.endswith("--help") and command not in ("info", "convert", "simulate"):
            meant(command)


@each_verb
def test_help_names_every_option_with_its_default(typed, verb):
    text = " ".join(typed(verb.name, "--help").out.split())
    # What a verb cannot do without has no default.
    needed = {
        "info": "files",
        "convert": "files --output o.npz",
        "simulate": "source --output o.npz",
    }.get(verb.name, "")
    default = vars(meant(f"{verb.name} {needed}"))[verb.name]
    for name, value in vars(default).items():
        if name in ("subject", *needed.replace("--", "").split()):
            continue
        assert f"--{name} " in text
        if not isinstance(value, bool) and value is not None:
            shown = " ".join(map(str, value)) if isinstance(value, list) else value
            assert f"(default: {shown})" in text


def test_what_is_missing_is_named_with_where_to_look():
    assert refusal("info") == "files is missing; `evsurf info --help` shows how"
    assert refusal("convert a.raw") == "output is missing; `evsurf convert --help` shows how"
    assert refusal("convert") == "files and output are missing; `evsurf convert --help` shows how"


def test_negative_numbers_are_values_and_not_options():
    assert "--seed must be a whole number, at least 0, not '-3'" in refusal("demo --seed -3")
    assert refusal("demo --seed=-3") == refusal("demo --seed -3")
    assert "not '-1'" in refusal("bench --hidden 3 -1")


def test_a_value_may_follow_an_equals_sign():
    assert meant("demo --seed=4 --output=x.png").demo == meant("demo --seed 4 -o x.png").demo
    assert meant("demo --output=--odd.png").demo.output == "--odd.png"


def test_the_value_of_an_option_may_be_the_name_of_a_verb():
    chosen = meant("bench -o doctor --stream demo")
    assert chosen.verb == "bench"
    assert chosen.bench.output == "doctor"
    assert chosen.bench.stream == "demo"


def test_several_sizes_end_at_the_next_option():
    chosen = meant("bench ops --hidden 3 16 --fast").bench
    assert chosen.hidden == [3, 16]
    assert chosen.fast


@pytest.mark.parametrize("text", ["null", "true", "3", "[1]", "{a: 1}", "1e3"])
def test_texts_are_taken_as_they_are_typed(text):
    assert meant(f"demo -o '{text}'").demo.output == text
    assert meant(f"bench --stream '{text}'").bench.stream == text


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("dmo", "there is no verb 'dmo'; did you mean demo?"),
        ("Doctor", "there is no verb 'Doctor'; did you mean doctor?"),
        ("--debug bnech", "there is no verb 'bnech'; did you mean bench?"),
        ("frobnicate", "there is no verb 'frobnicate'; `evsurf --help` lists them"),
        ("demo --sed 3", "there is no option --sed; did you mean --seed?"),
        ("demo --SEED=3", "there is no option --SEED; did you mean --seed?"),
        ("bench --sampels=9", "there is no option --sampels; did you mean --samples?"),
        ("bench --out x", "there is no option --out; did you mean --output?"),
        ("doctor --reprot", "there is no option --reprot; did you mean --report?"),
        ("--verson", "there is no option --verson; did you mean --version?"),
    ],
)
def test_a_misspelt_word_is_answered_with_the_right_one(line, found):
    assert refusal(line) == found


@pytest.mark.parametrize(
    ("line", "where"),
    [
        ("--seed 3", "`evsurf --help` lists them"),
        ("demo --hidden 3", "`evsurf demo --help` lists them"),
        ("bench ops --colour", "`evsurf bench --help` lists them"),
    ],
)
def test_nothing_is_guessed_where_nothing_is_near(line, where):
    assert refusal(line).endswith(f"; {where}")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("--debug", "a verb is missing; `evsurf --help` lists them"),
        ("demo --seed", "--seed needs a value"),
        ("demo -o", "--output needs a value"),
        ("demo --seed --output x", "--seed needs a value"),
        ("bench --hidden --fast", "--hidden needs a value"),
        ("bench --fast=1", "--fast takes no value, not '1'"),
        ("demo extra", "not understood: extra"),
        ("demo -x", "not understood: -x"),
        ("bench ops ops", "not understood: ops"),
    ],
)
def test_words_too_many_or_too_few_are_named(line, found):
    assert refusal(line) == found


def test_what_else_could_be_timed_is_listed():
    assert refusal("bench models") == "subject must be one of 'ops', 'loading', not 'models'"


NUMBERS = {
    "demo": {"seed": 0},
    "bench": {"seed": 0, "samples": 1, "hidden": 1, "repeats": 1, "threads": 1},
}


@pytest.mark.parametrize(
    ("verb", "option", "least"),
    [(verb, option, least) for verb in NUMBERS for option, least in NUMBERS[verb].items()],
)
def test_every_number_is_checked_and_named_with_what_was_typed(verb, option, least):
    chosen = vars(vars(meant(f"{verb} --{option} {least}"))[verb])[option]
    assert chosen == ([least] if option == "hidden" else least)
    for wrong in (str(least - 1), "-7", "x", "1.5", "1e3", "null", "true", "[3]", ""):
        assert refusal(f"{verb} --{option}={shlex.quote(wrong)}") == (
            f"--{option} must be a whole number, at least {least}, not {wrong!r}"
        )
    assert f"--{option} must be a whole number, at most" in refusal(f"{verb} --{option} {10**30}")


def test_after_two_dashes_nothing_is_taken_for_an_option():
    assert refusal("demo -- --sed") == "not understood: -- --sed"
    assert meant("bench -- ops").bench.subject == "ops"
