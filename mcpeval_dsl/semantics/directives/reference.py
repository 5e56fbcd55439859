"""Semantics, the table: the pages of the reference manual, written from the table and nothing else.

`docs/reference/generate.py` writes them to disk; a test holds them up to date.
"""

from __future__ import annotations

from collections.abc import Iterator

from mcpeval_dsl.semantics.directives import BLOCKS, BlockKind, Directive, block_kind, directives_in
from mcpeval_dsl.semantics.directives.blocks import GRADERS
from mcpeval_dsl.semantics.directives.functions import FUNCTIONS, Function, Parameter
from mcpeval_dsl.semantics.directives.metrics import METRICS, SEGMENTS
from mcpeval_dsl.semantics.directives.operands import Grader
from mcpeval_dsl.semantics.directives.patterns import BEHAVIOURS, COMBINATORS, EFFECT_CLASSES
from mcpeval_dsl.semantics.directives.variables import ERROR_CLASSES, VARIABLES
from mcpeval_dsl.semantics.directives.wording import listed, signature

_GENERATED = "<!-- Written from the table of directives by docs/reference/generate.py; edits here are lost. -->"
_RUN = {
    "later": "`mcpe run` refuses it for now, at its place in the spec.",
}


def pages() -> dict[str, str]:
    """All pages by file name."""
    found = {f"{kind.name}.md": _page(_block(kind)) for kind in BLOCKS}
    found["functions.md"] = _page(_functions())
    found["patterns.md"] = _page(_patterns())
    found["metrics.md"] = _page(_metrics())
    found["variables.md"] = _page(_variables())
    found["README.md"] = _page(_index())
    return found


def _page(lines: Iterator[str]) -> str:
    return "\n".join([_GENERATED, *lines]).rstrip("\n") + "\n"


def _heading(kind: BlockKind) -> str:
    return kind.title[0].upper() + kind.title[1:]


def _block(kind: BlockKind) -> Iterator[str]:
    yield f"# {_heading(kind)}"
    yield ""
    yield kind.doc
    yield ""
    yield from _rules(kind)
    words = directives_in(kind.name)
    if not words:
        return
    yield "| word | operands | repeated |"
    yield "| --- | --- | --- |"
    for entry in words.values():
        repeated = "adds up" if entry.repeat == "add" else "once"
        yield f"| [`{entry.name}`](#{entry.name}) | {_cell(_usage(entry, kind.name, short=True))} | {repeated} |"
    yield ""
    for entry in words.values():
        yield from _entry(entry, kind.name)


def _rules(kind: BlockKind) -> Iterator[str]:
    rules: list[str] = []
    if kind.opened_by:
        opening = f"`{kind.opened_by}" + " { … }`"
        rules.append(f"Written as {opening}.")
    for requirement in kind.requires:
        words = listed(requirement.names)
        if requirement.least and requirement.most == 1:
            rules.append(f"It has exactly one of {words}." if len(requirement.names) > 1 else f"It has one {words}.")
        elif requirement.least:
            rules.append(f"It needs {words}.")
        else:
            rules.append(f"It has at most one of {words}.")
    if kind.bindings:
        rules.append(f"`name = value` binds {kind.bindings}.")
    if kind.calls:
        rules.append("A bare call, `server.tool(argument: value)`, is a step.")
    for rule in rules:
        yield f"- {rule}"
    if rules:
        yield ""


def _usage(entry: Directive, parent: str, *, short: bool = False) -> str:
    operands = signature(entry.operands)
    word = "" if short else entry.name
    block = ""
    if entry.block is not None:
        block = "{ … }" if entry.block.required else "[{ … }]"
    return " ".join(part for part in (word, operands, block) if part)


def _cell(text: str) -> str:
    return f"`{text}`".replace("|", "\\|") if text else ""


def _entry(entry: Directive, parent: str) -> Iterator[str]:
    yield f"## {entry.name}"
    yield ""
    yield f"`{_usage(entry, parent)}`"
    yield ""
    yield entry.doc
    if entry.default:
        yield f"Default: {entry.default}."
    if entry.run != "yes":
        yield _RUN[entry.run]
    yield ""
    yield "```mcpe"
    yield entry.example
    yield "```"
    if isinstance(entry.operands, Grader):
        yield ""
        yield f"The graders: {', '.join(f'[`{name}`](grade_any.md#{name})' for name in GRADERS)}."
    if entry.block is not None:
        kind = block_kind(entry.block.kind)
        yield ""
        yield f"Its block: [{kind.title}]({kind.name}.md)."
    yield ""


def _parameter(parameter: Parameter) -> str:
    text = f"{parameter.name}: {parameter.kind}" if parameter.named else parameter.name
    if parameter.rest:
        text += ", …"
    return f"[{text}]" if parameter.optional else text


def _call(function: Function) -> str:
    return f"{function.name}({', '.join(map(_parameter, function.parameters))})"


def _functions() -> Iterator[str]:
    yield "# Functions"
    yield ""
    yield "One list for values and for templates: `first(x)` in a value is `{{ x | first }}` in a text."
    for title, chosen in (
        ("In values and templates", [f for f in FUNCTIONS.values() if f.where == "anywhere"]),
        ("In values only", [f for f in FUNCTIONS.values() if f.where != "anywhere" and not f.reads]),
        ("Sources", [f for f in FUNCTIONS.values() if f.reads]),
    ):
        yield ""
        yield f"## {title}"
        yield ""
        yield "| function | gives | what it does | example |"
        yield "| --- | --- | --- | --- |"
        for function in chosen:
            yield f"| `{_call(function)}` | {function.result} | {function.doc} | {_cell(function.example)} |"


def _patterns() -> Iterator[str]:
    yield "# Call patterns"
    yield ""
    yield "A tool, `server.tool`, a glob such as `list_*`, or one of these with arguments: `name: value` for equal ones, `name"
    yield "OPERATOR value` for conditions. `expect`, `grade calls`, `may`, `never`, annotations, `fault`, `inject` and `undo`"
    yield "share this one language."
    yield ""
    yield "| combinator | meaning | example |"
    yield "| --- | --- | --- |"
    for combinator in COMBINATORS.values():
        head = "n, pattern, …" if combinator.counted else ("pattern" if combinator.most == 1 else "pattern, …")
        yield f"| `{combinator.name}({head})` | {combinator.doc} | `{combinator.example}` |"
    yield ""
    yield "| behaviour | meaning |"
    yield "| --- | --- |"
    for behaviour in BEHAVIOURS.values():
        yield f"| `{behaviour.name}` | {behaviour.doc} |"
    yield ""
    yield "| effect class | meaning |"
    yield "| --- | --- |"
    for name, doc in EFFECT_CLASSES.items():
        yield f"| `{name}` | {doc} |"


def _metrics() -> Iterator[str]:
    yield "# Metrics of a gate"
    yield ""
    yield "`require METRIC OPERATOR QUANTITY` is about the estimate; `.low` and `.high` are the bounds of its interval."
    yield ""
    yield "| metric | unit | interval | meaning |"
    yield "| --- | --- | --- | --- |"
    for metric in METRICS.values():
        call = f", `{metric.name}({', '.join(metric.arguments)})`" if metric.arguments else ""
        yield f"| `{metric.name}`{call} | {metric.unit} | {'yes' if metric.bounds else 'no'} | {metric.doc} |"
    yield ""
    yield f"`where` selects by {listed(SEGMENTS)}, or by a free axis of the matrix."


def _variables() -> Iterator[str]:
    yield "# Names that are there"
    yield ""
    yield "| name | where | meaning |"
    yield "| --- | --- | --- |"
    for variable in VARIABLES:
        where = ", ".join(block_kind(b).title for b in variable.blocks) or "everywhere"
        members = f" Members: {', '.join(f'`.{m}`' for m in variable.members)}." if variable.members else ""
        yield f"| `{variable.name}` | {where} | {variable.doc}{members} |"
    yield ""
    yield f"`class` is compared with {listed(ERROR_CLASSES)}."


def _index() -> Iterator[str]:
    yield "# Reference"
    yield ""
    yield "Every word of the language, by the block it stands in."
    yield ""
    yield "| block | what it says |"
    yield "| --- | --- |"
    for kind in BLOCKS:
        yield f"| [{_heading(kind)}]({kind.name}.md) | {kind.doc} |"
    yield ""
    yield "Beside the blocks: [functions](functions.md), [call patterns](patterns.md), [metrics](metrics.md) and"
    yield "[names that are there](variables.md). What findings mean: [codes](codes/README.md)."
