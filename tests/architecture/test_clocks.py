"""No test measures the clock: a busy machine exceeds any limit, and what was looked for is seldom the reason.

What must come at once is asked of something that a test never lasts as long as; work is counted, or measured as CPU time.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
CLOCKS = {"monotonic", "monotonic_ns", "perf_counter", "perf_counter_ns"}


def asks_the_clock(node: ast.AST) -> bool:
    calls = (found.func for found in ast.walk(node) if isinstance(found, ast.Call))
    return any(getattr(called, "attr", getattr(called, "id", "")) in CLOCKS for called in calls)


def measured(tree: ast.AST) -> Iterator[int]:
    """Lines of assertions about the clock, or about what was computed from it in the same function."""
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    for function in functions:
        nodes = list(ast.walk(function))
        taken = {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign) and asks_the_clock(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            if isinstance(node, ast.Assert):
                names = {found.id for found in ast.walk(node.test) if isinstance(found, ast.Name)}
                if asks_the_clock(node.test) or names & taken:
                    yield node.lineno


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("    began = time.monotonic()\n    work()\n    assert time.monotonic() - began < 5", True),
        ("    took = perf_counter() - began\n    assert took < 5", True),
        (
            "    until = time.monotonic() + 60\n    while time.monotonic() < until:\n        work()\n    assert done",
            False,
        ),
        ("    began = time.process_time()\n    assert time.process_time() - began < 5", False),
    ],
    ids=["difference", "named", "deadline", "work"],
)
def test_what_counts_as_measuring(body: str, found: bool) -> None:
    assert bool(list(measured(ast.parse(f"def test() -> None:\n{body}\n")))) == found


def test_no_test_measures_the_clock() -> None:
    texts = ((path, path.read_text(encoding="utf-8")) for path in sorted(TESTS.rglob("test_*.py")))
    suspects = ((path, text) for path, text in texts if any(clock in text for clock in CLOCKS))
    assert [f"{path.relative_to(TESTS)}:{line}" for path, text in suspects for line in measured(ast.parse(text))] == []
