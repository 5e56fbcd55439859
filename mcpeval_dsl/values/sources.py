"""Values, what has to be read: the sources inside expressions and graders, each under a stable key.

The key is a digest of the kind of source and its evaluated arguments, never of a secret's value or of the place in the text, so
that what `execute` read can be found again when a trial is graded later.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mcpeval_dsl.semantics.expressions import (
    Access,
    Apply,
    Capture,
    Command,
    Condition,
    Entry,
    Expression,
    FileText,
    FileTree,
    Http,
    ListOf,
    ObjectOf,
    Resource,
    Select,
    Source,
    Sql,
    ToolCall,
)
from mcpeval_dsl.semantics.graders import AnyOf, Grader, Json, SameState, State, Unchanged
from mcpeval_dsl.values.evaluate import SOURCES, evaluate
from mcpeval_dsl.values.model import Scope

BEFORE = "before:"
REFERENCE = "reference:"


def turn_prefix(number: int) -> str:
    """Before the key of what was read when the `number`th turn of a dialogue had ended."""
    return f"turn:{number}:"


class _Hidden(Mapping[str, str]):
    """Every secret by a stand-in that names it."""

    def __getitem__(self, name: str) -> str:
        return f"secret:{name}"

    def __contains__(self, name: object) -> bool:
        return True

    def __iter__(self) -> Any:
        return iter(())

    def __len__(self) -> int:
        return 0


def source_key(source: Source, scope: Scope) -> str:
    """64 hexadecimal digits. Raises EvaluationError where an argument has no value in this scope."""
    hidden = replace(scope, secrets=_Hidden())
    text = json.dumps(
        _described(source, hidden), sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str
    )
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _described(source: Source, scope: Scope) -> list[Any]:
    match source:
        case ToolCall():
            return [source.kind, source.server, source.tool, arguments_of(source.arguments, scope), source.session]
        case Sql():
            return [source.kind, evaluate(source.query, scope), evaluate(source.on, scope)]
        case FileText() | FileTree():
            return [source.kind, evaluate(source.path, scope)]
        case Command():
            return [source.kind, argv_of(source.argv, scope)]
        case Http():
            parts = (source.method, source.url, source.body, source.auth)
            return [
                source.kind,
                *(None if part is None else evaluate(part, scope) for part in parts),
                arguments_of(source.headers, scope),
            ]
        case Resource():
            return [source.kind, source.server, evaluate(source.uri, scope)]


def arguments_of(entries: tuple[Entry, ...], scope: Scope) -> dict[str, Any]:
    """Evaluated arguments of a tool call by name; one whose value is `absent()` is left out."""
    from mcpeval_dsl.values.compare import ABSENT

    evaluated = ((entry.key, evaluate(entry.value, scope)) for entry in entries)
    return {key: value for key, value in evaluated if value is not ABSENT}


def argv_of(parts: tuple[Expression, ...], scope: Scope) -> list[str]:
    """A command line as texts; a list among the parts stands for its items."""
    from mcpeval_dsl.values.text import as_text

    found: list[str] = []
    for part in parts:
        value = evaluate(part, scope)
        found += [as_text(item) for item in value] if isinstance(value, list) else [as_text(value)]
    return found


def sources_in(expression: Expression | Condition) -> tuple[Source, ...]:
    """The outermost sources inside an expression or a condition, in order of the text."""
    found: list[Source] = []
    todo: list[Expression | Condition] = [expression]
    while todo:
        node = todo.pop()
        if isinstance(node, SOURCES):
            found.append(node)
        else:
            todo.extend(reversed(_inside(node)))
    return tuple(found)


def _inside(node: Expression | Condition) -> list[Expression]:
    match node:
        case Condition():
            return [part for part in (node.left, node.right, node.within) if part is not None]
        case Select() | Capture():
            return [] if node.of is None else [node.of]
        case Access():
            return [node.of, node.key]
        case Apply():
            return list(node.arguments)
        case ListOf():
            return list(node.items)
        case ObjectOf():
            return [entry.value for entry in node.entries]
        case _:
            return []


def sources_of(grader: Grader) -> tuple[Source, ...]:
    """What has to be read at the end of the trial so that this grader can decide.

    `unchanged` needs its source before the agent too (`BEFORE`), `same_state` its views after the reference (`REFERENCE`).
    """
    match grader:
        case State() | Json():
            return sources_in(grader.condition)
        case SameState():
            return grader.views
        case Unchanged():
            return (grader.source,)
        case AnyOf():
            return tuple(source for inner in grader.graders for source in sources_of(inner))
        case _:
            return tuple(source for part in _expressions(grader) for source in sources_in(part))


def _expressions(grader: Grader) -> tuple[Expression, ...]:
    expected = getattr(grader, "expected", ())
    return expected if isinstance(expected, tuple) else (expected,)
