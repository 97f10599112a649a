"""The rules of the house, read from the sources: who imports whom, and how large things are."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "evsurf"
MODULES = sorted(PACKAGE.rglob("*.py"))
TREES = {path: ast.parse(path.read_text(encoding="utf-8"), str(path)) for path in MODULES}

# Which parts of the package a part may import, besides itself.
MAY_IMPORT = {
    "events": set(),
    "ops": {"_core"},
    "data": {"events", "_core"},
    "surfaces": {"events", "ops"},
    "view": {"events", "surfaces"},
    "tasks": {"surfaces", "events", "data", "view"},
    "bench": {"surfaces", "events", "data", "ops", "tasks", "_core"},
    "cli": {"surfaces", "events", "data", "view", "tasks", "ops", "bench", "__init__"},
    "__init__": {"surfaces", "events", "data", "view", "tasks", "ops"},
    "__main__": {"cli"},
}
# ... and for annotations alone, which nothing loads.
MAY_NAME = {"ops": {"events"}}

# Where the name to import is not the name to install.
DISTRIBUTIONS = {
    "cuda": "cuda-core",
    "rerun": "rerun-sdk",
    "sklearn": "scikit-learn",
}
# Loaded with the package; every other dependency waits inside the function that needs it.
LOADED_AT_ONCE = {"torch", "numpy", "jaxtyping"}
# The command line starts with its own two, and nobody else imports it.
LOADED_BY_CLI = {"jsonargparse", "rich"}

# Rivals are for benchmarks and tests, and some of these are GPL, which may not be anywhere in it.
NEVER = {
    "aermanager",
    "dv",
    "dv_processing",
    "event_voxel_builder",
    "eventcv",
    "evlib",
    "evt3",
    "expelliarmus",
    "faery",
    "importrosbag",
    "metavision_core",
    "tonic",
}

FORBIDDEN_STEMS = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}
FILE_LINES = 300
FUNCTION_LINES = 60

# Modules whose behaviour another module's tests show.
TESTED_ELSEWHERE: set[str] = set()


class Import(NamedTuple):
    module: str
    line: int
    at_once: bool
    typing_only: bool


def name_of(path: Path) -> str:
    """The path as it reads in a message."""
    return path.relative_to(ROOT).as_posix()


def part_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def package_of(path: Path) -> list[str]:
    return list(path.relative_to(ROOT).parent.parts)


def is_type_checking(test: ast.expr) -> bool:
    return "TYPE_CHECKING" in {getattr(test, "id", None), getattr(test, "attr", None)}


def imported(node: ast.AST, path: Path) -> list[str]:
    """The full names that an import statement loads: of `from a import b` both a and a.b."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    here = package_of(path)
    start = here[: len(here) - node.level + 1] if node.level else []
    source = ".".join([*start, *([node.module] if node.module else [])])
    if source == "evsurf":
        return [f"evsurf.{alias.name}" for alias in node.names]
    return [source]


def imports(path: Path) -> Iterator[Import]:
    def walk(node: ast.AST, at_once: bool, typing_only: bool) -> Iterator[Import]:
        for module in imported(node, path):
            yield Import(module, getattr(node, "lineno", 0), at_once, typing_only)
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        guarded = node.body if isinstance(node, ast.If) and is_type_checking(node.test) else []
        for child in ast.iter_child_nodes(node):
            yield from walk(child, at_once and not inside, typing_only or child in guarded)

    yield from walk(TREES[path], True, False)


each_module = pytest.mark.parametrize("path", MODULES, ids=name_of)


@each_module
def test_imports_go_one_way_along_the_data(path: Path) -> None:
    part = part_of(path)
    assert part in MAY_IMPORT, f"say in MAY_IMPORT what evsurf.{part} may import"
    for module, line, _, typing_only in imports(path):
        first, *rest = module.split(".")
        if first != "evsurf":
            continue
        target = rest[0] if rest else "__init__"
        if target not in MAY_IMPORT and target != "_core":
            target = "__init__"  # A name that the front door passes on.
        allowed = {part} | MAY_IMPORT[part] | (MAY_NAME.get(part, set()) if typing_only else set())
        assert target in allowed, (
            f"{name_of(path)}:{line} imports {module}; {part} may import {sorted(allowed)}"
        )


@each_module
def test_only_torch_numpy_and_jaxtyping_are_loaded_at_once(path: Path) -> None:
    allowed = LOADED_AT_ONCE | (LOADED_BY_CLI if part_of(path) == "cli" else set())
    for module, line, at_once, typing_only in imports(path):
        first = module.split(".")[0]
        if first in sys.stdlib_module_names | {"evsurf"} or typing_only or not at_once:
            continue
        assert first in allowed, (
            f"{name_of(path)}:{line} imports {module} at once, not in the function that needs it"
        )


def declared_dependencies() -> set[str]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    groups = [project["dependencies"], *project["optional-dependencies"].values()]
    return {re.split(r"[^\w-]", line)[0].lower() for group in groups for line in group}


def test_no_rival_and_nothing_gpl_is_a_dependency() -> None:
    assert not {name.replace("-", "_") for name in declared_dependencies()} & NEVER


@each_module
def test_every_import_is_a_declared_dependency(path: Path) -> None:
    for module, line, _, _ in imports(path):
        first = module.split(".")[0]
        if first in sys.stdlib_module_names | {"evsurf"}:
            continue
        assert first.lower() not in NEVER, f"{name_of(path)}:{line}: {module} is a rival or GPL"
        assert DISTRIBUTIONS.get(first, first).lower() in declared_dependencies(), (
            f"{name_of(path)}:{line} imports {module}, which pyproject.toml does not declare"
        )


@each_module
def test_no_environment_variable_is_read(path: Path) -> None:
    forbidden = {"environ", "environb", "getenv", "getenvb"}
    for node in ast.walk(TREES[path]):
        names = {getattr(node, key, None) for key in ("attr", "id", "name")}
        assert not names & forbidden, f"{name_of(path)} reads the environment"


def test_native_code_reads_no_environment_variable() -> None:
    sources = [path for end in ("cpp", "h", "cu") for path in PACKAGE.rglob(f"*.{end}")]
    found = [name_of(path) for path in sources if "getenv" in path.read_text(encoding="utf-8")]
    assert not found


@pytest.mark.skipif(shutil.which("nm") is None, reason="needs the binary tool nm")
def test_code_for_newer_processors_shares_no_symbol_with_the_rest() -> None:
    """Otherwise the linker may choose the newer processor's copy, and an old one stops at it."""
    objects = ROOT.glob("build/*/CMakeFiles/cell_avx*.dir/**/*.o")
    for path in objects:
        isa = re.search(r"cell_(\w+)\.dir", str(path))[1]  # type: ignore[index]
        command = ["nm", "--demangle", "--defined-only", "--extern-only", str(path)]
        symbols = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        shared = [line for line in symbols.splitlines() if f"evsurf::{isa}::" not in line]
        assert not shared, f"{isa} shares these"


def lines_of(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


@each_module
def test_files_and_functions_stay_small(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= FILE_LINES, f"{name_of(path)} has {lines} lines: it holds two ideas"
    for node in ast.walk(TREES[path]):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            docstring = lines_of(node.body[0]) if ast.get_docstring(node) else 0
            length = lines_of(node) - docstring
            assert length <= FUNCTION_LINES, f"{name_of(path)}: {node.name} has {length} lines"


@each_module
def test_names_say_what_is_inside(path: Path) -> None:
    stems = {part.removesuffix(".py").strip("_") for part in path.relative_to(PACKAGE).parts}
    assert not stems & FORBIDDEN_STEMS, f"name {name_of(path)} after what it holds"


def has_code(path: Path) -> bool:
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return any(isinstance(node, definitions) for node in TREES[path].body)


@each_module
def test_each_module_with_code_has_its_test(path: Path) -> None:
    """Of a/b.py it is a/test_b.py, or test_a.py beside the folder if that is tested as a whole."""
    if name_of(path) in TESTED_ELSEWHERE or not has_code(path):
        return
    inside = path.relative_to(PACKAGE)
    folder = ROOT / "tests" / inside.parent
    candidates = [folder / f"test_{inside.stem.strip('_')}.py"]
    if inside.parent.parts:
        candidates += [
            folder.parent / f"test_{folder.name}.py",
            folder / f"test_{folder.name}.py",
        ]
    assert any(candidate.exists() for candidate in candidates), (
        f"{name_of(path)} needs one of {[name_of(candidate) for candidate in candidates]}"
    )
