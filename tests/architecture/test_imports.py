"""What a command does not use it does not import: start-up stays short, and reading commands stay far from networks."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "mcpeval_dsl"
SPEC = "tracker/tracker.mcpe"

SDKS = {"mcp", "mcp_types", "anthropic", "litellm", "openai", "httpx2", "httpx", "anyio"}
HEAVY = {"asyncio", "jinja2", "jsonschema", "lark", "networkx", "numpy", "rich", "scipy", "sqlite3", "zstandard"}
PROCESSES = {"mcpeval_dsl.gateway", "mcpeval_dsl.execute", "mcpeval_dsl.grade", "mcpeval_dsl.score"}
UNUSED = {
    "lint": SDKS | HEAVY | PROCESSES | {"pydantic", "yaml", "socket", "mcpeval_dsl.plan", "mcpeval_dsl.report"},
    "fmt": SDKS | HEAVY | PROCESSES | {"pydantic", "yaml", "socket", "mcpeval_dsl.plan", "mcpeval_dsl.semantics"},
    "explain": SDKS | HEAVY | PROCESSES | {"pydantic", "yaml", "socket", "mcpeval_dsl.plan", "mcpeval_dsl.syntax"},
    "compile": SDKS | HEAVY | PROCESSES | {"yaml"},
    "graph": SDKS | HEAVY | PROCESSES | {"yaml"},
    "--help": SDKS | HEAVY | PROCESSES | {"pydantic", "yaml", "socket", "mcpeval_dsl.plan", "mcpeval_dsl.syntax"},
}
COMMANDS = {
    "lint": ["lint", SPEC],
    "fmt": ["fmt", "--check", SPEC],
    "explain": ["explain", "MCPE101"],
    "compile": ["compile", SPEC, "-o", "plan.json"],
    "graph": ["graph", SPEC],
    "--help": ["--help"],
}
# What a run may not pay for before it needs it: the clients of models, and what only a scorecard or a report uses.
ONLY_INSIDE_FUNCTIONS = {"anthropic", "litellm", "lark", "networkx", "scipy", "numpy", "duckdb", "jinja2", "jsonschema"}
HOMES = {
    "mcp": {"gateway"},
    "mcp_types": {"gateway"},
    "httpx2": {"gateway"},
    "anyio": {"gateway"},
    "anthropic": {"agents/drivers"},
    "litellm": {"agents/drivers"},
    "networkx": {"plan"},
    "scipy": {"statistics"},
    "numpy": {"statistics", "score"},
    "pygls": {"language_server"},
    "lsprotocol": {"language_server"},
    "typer": {"cli"},
    "zstandard": {"records", "execute"},
    "sqlite3": {"values", "execute", "records", "cli"},
}
PROBE = """
import sys
sys.path.insert(0, {root!r})
from mcpeval_dsl.cli.main import main
code = main({arguments!r})
print("\\nmodules", code, *sorted(sys.modules))
"""


def modules_after(arguments: list[str], folder: Path, *options: str) -> tuple[int, set[str]]:
    """Exit code and imported modules of one command in a process of its own."""
    code = PROBE.format(root=str(ROOT), arguments=arguments)
    command = [sys.executable, *options, "-c", code]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    last = done.stdout.rstrip().rsplit("\n", 1)[-1].split()
    return int(last[1]), set(last[2:])


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the demo suite."""
    shutil.copytree(ROOT / "specs" / "tracker", tmp_path / "tracker", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_imports_only_what_it_uses(name: str, project: Path) -> None:
    spec = project / SPEC
    live = re.sub(r'script +"[^"]*"', 'anthropic "claude-sonnet-4-5"', spec.read_text("utf-8"))
    spec.write_text(live, "utf-8")
    code, modules = modules_after(COMMANDS[name], project)
    assert code == 0
    assert not modules & UNUSED[name]


@pytest.mark.parametrize("name", ["lint", "compile"])
def test_reading_scripts_takes_yaml_and_templates_and_no_more(name: str, project: Path) -> None:
    code, modules = modules_after(COMMANDS[name], project)
    assert code == 0 and {"yaml", "jinja2"} <= modules
    assert not modules & (UNUSED[name] - {"yaml", "jinja2"})


def test_the_version_needs_neither_packages_nor_a_command_line_library(tmp_path: Path) -> None:
    code, modules = modules_after(["--version"], tmp_path, "-I", "-S")
    assert code == 0
    assert {name for name in modules if name.startswith("mcpeval_dsl.")} == {
        "mcpeval_dsl.cli",
        "mcpeval_dsl.cli.main",
        "mcpeval_dsl.cli.exits",
    }
    assert not modules & {"typer", "json", "re", "typing", "dataclasses", "pathlib", "argparse", "importlib.metadata"}


def packages(nodes: list[ast.stmt]) -> set[tuple[str, int]]:
    found = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {(alias.name.split(".")[0], node.lineno) for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add((node.module.split(".")[0], node.lineno))
    return found


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_packages_stay_in_their_place(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    where = path.relative_to(PACKAGE).as_posix()
    for package, line in packages([node for node in ast.walk(tree) if isinstance(node, ast.stmt)]):
        homes = HOMES.get(package)
        assert homes is None or any(where.startswith(f"{home}/") for home in homes), f"{path}:{line} imports {package}"
    for package, line in packages(tree.body):
        if package == "numpy" and where.startswith("score/"):
            continue  # the table of trials is made of arrays; what a run needs of `score` is tested below
        assert package not in ONLY_INSIDE_FUNCTIONS, f"{path}:{line} imports {package} before it is used"


def test_trials_are_run_and_settled_without_what_only_a_scorecard_uses(tmp_path: Path) -> None:
    probe = (
        "import sys, mcpeval_dsl.cli.running, mcpeval_dsl.execute.trial, mcpeval_dsl.score.settle; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", probe], cwd=ROOT, capture_output=True, text=True, check=True)
    assert not set(done.stdout.split()) & {"numpy", "scipy", "jinja2", "rich"}
