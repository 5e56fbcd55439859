"""What the product imports is declared, and what is declared is imported."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
BROUGHT = {"mcp_types": "mcp"}  # one distribution's types that come with another of the same release
NAMES = {"duckdb": "duckdb"}  # optional and perhaps not here, so that its metadata cannot be asked


def distribution(requirement: str) -> str:
    return re.split(r"[<>=!~ \[;]", requirement, maxsplit=1)[0].lower().replace("_", "-")


def imported() -> set[str]:
    """Distributions that modules of the package import, lazily or not."""
    known = packages_distributions()
    found = set()
    for path in (ROOT / "mcpeval_dsl").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            else:
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
            found |= {name.split(".")[0] for name in names}
    others = found - sys.stdlib_module_names - {"mcpeval_dsl", ""}
    return {(BROUGHT.get(name) or NAMES.get(name) or known[name][0]).lower().replace("_", "-") for name in others}


def test_declared_are_exactly_the_imported_packages() -> None:
    optional = PROJECT["optional-dependencies"]
    declared = [*PROJECT["dependencies"], *optional["duckdb"], *optional["litellm"], *optional["lsp"]]
    assert {distribution(line) for line in declared} == imported()


def test_every_requirement_has_a_lower_bound() -> None:
    bare = [line for line in PROJECT["dependencies"] if ">=" not in line]
    assert not bare
