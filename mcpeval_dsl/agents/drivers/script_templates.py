"""Inside the script driver: `{{ … }}` in scripts, computed from prompt and results while a trial runs.

Jinja2 expressions in an immutable sandbox: names, attributes, indexes, comparisons, `+ - / // ~`, `if … else`, lists and
objects, the filters and helpers below. A text that is one template only gives the value itself, with its type.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.values.templates import escapes_kept

MAX_OUTPUT_CHARS = 1_000_000
FILTERS = (
    "abs", "default", "first", "float", "int", "join", "last", "length", "count", "list", "lower", "map", "max", "min",
    "reject", "rejectattr", "replace", "reverse", "round", "select", "selectattr", "sort", "string", "sum", "title",
    "tojson", "trim", "unique", "upper",
)  # fmt: skip
_NODES = (
    "Template", "Output", "TemplateData", "Name", "Getattr", "Getitem", "Slice", "Const", "List", "Tuple", "Dict", "Pair",
    "Filter", "Test", "Compare", "Operand", "And", "Or", "Not", "CondExpr", "Call", "Keyword", "Concat", "Add", "Sub",
    "Div", "FloorDiv", "Neg", "Pos",
)  # fmt: skip


class TemplateProblem(Exception):
    """A template that cannot be read or has no value; `reason` is for the script's author."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Expression:
    """One expression with its text; gives a value."""

    text: str
    evaluate: Callable[[Mapping[str, Any]], Any]


@dataclass(frozen=True, slots=True)
class Template:
    """A text. `whole` is set where it is a single `{{ … }}`; `render` where it is mixed; else it is literal."""

    text: str
    whole: Expression | None = None
    render: Callable[[Mapping[str, Any]], str] | None = None

    def value(self, names: Mapping[str, Any]) -> Any:
        """The value of a whole template, else the rendered text. Raises TemplateProblem."""
        if self.whole is not None:
            return self.whole.evaluate(names)
        return self.text if self.render is None else self.render(names)

    def string(self, names: Mapping[str, Any]) -> str:
        """The same as a text: JSON for what is no text."""
        value = self.value(names)
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def template(text: str) -> Template:
    """Reads a text of a script. Raises TemplateProblem where it is wrong, before anything runs."""
    if "{{" not in text and "{%" not in text and "{#" not in text:
        return Template(text)
    return _compiled(text)


@lru_cache(maxsize=4096)
def _compiled(text: str) -> Template:
    from jinja2 import TemplateError

    environment = _environment()
    try:
        with escapes_kept():
            tree = environment.parse(text)
        _check(tree)
        stripped = text.strip()
        pieces = tree.body[0].nodes if tree.body else []
        if len(tree.body) == 1 and len(pieces) == 1 and stripped.startswith("{{") and stripped.endswith("}}"):
            return Template(text, expression(stripped[2:-2].strip().strip("-").strip()))
        with escapes_kept():
            made = environment.from_string(text)
    except TemplateError as error:
        raise TemplateProblem(str(error)) from None
    return Template(text, None, lambda names: _rendered(made.render, text, names))


def expression(text: str) -> Expression:
    """Reads a bare expression (`when`, `while`), with or without braces around it. Raises TemplateProblem."""
    from jinja2 import TemplateError

    inner = text.strip()
    if inner.startswith("{{") and inner.endswith("}}"):
        inner = inner[2:-2].strip()
    environment = _environment()
    try:
        with escapes_kept():
            _check(environment.parse("{{ " + inner + " }}"))
            made = environment.compile_expression(inner, undefined_to_none=False)
    except TemplateError as error:
        raise TemplateProblem(str(error)) from None
    return Expression(text, lambda names: _evaluated(made, inner, names))


def _evaluated(made: Callable[..., Any], text: str, names: Mapping[str, Any]) -> Any:
    from jinja2 import TemplateError, Undefined

    try:
        value = made(**names)
        if isinstance(value, Undefined):
            value._fail_with_undefined_error()
        if not isinstance(value, (str, int, float, bool, list, Mapping, type(None))):
            value = list(value)
    except TemplateProblem:
        raise
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, RecursionError) as error:
        raise TemplateProblem(f"{{{{ {text} }}}}: {error}") from None
    if isinstance(value, str) and len(value) > MAX_OUTPUT_CHARS:
        raise TemplateProblem(f"{{{{ {text} }}}}: longer than {MAX_OUTPUT_CHARS} characters")
    return value


def _rendered(render: Callable[..., str], text: str, names: Mapping[str, Any]) -> str:
    from jinja2 import TemplateError

    try:
        made = render(**names)
    except TemplateProblem:
        raise
    except (TemplateError, TypeError, ValueError, ArithmeticError, LookupError, RecursionError) as error:
        raise TemplateProblem(f"{text[:80]!r}: {error}") from None
    if len(made) > MAX_OUTPUT_CHARS:
        raise TemplateProblem(f"{text[:80]!r}: longer than {MAX_OUTPUT_CHARS} characters")
    return made


def _check(tree: Any) -> None:
    """Only what the docstring of the module names; everything else is refused while reading."""
    from jinja2 import nodes

    for node in tree.find_all(nodes.Node):
        kind = type(node).__name__
        if kind not in _NODES:
            raise TemplateProblem(
                f"{kind.lower()} is not available in scripts; use {{{{ … }}}} with names, filters, helpers"
            )
        if isinstance(node, nodes.Filter) and node.name not in FILTERS:
            raise TemplateProblem(_unknown("filter", node.name or "", FILTERS))
        if isinstance(node, nodes.Call) and not (isinstance(node.node, nodes.Name) and node.node.name in HELPERS):
            name = node.node.name if isinstance(node.node, nodes.Name) else "that"
            raise TemplateProblem(_unknown("helper", name, tuple(HELPERS)))


def _unknown(noun: str, name: str, known: tuple[str, ...]) -> str:
    from mcpeval_dsl.diagnostics.suggestions import closest

    near = closest(name, known)
    return f"there is no {noun} {name!r}" + (f"; did you mean {near!r}?" if near else "")


@lru_cache(maxsize=1)
def _environment() -> Any:
    from jinja2 import StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    class ScriptEnvironment(ImmutableSandboxedEnvironment):
        """`a.items` is the member named items, never a method."""

        def getattr(self, obj: Any, attribute: str) -> Any:
            return self.getitem(obj, attribute)

        def getitem(self, obj: Any, argument: Any) -> Any:
            try:
                return obj[argument]
            except (LookupError, TypeError):
                return self.undefined(f"there is no {argument!r} in it", obj=obj, name=str(argument))

    environment = ScriptEnvironment(undefined=StrictUndefined, autoescape=False)
    environment.globals.clear()
    environment.globals.update(HELPERS)
    environment.filters = {name: environment.filters[name] for name in FILTERS}
    # The sandbox's own `tojson` escapes for HTML, which would change what a server is sent.
    environment.filters["tojson"] = lambda value: json.dumps(value, ensure_ascii=False)
    environment.filters |= _bounded(environment.filters["replace"], environment.filters["join"])
    return environment


def _bounded(replace: Callable[..., Any], join: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The two filters that multiply lengths: what would be too long is never built."""
    from jinja2 import pass_eval_context

    @pass_eval_context
    def replaced(context: Any, text: Any, old: Any, new: Any, count: int | None = None) -> Any:
        text = str(text)
        times = text.count(str(old)) if count is None or count < 0 else min(count, text.count(str(old)))
        _admit(len(text) + times * (len(str(new)) - len(str(old))))
        return replace(context, text, old, new, count)

    @pass_eval_context
    def joined(context: Any, values: Any, between: Any = "", attribute: Any = None) -> Any:
        values = list(values)
        _admit(len(values) * len(str(between)))
        return join(context, values, between, attribute)

    return {"replace": replaced, "join": joined}


def _admit(length: int) -> None:
    if length > MAX_OUTPUT_CHARS:
        raise TemplateProblem(f"a text of {length} characters, longer than {MAX_OUTPUT_CHARS}")


def _jsonpath(value: Any, path: str) -> Any:
    """Value of a singular JSONPath, list of all values of any other (RFC 9535)."""
    import jsonpath_rfc9535

    try:
        query = jsonpath_rfc9535.compile(path)
        found = query.find(value).values()
    except jsonpath_rfc9535.JSONPathError as error:
        raise TemplateProblem(f"jsonpath {path!r}: {error}") from None
    if not query.singular_query():
        return list(found)
    if not found:
        raise TemplateProblem(f"jsonpath {path!r} finds nothing")
    return found[0]


@lru_cache(maxsize=512)
def _pattern(pattern: str) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options=options)
    except re2.error as error:
        raise TemplateProblem(f"regex {pattern!r}: {error}") from None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _capture(value: Any, pattern: str) -> str:
    """First capture group (or whole match) of the first match."""
    found = _pattern(pattern).search(_text(value))
    if found is None:
        raise TemplateProblem(f"capture: {pattern!r} matches nowhere")
    return str(found.group(1) if found.re.groups else found.group(0))


def _captures(value: Any, pattern: str) -> list[str]:
    """The same of every match; empty where there is none."""
    return [m.group(1) if m.re.groups else m.group(0) for m in _pattern(pattern).finditer(_text(value))]


def _matches(value: Any, pattern: str) -> bool:
    return _pattern(pattern).search(_text(value)) is not None


def _parse_json(value: Any) -> Any:
    try:
        return json.loads(_text(value))
    except (ValueError, RecursionError) as error:
        raise TemplateProblem(f"json: {error}") from None


_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


def _number(value: Any) -> int | float:
    """The first number of a text, thousands separators dropped."""
    if isinstance(value, (int, float)):
        return value
    found = _NUMBER.search(_text(value))
    if found is None:
        raise TemplateProblem("number: no number in the text")
    digits = found.group(0).replace(",", "")
    return float(digits) if "." in digits else int(digits)


HELPERS: dict[str, Callable[..., Any]] = {
    "jsonpath": _jsonpath,
    "capture": _capture,
    "captures": _captures,
    "matches": _matches,
    "json": _parse_json,
    "number": _number,
}


def compile_tree(value: Any) -> Any:
    """Arguments or an answer with every text replaced by its Template. Raises TemplateProblem."""
    if isinstance(value, str):
        return template(value)
    if isinstance(value, list):
        return [compile_tree(item) for item in value]
    if isinstance(value, dict):
        return {key: compile_tree(item) for key, item in value.items()}
    return value


def fill_tree(value: Any, names: Mapping[str, Any]) -> Any:
    """The tree with every Template replaced by its value. Raises TemplateProblem."""
    if isinstance(value, Template):
        return value.value(names)
    if isinstance(value, list):
        return [fill_tree(item, names) for item in value]
    if isinstance(value, dict):
        return {key: fill_tree(item, names) for key, item in value.items()}
    return value
