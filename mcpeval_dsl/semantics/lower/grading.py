"""Semantics, lowering: `grade` lines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mcpeval_dsl.semantics.expressions import Entry, Expression, Source
from mcpeval_dsl.semantics.graders import (
    AnyOf,
    Calls,
    Claim,
    CommandVerdict,
    Common,
    Contains,
    Evidence,
    Exact,
    Grader,
    Json,
    Judge,
    Normalisation,
    Number,
    OneOf,
    Python,
    Regex,
    ResultsHasReference,
    SameState,
    SetOf,
    State,
    Unchanged,
)
from mcpeval_dsl.semantics.lower.claims import claims_of_file
from mcpeval_dsl.semantics.lower.conditions import lower_condition, reads_subject, within
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.patterns import lower_groups
from mcpeval_dsl.semantics.lower.regexes import check_regex
from mcpeval_dsl.semantics.lower.sources import as_source
from mcpeval_dsl.semantics.lower.steps import argv, included
from mcpeval_dsl.semantics.lower.values import lower_value
from mcpeval_dsl.semantics.lower.words import Words, only
from mcpeval_dsl.semantics.model import Unsupported
from mcpeval_dsl.semantics.shape.unfolding import unfolded
from mcpeval_dsl.semantics.symbols import Scope, name_text, word
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax import tree
from mcpeval_dsl.syntax.one_line import one_line
from mcpeval_dsl.syntax.tree import Directive, Group, NamedBinding


@dataclass(slots=True)
class Grading:
    """What graders of one task need to know; `judge` is the judge model that applies."""

    ctx: Context
    scope: Scope
    judge: str | None
    assumed: bool = False
    assumed_spans: list[Span] = field(default_factory=list)
    count: int = 0
    has_reference: bool = False
    unsupported: list[Unsupported] = field(default_factory=list)
    reference_users: list[tuple[str, Span]] = field(default_factory=list)

    def next_id(self) -> str:
        self.count += 1
        return f"g{self.count}"


@dataclass(slots=True)
class _Body:
    """The block of a grader."""

    weight: float | None = None
    timeout: float | None = None
    normal: dict[str, Any] = field(default_factory=dict)
    claims: list[Claim] = field(default_factory=list)
    views: list[Source] = field(default_factory=list)
    env: list[Entry] = field(default_factory=list)
    graders: list[Grader] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class _Line:
    """One grade line cut up: kind, the words behind it, the other groups, its block."""

    kind: str
    words: Words
    groups: tuple[Group, ...]
    negated: bool
    body: _Body
    common: Common
    span: Span


def lower_grade(grading: Grading, statement: Directive, id: str | None = None) -> Grader:
    """`grade KIND … [weight N] [{ … }]`, or the same without `grade` inside `any { }`."""
    own_id = id or grading.next_id()
    plain = unfolded(statement)
    statement = plain if isinstance(plain, Directive) else statement
    groups, weight = _split_weight(statement.groups)
    inside = statement.name.text != "grade"
    if inside:
        kind, kind_span = statement.name.text, statement.name.span
        words = Words.group(groups[0]) if groups else Words((), statement.name.span)
    else:
        words = Words.group(groups[0]) if groups else Words((), statement.name.span)
        named = words.name("the name of a grader")
        kind, kind_span = named.text, named.span
    negated = kind == "not"
    if negated:
        named = words.name("the name of a grader")
        kind, kind_span = named.text, named.span
    maker = _KINDS.get(kind)
    if maker is None:
        raise Unlowerable(kind_span, "the name of a grader")
    body = _body(grading, statement, own_id, kind)
    share = body.weight if body.weight is not None else weight
    text = one_line(statement.span.text)
    common = Common(
        own_id,
        1.0 if share is None else share,
        Normalisation(**body.normal),
        text,
        statement.span.location(),
        body.timeout,
    )
    if negated and kind not in ("exact", "contains", "regex"):
        raise Unlowerable(kind_span, "`not` goes with `exact`, `contains` and `regex`")
    return maker(grading, _Line(kind, words, groups[1:], negated, body, common, statement.span))


def _split_weight(groups: tuple[Group, ...]) -> tuple[tuple[Group, ...], float | None]:
    """Take `weight N` out of the last group, before or behind what else may end it."""
    items = groups[-1].items if groups else ()
    for at in range(len(items) - 2, -1, -1):
        amount = items[at + 1]
        if word(items[at]) == "weight" and isinstance(amount, tree.Number):
            left = (*items[:at], *items[at + 2 :])
            shorter = (Group(left, groups[-1].span),) if left else ()
            return (*groups[:-1], *shorter), float(amount.value)
    return groups, None


def _body(grading: Grading, statement: Directive, id: str, kind: str) -> _Body:
    body = _Body()
    if statement.block is None:
        return body
    for line in map(unfolded, statement.block.statements):
        with grading.ctx.statement(line) as alive:
            if not alive:
                continue
            if isinstance(line, Directive):
                _body_line(grading, body, line, id, kind)
            elif isinstance(line, NamedBinding) and line.keyword.text == "env":
                value = lower_value(grading.ctx, grading.scope, line.value)
                body.env.append(Entry(name_text(line.name), value))
            else:
                raise Unlowerable(line.span, "a directive of this grader")
    return body


def _body_line(grading: Grading, body: _Body, line: Directive, id: str, kind: str) -> None:
    name = line.name.text
    if name == "for":
        grading.unsupported.append(Unsupported("`for` inside a grader", line.span.location()))
    elif kind == "any" and name != "weight":
        body.graders.append(lower_grade(grading, line, f"{id}.{len(body.graders) + 1}"))
    elif name == "weight":
        body.weight = float(only(line).number().value)
    elif name == "timeout":
        body.timeout = float(only(line).number().value)
    elif name == "claim":
        body.claims.extend(_claims(grading, line))
    elif name == "view":
        body.views.append(_source(grading, only(line), "a view"))
    elif name in _NORMALISING:
        _NORMALISING[name](grading, body.normal, line)
    elif name in ("threshold", "repeats", "exit"):
        body.options[name] = only(line).number().value
    elif name in ("transcript", "session"):
        body.options[name] = only(line).name().text
    elif name == "second":
        second = only(line).name()
        grading.ctx.name(("model", "judge"), second)
        body.options[name] = second.text
    else:
        raise Unlowerable(line.name.span, "a directive of this grader")


# --- normalisation -------------------------------------------------------------------------------------------------

_IGNORED = ("case", "whitespace", "punctuation", "commas")


def _ignore(grading: Grading, normal: dict[str, Any], line: Directive) -> None:
    for group in line.groups:
        words = Words.group(group)
        named = words.take(*_IGNORED)
        if named is not None:
            normal["ignore"] = (*normal.get("ignore", ()), named)
        else:
            path = lower_value(grading.ctx, grading.scope, words.value())
            normal["ignore_paths"] = (*normal.get("ignore_paths", ()), path)
        words.end()


def _format(grading: Grading, normal: dict[str, Any], line: Directive) -> None:
    normal["format"] = only(line).string().value


def _as(grading: Grading, normal: dict[str, Any], line: Directive) -> None:
    normal["reading"] = only(line).name().text


def _numbers(grading: Grading, normal: dict[str, Any], line: Directive) -> None:
    words = only(line)
    words.take("within")
    normal["numbers_within"] = float(words.number().value)


def _flag(name: str) -> Callable[[Grading, dict[str, Any], Directive], None]:
    def set_flag(grading: Grading, normal: dict[str, Any], line: Directive) -> None:
        normal[name] = True

    return set_flag


_NORMALISING: Mapping[str, Callable[[Grading, dict[str, Any], Directive], None]] = {
    "ignore": _ignore,
    "format": _format,
    "as": _as,
    "numbers": _numbers,
    "unordered": _flag("unordered"),
    "any_message": _flag("any_message"),
}


# --- kinds ---------------------------------------------------------------------------------------------------------


def _values(grading: Grading, line: _Line) -> tuple[Expression, ...]:
    found = [lower_value(grading.ctx, grading.scope, line.words.value())]
    line.words.end()
    for group in line.groups:
        words = Words.group(group)
        found.append(lower_value(grading.ctx, grading.scope, words.value()))
        words.end()
    return tuple(found)


def _one(grading: Grading, line: _Line) -> Expression:
    values = _values(grading, line)
    if len(values) > 1:
        raise Unlowerable(line.groups[0].span, "one value")
    return values[0]


def _exact(grading: Grading, line: _Line) -> Grader:
    return Exact(line.common, _one(grading, line), line.negated)


def _one_of(grading: Grading, line: _Line) -> Grader:
    return OneOf(line.common, _one(grading, line))


def _contains(grading: Grading, line: _Line) -> Grader:
    return Contains(line.common, _values(grading, line), line.negated)


def _regex(grading: Grading, line: _Line) -> Grader:
    value = line.words.value("a regular expression")
    line.words.end()
    if isinstance(value, tree.Regex):
        check_regex(grading.ctx, value.pattern, value.flags, value.span)
        return Regex(line.common, value.pattern, value.flags, line.negated)
    if isinstance(value, tree.String) and "{{" not in value.value:
        check_regex(grading.ctx, value.value, "", value.span)
        return Regex(line.common, value.value, "", line.negated)
    raise Unlowerable(value.span, "a regular expression: /…/")


def _number(grading: Grading, line: _Line) -> Grader:
    value = lower_value(grading.ctx, grading.scope, line.words.value("a number"))
    tolerance = within(grading.ctx, grading.scope, line.words)
    line.words.end()
    return Number(line.common, value, tolerance)


def _set(grading: Grading, line: _Line) -> Grader:
    return SetOf(line.common, _one(grading, line))


def _json(grading: Grading, line: _Line) -> Grader:
    scope = grading.scope.child(subject=True)
    comparison = line.words.comparison()
    tolerance = within(grading.ctx, scope, line.words)
    line.words.end()
    return Json(line.common, lower_condition(grading.ctx, scope, comparison, None, tolerance))


def _state(grading: Grading, line: _Line) -> Grader:
    ctx, scope = grading.ctx, grading.scope
    item = line.words.item("what is read, then a condition")
    subject: Expression | None = None
    if not isinstance(item, tree.Comparison):
        subject = lower_value(ctx, scope, item)
        comparison = line.words.comparison('a condition such as `$.labels has "x"`')
    else:
        comparison = item
    tolerance = within(ctx, scope, line.words)
    line.words.end()
    condition = lower_condition(ctx, scope, comparison, subject, tolerance)
    if subject is None and reads_subject(condition.left):
        raise Unlowerable(comparison.span, "what is read before `$`")
    return State(line.common, condition, line.body.options.get("session", "fresh"))


def _source(grading: Grading, words: Words, what: str) -> Source:
    value = words.value("a source")
    return as_source(lower_value(grading.ctx, grading.scope, value), what, value.span)


def _same_state(grading: Grading, line: _Line) -> Grader:
    line.words.end()
    grading.reference_users.append(("same_state", line.span))
    return SameState(line.common, tuple(line.body.views), line.body.options.get("session", "fresh"))


def _unchanged(grading: Grading, line: _Line) -> Grader:
    source = _source(grading, line.words, "what stays unchanged")
    excepted: tuple[Expression, ...] = ()
    if line.words.take("except"):
        value = line.words.value("a list")
        items = value.items if isinstance(value, tree.ListValue) else (value,)
        excepted = tuple(lower_value(grading.ctx, grading.scope, item) for item in items)
    line.words.end()
    return Unchanged(line.common, source, excepted, line.body.options.get("session", "fresh"))


def _results(grading: Grading, line: _Line) -> Grader:
    if not isinstance(line.words.peek(), tree.Comparison):
        line.words.take("has")
        line.words.take("reference")
        line.words.end()
    grading.reference_users.append(("results", line.span))
    return ResultsHasReference(line.common)


def _calls(grading: Grading, line: _Line) -> Grader:
    first = line.words.items[line.words.index :]
    groups: Sequence[Group] = (Group(tuple(first), line.words.span), *line.groups)
    return Calls(line.common, lower_groups(grading.ctx, grading.scope, groups))


def _evidence(grading: Grading, line: _Line) -> Grader:
    line.words.end()
    return Evidence(line.common)


def _judge(grading: Grading, line: _Line) -> Grader:
    model = grading.judge
    if line.words:
        name = line.words.name("the name of a judge")
        grading.ctx.name(("judge", "model"), name)
        model = name.text
    elif grading.assumed and model is not None:
        grading.assumed_spans.append(line.span)
    line.words.end()
    if model is None and not grading.ctx.problems.earlier:
        grading.ctx.problems.report(
            "MCPE305",
            line.span,
            "no model is named to judge this",
            "`grade judge` asks a model; the suite, the task or the grader says which.",
            "write `judge NAME` in the suite, or `grade judge NAME { … }`",
        )
    options = {**grading.ctx.judging.get(model or "", {}), **line.body.options}
    return Judge(
        line.common,
        tuple(line.body.claims),
        model or "",
        float(options.get("threshold", 1.0)),
        int(options.get("repeats", 1)),
        options.get("second"),
        options.get("transcript", "answer"),
    )


def _claims(grading: Grading, line: Directive) -> list[Claim]:
    words = only(line)
    disclose = words.take("disclose") is not None
    if disclose:
        grading.unsupported.append(Unsupported("`disclose` of a claim", line.span.location()))
    if words.take("file"):
        path = words.string()
        found = claims_of_file(grading.ctx, grading.scope, path)
        if any(claim.disclose for claim in found) and not disclose:
            grading.unsupported.append(Unsupported("`disclose` of a claim", line.span.location()))
        return found
    text = included(grading.ctx, grading.scope, words)
    weight = float(words.number().value) if words.take("weight") else 1.0
    words.end()
    for inner in line.block.statements if line.block else ():
        if isinstance(inner, Directive) and inner.name.text == "weight":
            weight = float(only(inner).number().value)
    return [Claim(text, weight, disclose, False, line.span.location())]


def _command(grading: Grading, line: _Line) -> Grader:
    command = argv(grading.ctx, grading.scope, line.words)
    return CommandVerdict(line.common, command, int(line.body.options.get("exit", 0)), tuple(line.body.env))


def _python(grading: Grading, line: _Line) -> Grader:
    text = line.words.string()
    line.words.end()
    if text.value.count(":") != 1:
        raise Unlowerable(text.span, 'a function as "module:function"')
    return Python(line.common, text.value)


def _any(grading: Grading, line: _Line) -> Grader:
    line.words.end()
    return AnyOf(line.common, tuple(line.body.graders))


_KINDS: Mapping[str, Callable[[Grading, _Line], Grader]] = {
    "exact": _exact,
    "one_of": _one_of,
    "contains": _contains,
    "regex": _regex,
    "number": _number,
    "set": _set,
    "json": _json,
    "state": _state,
    "same_state": _same_state,
    "unchanged": _unchanged,
    "results": _results,
    "calls": _calls,
    "evidence": _evidence,
    "judge": _judge,
    "command": _command,
    "python": _python,
    "any": _any,
}
