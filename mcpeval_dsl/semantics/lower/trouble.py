"""Semantics, lowering: constructs whose names are checked though `run` refuses them: dialogues."""

from __future__ import annotations

from mcpeval_dsl.semantics.lower.context import Unlowerable
from mcpeval_dsl.semantics.lower.draft import Draft
from mcpeval_dsl.semantics.lower.grading import lower_grade
from mcpeval_dsl.semantics.lower.injections import state_condition
from mcpeval_dsl.semantics.lower.patterns import lower_groups
from mcpeval_dsl.semantics.lower.steps import included, lower_steps
from mcpeval_dsl.semantics.lower.words import Words, only
from mcpeval_dsl.semantics.model import Unsupported
from mcpeval_dsl.syntax.tree import Directive, Statement


def refuse(draft: Draft, construct: str, line: Statement) -> None:
    draft.unsupported.append(Unsupported(construct, line.span.location()))


def _statements(line: Directive) -> tuple[Statement, ...]:
    return line.block.statements if line.block else ()


def dialogue(draft: Draft, line: Directive) -> None:
    """Turns or a simulated user: graders and patterns are bound in the task's scope."""
    refuse(draft, "dialogue", line)
    for inner in _statements(line):
        with draft.ctx.statement(inner) as alive:
            if not alive or not isinstance(inner, Directive):
                continue
            if inner.name.text in ("turn", "every"):
                for statement in _statements(inner):
                    with draft.ctx.statement(statement) as live:
                        if live and isinstance(statement, Directive):
                            _turn_line(draft, statement)
            elif inner.name.text == "user":
                _user(draft, inner)


def _turn_line(draft: Draft, line: Directive) -> None:
    match line.name.text:
        case "user":
            included(draft.ctx, draft.scope, only(line))
        case "expect" | "show":
            lower_groups(draft.ctx, draft.scope, line.groups)
        case "grade":
            lower_grade(draft.grading, line)
            draft.dialogue_graders += 1
        case "reference":
            lower_steps(draft.ctx, draft.scope.child(), _statements(line))
        case _:
            raise Unlowerable(line.name.span, "a directive of `turn`")


def _user(draft: Draft, line: Directive) -> None:
    words = only(line)
    if words.take("simulated"):
        draft.ctx.name(("model",), words.name())
    for inner in _statements(line):
        with draft.ctx.statement(inner) as alive:
            if alive and isinstance(inner, Directive):
                _user_line(draft, inner)


def _user_line(draft: Draft, line: Directive) -> None:
    match line.name.text:
        case "persona" | "goal" | "knows" | "unknown" | "rules" | "never":
            for group in line.groups:
                included(draft.ctx, draft.scope, Words.group(group))
        case "tools":
            lower_groups(draft.ctx, draft.scope, line.groups)
        case "stop":
            words = Words.of(line)
            if words.take("when") and words.take("state"):
                state_condition(draft.ctx, draft.grading.scope, words)
