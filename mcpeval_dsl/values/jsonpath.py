"""Values, paths: JSONPath (RFC 9535) over a JSON value. A singular path gives a value, any other a list."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import lru_cache
from itertools import islice
from typing import Any

from mcpeval_dsl.values.model import EvaluationError, NothingThere

MOST_NODES = 100_000
_Rendered = Callable[[str], Any]


@lru_cache(maxsize=2048)
def query(path: str) -> Any:
    """The compiled query. Raises EvaluationError for a path that is none."""
    import jsonpath_rfc9535

    try:
        return jsonpath_rfc9535.compile(path)
    except RecursionError:
        raise EvaluationError("a JSONPath is nested too deeply") from None
    except jsonpath_rfc9535.JSONPathError as problem:
        raise EvaluationError(f"`{path}` is no JSONPath: {problem.args[0] if problem.args else problem}") from None


def select(path: str, value: Any) -> Any:
    """What the path selects. Raises NothingThere where a singular path selects nothing."""
    compiled = query(path)
    import jsonpath_rfc9535

    try:
        found = [node.value for node in islice(compiled.finditer(value), MOST_NODES + 1)]
    except (jsonpath_rfc9535.JSONPathError, RecursionError) as problem:
        raise EvaluationError(f"`{path}` cannot be applied: {problem}") from None
    if len(found) > MOST_NODES:
        raise EvaluationError(f"`{path}` selects more than {MOST_NODES} values")
    if not compiled.singular_query():
        return found
    if not found:
        raise NothingThere(f"nothing at `{path}`")
    return found[0]


def locations(path: str, value: Any) -> list[tuple[str | int, ...]]:
    """Where the path's values are, each as its keys and indexes from the root."""
    return [tuple(node.location) for node in islice(query(path).finditer(value), MOST_NODES)]


def rendered(path: str, value_of: _Rendered) -> str:
    """The path with each `{{ … }}` put in as a JSON literal; `value_of` evaluates the text between the braces."""
    if "{{" not in path:
        return path
    parts: list[str] = []
    position = 0
    while (start := path.find("{{", position)) >= 0:
        end = path.find("}}", start)
        if end < 0:
            raise EvaluationError(f"`{path}` opens a template with {{{{ and does not close it")
        parts += [path[position:start], json.dumps(value_of(path[start + 2 : end].strip()))]
        position = end + 2
    return "".join([*parts, path[position:]])
