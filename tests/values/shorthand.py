"""Expressions, conditions and call patterns in the short form that the case files use."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from mcpeval_dsl.semantics.expressions import (
    Access,
    AnyPattern,
    Apply,
    ArgumentPattern,
    Behaviour,
    CallPattern,
    Capture,
    Combined,
    Command,
    Condition,
    EffectPattern,
    Entry,
    Expression,
    FileText,
    FileTree,
    ListOf,
    Literal,
    ObjectOf,
    Pattern,
    Ref,
    Resource,
    Secret,
    Select,
    Sql,
    Subject,
    Template,
    ToolCall,
)


def cases(file: str, near: str) -> list[dict[str, Any]]:
    """Cases of `cases/FILE.yaml` beside the test module `near`."""
    text = (Path(near).parent / "cases" / f"{file}.yaml").read_text(encoding="utf-8")
    loaded: list[dict[str, Any]] = yaml.safe_load(text)
    return loaded


def name_of(case: dict[str, Any]) -> str:
    return str(case.get("name", case))


def expression(value: Any) -> Expression:
    """A plain value is a literal; an object with one of the keys below is what that key says."""
    if isinstance(value, dict):
        special = _special(value)
        if special is not None:
            return special
        return ObjectOf(tuple(Entry(key, expression(each)) for key, each in value.items()))
    if isinstance(value, list):
        return ListOf(tuple(expression(each) for each in value))
    return Literal(value)


def _special(value: dict[str, Any]) -> Expression | None:
    match value:
        case {"percent": number}:
            return Literal(number / 100, "percent")
        case {"ref": path}:
            return Ref(tuple(path) if isinstance(path, list) else tuple(path.split(".")))
        case {"template": text}:
            return Template(text, ())
        case {"secret": name}:
            return Secret(name)
        case {"regex": pattern, **rest}:
            return Pattern(pattern, rest.get("flags", ""))
        case {"path": path, **rest}:
            if path == "$" and "of" not in rest:
                return Subject()
            return Select(path, expression(rest["of"]) if "of" in rest else None)
        case {"capture": pattern, **rest}:
            of = expression(rest["of"]) if "of" in rest else None
            return Capture(pattern, rest.get("flags", ""), rest.get("every", False), of)
        case {"field": key, "of": of}:
            return Access(expression(of), expression(key))
        case {"apply": name, **rest}:
            return Apply(name, tuple(expression(each) for each in rest.get("to", [])))
        case _:
            return _source(value)


def _source(value: dict[str, Any]) -> Expression | None:
    match value:
        case {"tool": name, **rest}:
            server, _, tool = name.partition(".")
            arguments = tuple(Entry(key, expression(each)) for key, each in rest.get("arguments", {}).items())
            return ToolCall(server, tool, arguments)
        case {"sql": query, "on": database}:
            return Sql(expression(query), expression(database))
        case {"file": path}:
            return FileText(expression(path))
        case {"files": path}:
            return FileTree(expression(path))
        case {"command": argv}:
            return Command(tuple(expression(each) for each in argv))
        case {"resource": uri, **rest}:
            return Resource(expression(uri), rest.get("server"))
        case _:
            return None


def condition(parts: list[Any]) -> Condition:
    """`[left, operator, right]`, with `within` as a fourth."""
    within = expression(parts[3]) if len(parts) > 3 else None
    return Condition(expression(parts[0]), parts[1], expression(parts[2]), within)


def pattern(value: Any) -> AnyPattern:
    """`tool`, `server.tool`, `behaviour:x`, `effect:x`, `{call: tool, where: [[name, op, value]]}`, `{any: […]}` …"""
    if isinstance(value, str):
        if value.startswith("behaviour:"):
            return Behaviour(value.removeprefix("behaviour:"))  # type: ignore[arg-type]
        if value.startswith("effect:"):
            return EffectPattern(value.removeprefix("effect:"))
        return _call(value, [])
    if "call" in value:
        return _call(value["call"], value.get("where", []), value.get("from"))
    ((word, inside),) = ((key, each) for key, each in value.items() if key != "count")
    return Combined(word, tuple(pattern(each) for each in inside), value.get("count"))


def _call(name: str, where: list[list[Any]], source: Any = None) -> CallPattern:
    server, dot, tool = name.partition(".")
    arguments = tuple(ArgumentPattern(key, operator, expression(right)) for key, operator, right in where)
    return CallPattern(
        tool if dot else name,
        server if dot else None,
        arguments,
        None if source is None else expression(source),
    )
