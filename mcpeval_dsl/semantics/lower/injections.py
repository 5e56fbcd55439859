"""Semantics, lowering: `inject`, a text planted where the agent will read it."""

from __future__ import annotations

from typing import Any

from mcpeval_dsl.semantics.expressions import Condition, Literal
from mcpeval_dsl.semantics.injections import Inject
from mcpeval_dsl.semantics.lower.conditions import about, lower_condition
from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.semantics.lower.draft import Draft
from mcpeval_dsl.semantics.lower.patterns import lower_groups
from mcpeval_dsl.semantics.lower.steps import included
from mcpeval_dsl.semantics.lower.values import lower_pattern_text, lower_value
from mcpeval_dsl.semantics.lower.words import Words
from mcpeval_dsl.semantics.symbols import Scope
from mcpeval_dsl.syntax.tree import Comparison, Directive, Group


def inject(draft: Draft, line: Directive) -> None:
    """`inject PATTERN, … { … }`, `inject file PATH { … }`, `inject slot VALUE { … }`, `inject description PATTERN { … }`."""
    words = Words.of(line)
    place = words.take("file", "slot", "description") or "result"
    fields: dict[str, Any] = {"place": place, "text": Literal(""), "at": line.span.location()}
    if place in ("file", "slot"):
        fields["target"] = lower_value(draft.ctx, draft.scope, words.value())
        words.end()
    elif place == "description":
        first = Group(tuple(words.items[1:]), words.span)
        fields["patterns"] = lower_groups(draft.ctx, draft.scope, (first, *line.groups[1:]))
    else:
        fields["patterns"] = lower_groups(draft.ctx, draft.scope, line.groups)
    for inner in line.block.statements if line.block else ():
        with draft.ctx.statement(inner) as alive:
            if alive and isinstance(inner, Directive):
                _line(draft, inner, fields)
    draft.injections.append(Inject(**fields))


def _line(draft: Draft, line: Directive, fields: dict[str, Any]) -> None:
    words = Words.of(line)
    match line.name.text:
        case "text":
            fields["text"] = included(draft.ctx, draft.scope, words)
        case "into":
            fields["into"] = lower_value(draft.ctx, draft.scope, words.value())
        case "replace":
            fields["replace"] = lower_pattern_text(draft.ctx, draft.scope, words.value())
        case "at":
            fields["marker"] = words.string().value
        case "on" if words.take("call"):
            fields["nth"] = int(words.number().value)
        case "obeyed" if words.take("state"):
            condition = state_condition(draft.ctx, draft.grading.scope, words)
            fields["states"] = (*fields.get("states", ()), condition)
        case "obeyed":
            found = lower_groups(draft.ctx, draft.scope, line.groups)
            fields["obeyed"] = (*fields.get("obeyed", ()), *found)


def state_condition(ctx: Context, scope: Scope, words: Words) -> Condition:
    """`[SOURCE] COND` after the word `state`."""
    item = words.item()
    subject = None
    if not isinstance(item, Comparison):
        subject = about(lower_value(ctx, scope, item), None)
        item = words.comparison()
    condition = lower_condition(ctx, scope, item, subject)
    words.end()
    return condition
