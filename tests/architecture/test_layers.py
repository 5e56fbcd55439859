"""Imports point one way, files stay small, and names say something."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "mcpeval_dsl"
ROOMS = (
    "frozen",
    "source",
    "diagnostics",
    "syntax",
    "semantics",
    "pipeline",
    "plan",
    "values",
    "project",
    "gateway",
    "agents",
    "records",
    "provenance",
    "execute",
    "grade",
    "statistics",
    "score",
    "report",
    "interchange",
    "language_server",
    "cli",
    "__main__",
)
PURE = ("source", "diagnostics", "syntax", "semantics")
FORBIDDEN_IN_PURE = ("pydantic", "rich", "mcp", "anthropic", "litellm", "socket", "subprocess", "asyncio", "networkx")
SAYS_NOTHING = ("utils", "util", "helpers", "helper", "common", "manager", "misc", "base")
FILES = sorted(PACKAGE.rglob("*.py"))


def room_of(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


def imported(path: Path) -> list[tuple[str, int]]:
    found = []
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found += [(alias.name, node.lineno) for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.append((node.module, node.lineno))
    return found


def test_every_room_is_known() -> None:
    assert {room_of(path) for path in FILES} - {"__init__"} <= set(ROOMS)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_to_earlier_rooms(path: Path) -> None:
    own = room_of(path)
    if own == "__init__":
        return
    for module, line in imported(path):
        if not module.startswith("mcpeval_dsl."):
            continue
        other = module.split(".")[1]
        assert ROOMS.index(other) <= ROOMS.index(own), f"{path}:{line} imports the later room {other}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_only_the_rooms_that_may_import_sdks_do(path: Path) -> None:
    own = room_of(path)
    for module, line in imported(path):
        top = module.split(".")[0]
        if own in PURE:
            assert top not in FORBIDDEN_IN_PURE, f"{path}:{line} imports {top}"
        if top in ("mcp", "mcp_types"):
            assert own == "gateway", f"{path}:{line} imports the MCP SDK"
        if top in ("anthropic", "litellm", "openai"):
            assert "drivers" in path.parts, f"{path}:{line} imports a model SDK"


def test_files_are_small() -> None:
    lengths = sorted((len(path.read_text().splitlines()), path) for path in FILES if path.name != "__init__.py")
    assert lengths[-1][0] <= 500, lengths[-1]
    assert lengths[len(lengths) // 2][0] <= 150
    assert lengths[int(len(lengths) * 0.9)][0] <= 350


def test_functions_are_small() -> None:
    lengths = []
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lengths.append(((node.end_lineno or 0) - node.lineno + 1, f"{path}:{node.lineno} {node.name}"))
    lengths.sort()
    assert lengths[int(len(lengths) * 0.9)][0] <= 35
    assert lengths[-1][0] <= 100, lengths[-1]


def test_names_say_something() -> None:
    assert not [path for path in FILES if path.stem in SAYS_NOTHING]


def test_every_module_says_its_place() -> None:
    for path in FILES:
        if path.name == "__init__.py" and not path.read_text().strip():
            continue
        assert ast.get_docstring(ast.parse(path.read_text())), f"{path} has no docstring"
