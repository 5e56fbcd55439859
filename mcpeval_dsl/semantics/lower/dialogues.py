"""Semantics, lowering: `dialogue`, its scripted turns and its simulated user."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from mcpeval_dsl.semantics.dialogues import Dialogue, ScriptedTurn, SimulatedUser
from mcpeval_dsl.semantics.expressions import AnyPattern, CallPattern, Expression, Literal, Step
from mcpeval_dsl.semantics.graders import Grader
from mcpeval_dsl.semantics.lower.conditions import lower_condition
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.draft import Draft
from mcpeval_dsl.semantics.lower.grading import lower_grade
from mcpeval_dsl.semantics.lower.injections import state_condition
from mcpeval_dsl.semantics.lower.patterns import lower_groups
from mcpeval_dsl.semantics.lower.refusals import expected_refusal
from mcpeval_dsl.semantics.lower.steps import included, lower_steps
from mcpeval_dsl.semantics.lower.words import Words, only
from mcpeval_dsl.syntax.tree import Bound, Directive, Group, Number, Statement

Handler = Callable[[Draft, Directive, dict[str, Any]], None]


def dialogue(draft: Draft, line: Directive) -> None:
    """`dialogue { turn { … } … every turn { … } user simulated NAME { … } }`."""
    turns: list[ScriptedTurn] = []
    every: list[Grader] = []
    user: SimulatedUser | None = None
    for inner in _statements(line):
        with draft.ctx.statement(inner) as alive:
            if not alive or not isinstance(inner, Directive):
                continue
            match inner.name.text:
                case "turn":
                    turns.append(_turn(draft, inner))
                case "every":
                    every += _every(draft, inner)
                case "user":
                    user = _user(draft, inner)
    own = tuple(step for turn in turns for step in turn.reference)
    if own and "reference" not in draft.fields:
        draft.fields["reference"] = own
    draft.fields["dialogue"] = Dialogue(tuple(turns), tuple(every), user, line.span.location())


def _statements(line: Directive) -> tuple[Statement, ...]:
    return line.block.statements if line.block else ()


def _lines(draft: Draft, line: Directive, handlers: Mapping[str, Handler]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for statement in _statements(line):
        with draft.ctx.statement(statement) as alive:
            if alive and isinstance(statement, Bound):
                number = statement.comparison.right
                if not isinstance(number, Number):
                    raise Unlowerable(number.span, "a number of turns")
                fields["turns"] = int(number.value)
            elif alive and isinstance(statement, Directive):
                handler = handlers.get(statement.name.text)
                if handler is None:
                    raise Unlowerable(statement.name.span, f"a directive of `{line.name.text}`")
                handler(draft, statement, fields)
    return fields


def _turn(draft: Draft, line: Directive) -> ScriptedTurn:
    fields = _lines(draft, line, _TURN)
    expect: tuple[AnyPattern, ...] = fields.get("expect", ())
    graders = (*fields.pop("graders", ()), *expected_refusal(expect, draft.grading))
    fields.setdefault("user", Literal(""))
    return ScriptedTurn(graders=graders, at=line.span.location(), **fields)


def _every(draft: Draft, line: Directive) -> tuple[Grader, ...]:
    words = only(line)
    words.take("turn")
    words.end()
    return tuple(_lines(draft, line, {"grade": _grade}).get("graders", ()))


def _user(draft: Draft, line: Directive) -> SimulatedUser:
    words = only(line)
    model = ""
    if words.take("simulated"):
        name = words.name()
        draft.ctx.name(("model",), name)
        model = name.text
    words.end()
    fields = _lines(draft, line, _USER)
    fields.setdefault("goal", Literal(""))
    return SimulatedUser(model=model, at=line.span.location(), **fields)


# --- lines -----------------------------------------------------------------------------------------------------------


def _said(draft: Draft, line: Directive, fields: dict[str, Any]) -> None:
    words = only(line)
    fields[line.name.text] = included(draft.ctx, draft.scope, words)
    words.end()


def _listed(draft: Draft, line: Directive, fields: dict[str, Any]) -> None:
    found: list[Expression] = []
    for group in line.groups:
        words = Words.group(group)
        found.append(included(draft.ctx, draft.scope, words))
        words.end()
    fields[line.name.text] = (*fields.get(line.name.text, ()), *found)


def _patterns(draft: Draft, line: Directive, fields: dict[str, Any]) -> None:
    found = lower_groups(draft.ctx, draft.scope, line.groups)
    fields[line.name.text] = (*fields.get(line.name.text, ()), *found)


def _grade(draft: Draft, line: Directive, fields: dict[str, Any]) -> None:
    fields["graders"] = (*fields.get("graders", ()), lower_grade(draft.grading, line))


def _reference(draft: Draft, line: Directive, fields: dict[str, Any]) -> None:
    draft.grading.has_reference = True
    steps: tuple[Step, ...] = lower_steps(draft.ctx, draft.scope.child(), _statements(line))
    fields["reference"] = steps


def _tools(draft: Draft, line: Directive, fields: dict[str, Any]) -> None:
    for group in line.groups:
        for pattern in lower_groups(draft.ctx, draft.scope, (group,)):
            if _private(draft.ctx, pattern, group):
                fields["tools"] = (*fields.get("tools", ()), pattern)


def _private(ctx: Context, pattern: AnyPattern, group: Group) -> bool:
    """A user's own tools are those of a server that the agent never sees: else the user could do the agent's work."""
    server = pattern.server if isinstance(pattern, CallPattern) else None
    symbol = ctx.of("server").get(server or "")
    declared = symbol.statement if symbol is not None else None
    lines = _statements(declared) if isinstance(declared, Directive) else ()
    if any(isinstance(line, Directive) and line.name.text == "private" for line in lines):
        return True
    if not ctx.problems.earlier and not (server and symbol is None):
        ctx.problems.report(
            "MCPE331",
            group.span,
            "a simulated user has only tools of private servers",
            "What the user does must not do the agent's work, and the agent must not see the user's tools.",
            f"write `private` in `server {server}`" if server else "name the server: `tools SERVER.TOOL`",
        )
    return False


def _stop(draft: Draft, line: Directive, fields: dict[str, Any]) -> None:
    words = Words.of(line)
    if words.take("says"):
        said = [words.string().value, *(Words.group(group).string().value for group in line.groups[1:])]
        fields["stop_says"] = (*fields.get("stop_says", ()), *said)
        return
    words.take("when")
    if words.take("state"):
        condition = state_condition(draft.ctx, draft.grading.scope, words)
    else:
        condition = lower_condition(draft.ctx, draft.grading.scope, words.comparison())
        words.end()
    fields["stop_when"] = (*fields.get("stop_when", ()), condition)


_TURN: Mapping[str, Handler] = {
    "user": _said,
    "expect": _patterns,
    "show": _patterns,
    "grade": _grade,
    "reference": _reference,
}
_USER: Mapping[str, Handler] = {
    **dict.fromkeys(("persona", "goal", "rules"), _said),
    **dict.fromkeys(("knows", "unknown", "never"), _listed),
    "tools": _tools,
    "stop": _stop,
}
