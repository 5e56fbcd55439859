"""Values, texts with `{{ … }}`: rendered with the names in force, strictly, with a cap on their size.

Names with fields and indexes are read here; everything with a function goes through Jinja2's immutable sandbox,
restricted to names, fields, indexes and the functions of the language. Values are put in as text (`values.text`).
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, cast

from mcpeval_dsl.values.functions import FUNCTIONS, apply
from mcpeval_dsl.values.model import EvaluationError, NothingThere, Scope
from mcpeval_dsl.values.text import as_text

if TYPE_CHECKING:
    from jinja2.sandbox import ImmutableSandboxedEnvironment

MOST_CHARACTERS = 1024 * 1024
_SIMPLE = re.compile(
    r"\s*([A-Za-z_]\w*(?:-[A-Za-z]\w*)*)((?:\.[A-Za-z_]\w*(?:-[A-Za-z]\w*)*|\[-?\d+\]|\['[^'\\]*'\])*)\s*"
)
_STEP = re.compile(r"\.([A-Za-z_][\w-]*)|\[(-?\d+)\]|\['([^'\\]*)'\]")
_ALLOWED = frozenset(
    ("Template", "Output", "TemplateData", "Name", "Getattr", "Getitem", "Const", "Neg", "Filter", "Call", "Concat")
)


def render(text: str, scope: Scope) -> str:
    """The text with its templates rendered. Raises EvaluationError, NothingThere for a field or index that is not there."""
    if "{{" not in text and "{%" not in text and "{#" not in text:
        return text
    pieces = _pieces(text)
    if pieces is None:
        return _capped(_through_jinja(text, scope))
    return _capped("".join(piece if isinstance(piece, str) else as_text(resolve(piece, scope)) for piece in pieces))


def filled(text: str, scope: Scope) -> tuple[tuple[int, int, str], ...]:
    """Where the values of plain names stand in the rendered text, as (start, end, name); none where functions are used."""
    found: list[tuple[int, int, str]] = []
    position = 0
    for piece in _pieces(text) or ():
        shown = piece if isinstance(piece, str) else as_text(resolve(piece, scope))
        if not isinstance(piece, str) and shown:
            found.append((position, position + len(shown), _written(piece)))
        position += len(shown)
    return tuple(found)


def value(expression: str, scope: Scope) -> Any:
    """What stands between the braces, as a value and not as text."""
    match = _SIMPLE.fullmatch(expression)
    if match is not None:
        return resolve(_path(match), scope)
    caught: list[Any] = []
    compiled = _compiled("{{ __catch(" + expression + ") }}")
    _run(compiled, scope, catch=caught.append)
    return caught[0]


def resolve(path: tuple[str | int, ...], scope: Scope) -> Any:
    """A bound name with its fields and indexes. Raises EvaluationError for an unknown name, NothingThere inside it."""
    name = str(path[0])
    if name not in scope.names:
        raise EvaluationError(f"`{name}` has no value here")
    found = scope.names[name]
    for position, key in enumerate(path[1:], start=1):
        found = step(found, key, _written(path[: position + 1]))
    return found


def step(container: Any, key: str | int, written: str) -> Any:
    """One field or index. Raises NothingThere with `written` as the place."""
    if isinstance(container, Mapping):
        if str(key) in container:
            return container[str(key)]
        if isinstance(key, str) or not container:
            raise NothingThere(f"`{written}` is not there")
    if isinstance(container, list | tuple | str) and isinstance(key, int):
        if -len(container) <= key < len(container):
            return container[key]
        raise NothingThere(f"`{written}` is not there: it has {len(container)} items")
    raise NothingThere(f"`{written}` is not there")


def _written(path: tuple[str | int, ...]) -> str:
    parts = [str(path[0])]
    parts += [f"[{key}]" if isinstance(key, int) else f".{key}" for key in path[1:]]
    return "".join(parts)


@lru_cache(maxsize=2048)
def _pieces(text: str) -> tuple[str | tuple[str | int, ...], ...] | None:
    """The text in parts, templates as paths; None where one of them is more than a name with fields and indexes."""
    if "{%" in text or "{#" in text:
        return None
    parts: list[str | tuple[str | int, ...]] = []
    position = 0
    while (start := text.find("{{", position)) >= 0:
        match = _SIMPLE.match(text, start + 2)
        if match is None or not text.startswith("}}", match.end()):
            return None
        parts += [text[position:start], _path(match)]
        position = match.end() + 2
    return (*parts, text[position:])


def _path(match: re.Match[str]) -> tuple[str | int, ...]:
    steps = (
        field if field is not None and field else int(index) if index else quoted
        for field, index, quoted in _STEP.findall(match[2])
    )
    return (match[1], *steps)


def _capped(text: str) -> str:
    if len(text) > MOST_CHARACTERS:
        raise EvaluationError(f"the rendered text has {len(text)} characters; at most {MOST_CHARACTERS} are allowed")
    return text


# --- functions and everything else, through the sandbox --------------------------------------------------------------


@lru_cache(maxsize=1)
def _environment() -> ImmutableSandboxedEnvironment:
    from jinja2 import StrictUndefined, Undefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class Restricted(ImmutableSandboxedEnvironment):
        """Fields and indexes are members of JSON values, never attributes of Python objects."""

        def getattr(self, obj: Any, attribute: str) -> Any:
            return super().getattr(obj, attribute) if isinstance(obj, Undefined) else step(obj, attribute, attribute)

        def getitem(self, obj: Any, argument: Any) -> Any:
            undefined = isinstance(obj, Undefined) or isinstance(argument, Undefined)
            return super().getitem(obj, argument) if undefined else step(obj, argument, f"[{argument}]")

    environment = Restricted(
        undefined=StrictUndefined, finalize=as_text, autoescape=False, keep_trailing_newline=True, cache_size=0
    )
    environment.globals.clear()
    environment.filters.clear()
    environment.tests.clear()
    for name in FUNCTIONS:
        function = _function(name)
        environment.filters[name] = function
        environment.globals[name] = function
    return environment


def _function(name: str) -> Any:
    def call(*arguments: Any) -> Any:
        return apply(name, list(arguments))

    return call


@contextmanager
def escapes_kept() -> Iterator[None]:
    """A quoted regex in a template holds `\\S`: Jinja2 keeps it as it stands, and Python warns that it did."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "invalid escape sequence", DeprecationWarning)
        yield


@lru_cache(maxsize=1024)
def _compiled(text: str) -> Any:
    from jinja2 import TemplateError

    environment = _environment()
    try:
        with escapes_kept():
            tree = environment.parse(text)
        _admit(tree)
        return environment.from_string(tree)
    except (TemplateError, RecursionError) as problem:
        raise EvaluationError(f"the template cannot be read: {problem}") from None


def _admit(tree: Any) -> None:
    """Raises EvaluationError for anything but names, fields, indexes and functions."""
    todo: list[Any] = [tree]
    while todo:
        node = todo.pop()
        if type(node).__name__ not in _ALLOWED:
            raise EvaluationError("templates take names, fields, indexes and functions only")
        todo.extend(node.iter_child_nodes())


def _through_jinja(text: str, scope: Scope) -> str:
    return _run(_compiled(text), scope)


def _run(template: Any, scope: Scope, catch: Any = None) -> str:
    from jinja2 import TemplateError

    names = dict(scope.names)
    if catch is not None:
        names["__catch"] = lambda found: catch(found) or ""
    try:
        return cast(str, template.render(names))
    except TemplateError as problem:
        raise EvaluationError(f"the template has no value: {problem}") from None
