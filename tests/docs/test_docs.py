"""What the pages show works: their code runs, and their examples give what they say."""

from __future__ import annotations

import doctest
import functools
import importlib
import re
import types
from pathlib import Path

import pytest
import torch

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

# Compiled graphs contain none of the checks that surround the tests.
COMPILING = {"engine.md"}


def blocks(page: Path) -> list[tuple[str, str]]:
    """Language and source of every block of code."""
    return [(found[1], found[2]) for found in BLOCK.finditer(page.read_text(encoding="utf-8"))]


def run(page: Path) -> int:
    """Runs the page's code from top to bottom, as a reader would; how many blocks there were."""
    names: dict[str, object] = {}
    ran = 0
    for language, source in blocks(page):
        if language == "python":
            exec(compile(source, str(page), "exec"), names)  # noqa: S102
        elif language == "pycon":
            check_examples(source, names, page.name)
        else:
            continue
        ran += 1
    return ran


def check_examples(source: str, names: dict[str, object], name: str) -> None:
    """Runs lines that start with >>> and compares what they give; keeps the names they make."""
    examples = doctest.DocTestParser().get_doctest(source, names, name, None, 0)
    report: list[str] = []
    failed, _ = doctest.DocTestRunner().run(examples, out=report.append, clear_globs=False)
    names.update(examples.globs)
    assert not failed, "".join(report)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.name not in COMPILING], ids=lambda page: page.name
)
def test_the_code_of_a_page_runs(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder of its own, where it may write files."""
    monkeypatch.chdir(tmp_path)
    run(page)


@pytest.mark.plain
def test_the_code_of_the_page_that_compiles_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs are made whole, as there; only the long way to machine code is cut short."""
    monkeypatch.setattr(torch, "compile", functools.partial(torch.compile, backend="eager"))
    assert all(run(ROOT / "docs" / name) for name in COMPILING)


def test_the_front_page_and_the_tour_have_code() -> None:
    assert any(language == "python" for language, _ in blocks(ROOT / "README.md"))
    assert any(language == "python" for language, _ in blocks(ROOT / "docs" / "index.md"))


def documented(module: types.ModuleType) -> list[doctest.DocTest]:
    """The examples in the docstrings of a module's public names."""
    finder = doctest.DocTestFinder(exclude_empty=True)
    found: list[doctest.DocTest] = []
    for name in module.__all__:
        thing = getattr(module, name)
        if not isinstance(thing, types.ModuleType | str):
            found += finder.find(thing, name, globs={"torch": torch, **vars(module)})
    return [test for test in found if test.examples]


@pytest.mark.parametrize("name", ["evsurf", "evsurf.ops", "evsurf.surfaces"])
def test_examples_of_docstrings_give_what_they_say(name: str) -> None:
    tests = documented(importlib.import_module(name))
    assert tests or name == "evsurf"
    for test in tests:
        report: list[str] = []
        failed, _ = doctest.DocTestRunner().run(test, out=report.append)
        assert not failed, "".join(report)


def test_every_op_is_on_the_page_of_the_engine() -> None:
    page = (ROOT / "docs" / "engine.md").read_text(encoding="utf-8")
    sources = (ROOT / "evsurf" / "ops").rglob("*.py")
    registered = re.compile(r'custom_op\(\s*"(evsurf::\w+)"')
    ops = {op for path in sources for op in registered.findall(path.read_text(encoding="utf-8"))}
    assert ops
    assert {op for op in ops if f"`{op}`" not in page} == set()
