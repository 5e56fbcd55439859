"""Semantics, lowering: `fault` and `distract` of a task."""

from __future__ import annotations

from typing import cast

from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.directives.blocks import FAULTS
from mcpeval_dsl.semantics.disturbances import CatalogueTools, Fault, LookAlikes, Trouble
from mcpeval_dsl.semantics.expressions import CallPattern, Literal
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.draft import Draft
from mcpeval_dsl.semantics.lower.patterns import lower_groups, lower_pattern
from mcpeval_dsl.semantics.lower.values import lower_value
from mcpeval_dsl.semantics.lower.words import Words, only
from mcpeval_dsl.semantics.tool_lists import SHIPPED, ToolList, read_tool_list
from mcpeval_dsl.syntax.tree import Directive, Number, String


def fault(draft: Draft, line: Directive) -> None:
    """`fault PATTERN, … { on call N; probability P; WHAT }`."""
    fields: dict[str, object] = {}
    for inner in line.block.statements if line.block else ():
        with draft.ctx.statement(inner) as alive:
            if alive and isinstance(inner, Directive):
                _fault_line(draft, inner, fields)
    patterns = lower_groups(draft.ctx, draft.scope, line.groups)
    wait = fields.pop("retry_after", None)
    if wait is not None and fields.get("what") != "http":
        raise Unlowerable(line.span, "`retry_after` goes with `http`")
    if wait is not None:
        fields["seconds"] = wait
    if "what" in fields:
        draft.faults.append(Fault(patterns=patterns, at=line.span.location(), **fields))  # type: ignore[arg-type]


def _fault_line(draft: Draft, line: Directive, fields: dict[str, object]) -> None:
    words, name = only(line), line.name.text
    match name:
        case "on":
            words.take("call")
            fields["nth"] = int(words.number().value)
        case "probability":
            fields["probability"] = float(words.number().value)
        case "retry_after":
            fields["retry_after"] = float(words.number().value)
        case _ if name in FAULTS:
            fields["what"] = cast(Trouble, name)
            _what(draft, line, words, fields)
        case _:
            raise Unlowerable(line.name.span, "a directive of a fault")
    words.end()


def _what(draft: Draft, line: Directive, words: Words, fields: dict[str, object]) -> None:
    match line.name.text:
        case "error":
            fields["text"] = lower_value(draft.ctx, draft.scope, words.value("the text of the error"))
            fields["as_success"] = bool(line.block and line.block.statements)
        case "protocol_error":
            fields["code"] = int(words.number().value)
            if words:
                fields["text"] = lower_value(draft.ctx, draft.scope, words.value("the message"))
        case "http":
            fields["code"] = int(words.number().value)
        case "slow":
            fields["seconds"] = float(words.number().value)


def distract(draft: Draft, line: Directive) -> None:
    """`distract { catalog "…" count N; near TOOL count N }`."""
    for inner in line.block.statements if line.block else ():
        with draft.ctx.statement(inner) as alive:
            if not alive or not isinstance(inner, Directive):
                continue
            words = only(inner)
            if inner.name.text == "catalog":
                _catalog(draft, inner, words)
            else:
                pattern = lower_pattern(draft.ctx, draft.scope, words.item("a tool"))
                if not isinstance(pattern, CallPattern):
                    raise Unlowerable(words.span, "a tool or a glob")
                draft.distract.append(LookAlikes(pattern, _count(words), inner.span.location()))


def _catalog(draft: Draft, line: Directive, words: Words) -> None:
    text = words.string("a catalogue")
    count = _count(words)
    at = line.span.location()
    if text.value in SHIPPED:
        _enough(draft.ctx, text, count, SHIPPED[text.value])
        draft.distract.append(CatalogueTools(Literal(text.value), count, True, at))
        return
    listed = _listed(draft.ctx, text)
    if listed is None:
        return
    _enough(draft.ctx, text, count, len(listed.entries))
    path = draft.ctx.fixture(text.span.file, text.value, text.span)
    draft.distract.append(CatalogueTools(Literal(path), count, False, at))


def _count(words: Words) -> int:
    words.take("count")
    number: Number = words.number("how many")
    words.end()
    return int(number.value)


def _listed(ctx: Context, text: String) -> ToolList | None:
    """What the file lists; None, with a report, where that is not known."""
    nearest = closest(text.value, SHIPPED)
    if nearest is not None and "/" not in text.value and "." not in text.value:
        ctx.problems.report(
            "MCPE275",
            text.span,
            f"there is no catalogue `{text.value}`",
            "A catalogue is a file beside the spec, or one of " + ", ".join(f"`{name}`" for name in SHIPPED) + ".",
            f"did you mean `{nearest}`?",
        )
        return None
    file = ctx.read_text(text.span.file, text.value, text.span)
    if file is None:
        return None
    listed = read_tool_list(file.text)
    if listed.problem:
        ctx.problems.report(
            "MCPE275",
            text.span,
            f"`{text.value}` is no list of tools: {listed.problem}",
            "A catalogue is JSON with `tools` as a server lists them, or a lock file.",
            "see the page `distract` in docs/reference",
        )
        return None
    return listed


def _enough(ctx: Context, text: String, count: int, there: int) -> None:
    if count > there:
        ctx.problems.report(
            "MCPE276",
            text.span,
            f"`{text.value}` has {there} tools, and {count} are asked for",
            "Distractors of a catalogue are different tools, none of them twice.",
            f"write `count {there}`, and add `near TOOL count {count - there}` for more",
        )
