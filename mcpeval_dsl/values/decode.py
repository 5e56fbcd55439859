"""Values, first step after reading: a text as JSON, Python's repr, YAML or lines; capped, and without running anything."""

from __future__ import annotations

import ast
import datetime
from typing import Any, Literal

from mcpeval_dsl.values.model import EvaluationError
from mcpeval_dsl.values.nesting import MOST_BITS, MOST_LEVELS, json_within

Form = Literal["json", "text", "python", "yaml", "lines"]
MOST_CHARACTERS = 32 * 1024 * 1024
MOST_PYTHON = 2 * 1024 * 1024
MOST_DEPTH = MOST_LEVELS


def decoded(text: str, form: Form) -> Any:
    """The text read as `form` says. Raises EvaluationError with what is wrong with it."""
    limit = MOST_PYTHON if form in ("python", "yaml") else MOST_CHARACTERS
    if len(text) > limit:
        raise EvaluationError(f"the text has {len(text)} characters; at most {limit} are read as {form}")
    if form == "json":
        return json_value(text)
    if form == "python":
        return python_value(text)
    if form == "yaml":
        return yaml_value(text)
    return text.splitlines() if form == "lines" else text


def json_value(text: str) -> Any:
    try:
        return json_within(text, parse_constant=_no_constant)
    except ValueError as problem:
        raise EvaluationError(f"the text is no JSON: {_said(problem)}") from None


def json_container(text: str) -> Any:
    """The object or list a text is as JSON; None for any other text (numbers and quoted texts stay texts)."""
    if len(text) > MOST_CHARACTERS or text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json_within(text, parse_constant=_no_constant)
    except ValueError:
        return None


def python_value(text: str) -> Any:
    """A literal as Python prints it: tuples and sets become lists, bytes text; dates and decimals their own text."""
    try:
        tree = ast.parse(text.strip(), mode="eval")
        return _plain(_literal(tree.body, MOST_DEPTH))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as problem:
        raise EvaluationError(f"the text is no Python literal: {_said(problem)}") from None


def _literal(node: ast.expr, depth: int) -> Any:
    if depth == 0:
        raise ValueError("nested too deeply")
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return [_literal(item, depth - 1) for item in node.elts]
    if isinstance(node, ast.Dict):
        if any(key is None for key in node.keys):
            raise ValueError("`**` is no literal")
        pairs = zip((key for key in node.keys if key is not None), node.values, strict=True)
        return {_literal(key, depth - 1): _literal(value, depth - 1) for key, value in pairs}
    if isinstance(node, ast.Call):
        return _constructed(node)
    return ast.literal_eval(node)


def _constructed(node: ast.Call) -> Any:
    """`Decimal('1.50')`, `datetime.date(2026, 3, 1)` and their like, which database servers print."""
    name = ast.unparse(node.func).rpartition(".")[2]
    values = [ast.literal_eval(argument) for argument in node.args]
    if node.keywords and name != "datetime":
        raise ValueError(f"`{name}` is no literal")
    if name in ("Decimal", "UUID") and len(values) == 1 and isinstance(values[0], str):
        return values[0]
    if name in ("date", "datetime", "time") and all(isinstance(value, int) for value in values):
        made: datetime.date | datetime.time = getattr(datetime, name)(*values)
        return made.isoformat()
    raise ValueError(f"`{name}` is no literal")


def yaml_value(text: str) -> Any:
    """One YAML document with plain data. Aliases are refused: a few bytes of them can stand for gigabytes."""
    import yaml

    try:
        for event in yaml.parse(text, Loader=yaml.SafeLoader):
            if isinstance(event, yaml.AliasEvent):
                raise EvaluationError("the YAML uses an alias (`*name`), which is not read")
        return _plain(yaml.safe_load(text))
    except (yaml.YAMLError, RecursionError, ValueError) as problem:
        raise EvaluationError(f"the text is no YAML: {_said(problem)}") from None


def _plain(value: Any, depth: int = MOST_DEPTH) -> Any:
    """Only what JSON has. Raises ValueError for what has no JSON form."""
    if depth == 0:
        raise ValueError("nested too deeply")
    if isinstance(value, int) and value.bit_length() > MOST_BITS:
        raise ValueError("a number has too many digits")
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, dict):
        return {key if isinstance(key, str) else str(key): _plain(each, depth - 1) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each, depth - 1) for each in value]
    if isinstance(value, set | frozenset):
        return [_plain(each, depth - 1) for each in sorted(value, key=str)]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    raise ValueError(f"{type(value).__name__} has no JSON form")


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _said(problem: BaseException) -> str:
    text = str(problem).splitlines()
    return text[0] if text else type(problem).__name__
