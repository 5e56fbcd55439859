"""Grade, two states side by side: what is left out of both, and where they first differ."""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mcpeval_dsl.semantics.expressions import Expression, Select
from mcpeval_dsl.values import jsonpath, templates
from mcpeval_dsl.values.compare import ABSENT, Tolerance, equal
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import EvaluationError, Scope
from mcpeval_dsl.values.text import short


@dataclass(frozen=True, slots=True)
class Difference:
    """`at` is a place like `$.items[2].title`; a side that has nothing there says so."""

    at: str
    actual: str
    expected: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """JSONPaths into a value, and file patterns for trees of files."""

    paths: tuple[str, ...]
    globs: tuple[str, ...]


def left_out(expressions: tuple[Expression, ...], scope: Scope) -> LeftOut:
    """Sorts what a spec ignores or excepts into JSONPaths and file patterns; a list stands for its items."""
    paths: list[str] = []
    globs: list[str] = []
    for expression in expressions:
        if isinstance(expression, Select) and expression.of is None:
            paths.append(jsonpath.rendered(expression.path, lambda text: templates.value(text, scope)))
            continue
        value = evaluate(expression, scope)
        for item in value if isinstance(value, list) else [value]:
            if not isinstance(item, str):
                raise EvaluationError(f"what is left out is a JSONPath or a file pattern, not {short(item, 60)}")
            (paths if item.startswith("$") else globs).append(item)
    return LeftOut(tuple(paths), tuple(globs))


def without(value: Any, out: LeftOut) -> Any:
    """A copy without the parts that are left out."""
    for path in out.paths:
        value = _dropped(value, jsonpath.locations(path, value))
    if out.globs and isinstance(value, dict):
        patterns = [_glob(glob) for glob in out.globs]
        value = {key: each for key, each in value.items() if not any(p.fullmatch(key) for p in patterns)}
    return value


def _dropped(value: Any, places: list[tuple[str | int, ...]]) -> Any:
    if not places:
        return value
    if () in places:
        return None
    kept = copy.deepcopy(value)
    for place in sorted(places, key=_last_first, reverse=True):
        parent = kept
        try:
            for key in place[:-1]:
                parent = parent[key]
            del parent[place[-1]]
        except (KeyError, IndexError, TypeError):
            continue
    return kept


def _last_first(place: tuple[str | int, ...]) -> tuple[tuple[int, str, int], ...]:
    """Later list items before earlier ones, and inner places before outer ones."""
    return tuple((1, "", key) if isinstance(key, int) else (0, key, 0) for key in place)


def _glob(glob: str) -> re.Pattern[str]:
    """`**` crosses directories, `*` and `?` do not; a pattern without `/` is about the name in any directory (`./x` is not)."""
    parts: list[str] = [] if "/" in glob else [r"(?:.*/)?"]
    glob = glob.removeprefix("./")
    for piece in re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", glob):
        parts.append({"**/": r"(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(piece, re.escape(piece)))
    return re.compile("".join(parts), re.DOTALL)


def first_difference(
    actual: Any, expected: Any, tolerance: Tolerance | None = None, at: str = "$"
) -> Difference | None:
    """Where two values first differ, walking the expected one; None where they are equal."""
    if isinstance(actual, Mapping) and isinstance(expected, Mapping):
        for key in (*expected, *(key for key in actual if key not in expected)):
            place = f"{at}.{key}" if re.fullmatch(r"[A-Za-z_]\w*", str(key)) else f"{at}[{key!r}]"
            found = first_difference(actual.get(key, ABSENT), expected.get(key, ABSENT), tolerance, place)
            if found is not None:
                return found
        return None
    if isinstance(actual, list) and isinstance(expected, list):
        for index in range(max(len(actual), len(expected))):
            left = actual[index] if index < len(actual) else ABSENT
            right = expected[index] if index < len(expected) else ABSENT
            found = first_difference(left, right, tolerance, f"{at}[{index}]")
            if found is not None:
                return found
        return None
    if equal(actual, expected, tolerance):
        return None
    return Difference(at, _said(actual), _said(expected))


def _said(value: Any) -> str:
    return "nothing" if value is ABSENT else short(value)
