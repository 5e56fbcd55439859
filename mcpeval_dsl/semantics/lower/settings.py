"""Semantics, lowering: what each directive of a task, profile or `defaults` does to the task."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal as Word
from typing import cast

from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.semantics.expressions import AnyPattern, CallPattern, Combined, Expression, Literal
from mcpeval_dsl.semantics.lower.answers import lower_answer
from mcpeval_dsl.semantics.lower.conditions import lower_condition
from mcpeval_dsl.semantics.lower.context import Unlowerable
from mcpeval_dsl.semantics.lower.dialogues import dialogue
from mcpeval_dsl.semantics.lower.disturbances import distract, fault
from mcpeval_dsl.semantics.lower.draft import Draft
from mcpeval_dsl.semantics.lower.grading import lower_grade
from mcpeval_dsl.semantics.lower.injections import inject
from mcpeval_dsl.semantics.lower.needs import lower_needs
from mcpeval_dsl.semantics.lower.patterns import lower_groups
from mcpeval_dsl.semantics.lower.refusals import expected_refusal
from mcpeval_dsl.semantics.lower.severities import severity_of
from mcpeval_dsl.semantics.lower.steps import included, lower_steps
from mcpeval_dsl.semantics.lower.values import lower_value
from mcpeval_dsl.semantics.lower.words import Words, names, only
from mcpeval_dsl.semantics.model import Conditional, KnownFailure, Limit, Never, ToolFilter
from mcpeval_dsl.semantics.symbols import Symbol, word
from mcpeval_dsl.syntax.tree import Directive, ObjectValue, Ref, Statement, String, Value

Handler = Callable[[Draft, Directive], None]
DIMENSIONS = ("calls", "tokens", "cost", "time", "turns")


def apply_statement(draft: Draft, statement: Statement) -> None:
    """Fold one statement into the task."""
    if not isinstance(statement, Directive):
        return
    handler = HANDLERS.get(statement.name.text)
    if handler is None:
        raise Unlowerable(statement.name.span, "a directive of a task")
    handler(draft, statement)


def _word(draft: Draft, line: Directive) -> None:
    words = only(line)
    draft.fields[line.name.text] = words.name().text
    words.end()


def _label(draft: Draft, line: Directive) -> None:
    """A word from an open set; quoted when it is no identifier."""
    words = only(line)
    item = words.item("a word")
    text = item.value if isinstance(item, String) else word(item)
    if text is None:
        raise Unlowerable(item.span, "a word")
    draft.fields[line.name.text] = text
    words.end()


def _text(draft: Draft, line: Directive) -> None:
    draft.fields[line.name.text] = only(line).string().value


def _prompt(draft: Draft, line: Directive) -> None:
    words = only(line)
    draft.fields["prompt"] = included(draft.ctx, draft.scope, words)
    words.end()


def _system(draft: Draft, line: Directive) -> None:
    found = []
    for group in line.groups:
        words = Words.group(group)
        found.append(included(draft.ctx, draft.scope, words))
        words.end()
    draft.fields["system"] = tuple(found)


def _answer(draft: Draft, line: Directive) -> None:
    draft.fields["answer"] = lower_answer(draft.ctx, draft.scope, line)


def _tags(draft: Draft, line: Directive) -> None:
    for group in line.groups:
        item = group.items[0]
        text = item.value if isinstance(item, String) else word(item)
        if text is None or len(group.items) > 1:
            raise Unlowerable(group.items[-1].span, "tags with commas between them")
        if text not in draft.tags:
            draft.tags.append(text)


def _trials(draft: Draft, line: Directive) -> None:
    draft.fields["trials"] = int(only(line).number().value)


def _environment(draft: Draft, line: Directive) -> None:
    name = only(line).name()
    draft.ctx.name(("environment",), name)
    draft.fields["environment"] = name.text


def _judge(draft: Draft, line: Directive) -> None:
    name = only(line).name()
    draft.ctx.name(("judge", "model"), name)
    draft.grading.judge = name.text
    draft.grading.assumed = False


def _servers(draft: Draft, line: Directive) -> None:
    chosen = names(line)
    for name in chosen:
        draft.ctx.name(("server", "catalogue"), name)
    draft.fields["servers"] = tuple(n.text for n in chosen)
    draft.servers_span = line.span


def _tools(draft: Draft, line: Directive) -> None:
    words = Words.of(line)
    mode = words.take("only", "not")
    first = line.groups[0]
    if mode is None:
        raise Unlowerable(words.place, "`tools only …` or `tools not …`")
    groups = (type(first)(first.items[1:], first.span), *line.groups[1:])
    draft.tools.append(ToolFilter(cast('Word["only", "not"]', mode), lower_groups(draft.ctx, draft.scope, groups)))


def _hide(draft: Draft, line: Directive) -> None:
    draft.hide.extend(lower_groups(draft.ctx, draft.scope, line.groups))


def _budget(draft: Draft, line: Directive) -> None:
    for group in line.groups:
        words = Words.group(group)
        bound = words.comparison("`calls <= 6 hard 15`")
        name = word(bound.left)
        if name not in DIMENSIONS or bound.operator != "<=":
            raise Unlowerable(bound.span, "`calls <= 6 hard 15`")
        soft, soft_axis = _amount(draft, bound.right)
        per_turn = words.take("per") is not None and words.take("turn") is not None
        hard, hard_axis = _amount(draft, words.value("a quantity")) if words.take("hard") else (None, "")
        words.end()
        limits = draft.turn_limits if per_turn else draft.limits
        limits[name] = Limit(soft, hard, soft_axis, hard_axis)
        draft.limit_spans[f"{name} per turn" if per_turn else name] = group.span


def _amount(draft: Draft, said: Value) -> tuple[float | None, str]:
    """A limit's number, or the axis of the matrix that gives it."""
    value = getattr(said, "value", None)
    if isinstance(value, int | float):
        return float(value), ""
    axis = word(said)
    if axis is None:
        raise Unlowerable(said.span, "a quantity")
    members = draft.ctx.dimensions.get(axis)
    if members is None or not all(is_number(member) for member in members):
        why = "has members that are no numbers" if members is not None else "is no axis of the matrix"
        near = closest(axis, list(draft.ctx.dimensions))
        hint = (
            f"did you mean `{near}`?"
            if near and members is None
            else f"write a number, or `{axis} = [3, 6]` in the matrix"
        )
        body = "A limit is a number, or an axis whose members are numbers in the limit's own unit."
        draft.ctx.problems.report("MCPE354", said.span, f"the limit `{axis}` {why}", body, hint)
        return None, ""
    return None, axis


def is_number(text: str) -> bool:
    """Whether a member of an axis, as text, is a number that is not negative."""
    try:
        return 0 <= float(text) < float("inf")
    except ValueError:
        return False


def _needs(draft: Draft, line: Directive) -> None:
    draft.needs.extend(lower_needs(draft.ctx, draft.scope.child(cell=True), line))


def _may(draft: Draft, line: Directive) -> None:
    if len(line.groups) == 1 and len(line.groups[0].items) == 1 and word(line.groups[0].items[0]) == "none":
        draft.may.clear()
        return
    draft.may.extend(lower_groups(draft.ctx, draft.scope, line.groups))


def _never(draft: Draft, line: Directive) -> None:
    draft.never.extend(_nevers(draft, line))


def _nevers(draft: Draft, line: Directive) -> list[Never]:
    patterns = lower_groups(draft.ctx, draft.scope, line.groups)
    severity, because = severity_of(draft.ctx, line, "critical")
    return [Never(p, severity or "critical", p.at, because) for p in patterns]


def _expect(draft: Draft, line: Directive) -> None:
    draft.expect.extend(lower_groups(draft.ctx, draft.scope, line.groups))


def _setup(draft: Draft, line: Directive) -> None:
    draft.setup.extend(lower_steps(draft.ctx, draft.scope, line.block.statements if line.block else ()))


def _teardown(draft: Draft, line: Directive) -> None:
    scope = draft.grading.scope
    draft.teardown.extend(lower_steps(draft.ctx, scope, line.block.statements if line.block else ()))


def _undo(draft: Draft, line: Directive) -> None:
    patterns = lower_groups(draft.ctx, draft.scope, line.groups)
    scope = draft.grading.scope.child()
    for name in ("args", "result"):
        scope.names[name] = Symbol("variable", name, None)
    steps = lower_steps(draft.ctx, scope, line.block.statements if line.block else ())
    for pattern in patterns:
        draft.undo.append((_plain(pattern, line), steps))


def _plain(pattern: AnyPattern, line: Directive) -> CallPattern:
    if isinstance(pattern, CallPattern):
        return pattern
    what = f"`{pattern.combinator}(…)`" if isinstance(pattern, Combined) else "this"
    raise Unlowerable(line.groups[0].span, f"a tool or a glob, not {what}")


def _reference(draft: Draft, line: Directive) -> None:
    draft.grading.has_reference = True
    statements = line.block.statements if line.block else ()
    draft.fields["reference"] = lower_steps(draft.ctx, draft.scope.child(), statements)


def _simulate(draft: Draft, line: Directive) -> None:
    result: Expression = Literal(None)
    for inner in line.block.statements if line.block else ():
        if isinstance(inner, Directive) and inner.name.text == "result":
            result = lower_value(draft.ctx, draft.scope, only(inner).value())
    for pattern in lower_groups(draft.ctx, draft.scope, line.groups):
        draft.simulate.append((_plain(pattern, line), result))


def _elicit(draft: Draft, line: Directive) -> None:
    words = only(line)
    draft.fields["elicit"] = words.name().text
    draft.fields["answers_for_user"] = True
    if words:
        value = words.value()
        if not isinstance(value, ObjectValue | Ref):
            raise Unlowerable(value.span, "an object")
        draft.fields["elicit_content"] = lower_value(draft.ctx, draft.scope, value)
    words.end()


def _known_failure(draft: Draft, line: Directive) -> None:
    reason = only(line).string().value
    condition = None
    until = None
    for inner in line.block.statements if line.block else ():
        if isinstance(inner, Directive) and inner.name.text == "when":
            words = only(inner)
            condition = lower_condition(draft.ctx, draft.scope.child(cell=True), words.comparison())
        elif isinstance(inner, Directive) and inner.name.text == "until":
            until = _date(draft, only(inner).string())
    draft.known_failures.append(KnownFailure(reason, condition, until, line.span.location()))


def _date(draft: Draft, text: String) -> str:
    import datetime

    try:
        return datetime.date.fromisoformat(text.value).isoformat()
    except ValueError:
        title = f"`{text.value}` is no date"
        draft.ctx.problems.report(
            "MCPE327", text.span, title, "A date is a year, a month and a day.", 'write `until "2027-01-31"`'
        )
        return text.value


def _when(draft: Draft, line: Directive) -> None:
    """Graders, permissions and needs that count only where the condition holds."""
    ctx = draft.ctx
    condition = lower_condition(ctx, draft.scope.child(cell=True), only(line).comparison())
    inner = Draft(ctx, draft.name, draft.scope, draft.grading)
    for statement in line.block.statements if line.block else ():
        with ctx.statement(statement) as alive:
            if not alive:
                continue
            if not isinstance(statement, Directive) or statement.name.text not in CONDITIONAL:
                raise Unlowerable(statement.span, "`grade`, `may`, `never`, `expect` or `needs`")
            apply_statement(inner, statement)
    refusal = expected_refusal(inner.expect, draft.grading)
    draft.conditionals.append(
        Conditional(
            condition,
            (*inner.graders, *refusal),
            tuple(inner.may),
            tuple(inner.never),
            tuple(inner.expect),
            tuple(inner.needs),
        )
    )


def _grade(draft: Draft, line: Directive) -> None:
    draft.graders.append(lower_grade(draft.grading, line))


def _nothing(draft: Draft, line: Directive) -> None:
    """Read before the others: `use`, canaries."""


CONDITIONAL = frozenset({"grade", "may", "never", "expect", "needs"})

HANDLERS: Mapping[str, Handler] = {
    "prompt": _prompt,
    "system": _system,
    "answer": _answer,
    "tags": _tags,
    "cluster": _label,
    "source": _text,
    "difficulty": _label,
    "split": _word,
    "purpose": _word,
    "kind": _word,
    "trials": _trials,
    "environment": _environment,
    "judge": _judge,
    "servers": _servers,
    "host_tools": _word,
    "tools": _tools,
    "hide": _hide,
    "budget": _budget,
    "needs": _needs,
    "policy": _word,
    "may": _may,
    "never": _never,
    "expect": _expect,
    "setup": _setup,
    "teardown": _teardown,
    "undo": _undo,
    "reference": _reference,
    "simulate": _simulate,
    "elicit": _elicit,
    "known_failure": _known_failure,
    "when": _when,
    "grade": _grade,
    "distract": distract,
    "fault": fault,
    "inject": inject,
    "dialogue": dialogue,
    "use": _nothing,
    "canary": _nothing,
}
