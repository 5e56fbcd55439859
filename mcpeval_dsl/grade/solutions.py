"""Grade, for `mcpe selftest`: the answer that a task's graders ask for, as far as they say it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from mcpeval_dsl.agents.model import Answer
from mcpeval_dsl.grade.normalise import tolerance, whole_number
from mcpeval_dsl.semantics.expressions import AnyPattern, Combined, Condition, Select
from mcpeval_dsl.semantics.graders import (
    AnyOf,
    Calls,
    Contains,
    Exact,
    Grader,
    Json,
    Number,
    OneOf,
    Refusal,
    Regex,
    SetOf,
    Unchanged,
)
from mcpeval_dsl.values.evaluate import evaluate, tolerance_of
from mcpeval_dsl.values.model import EvaluationError, Scope
from mcpeval_dsl.values.text import as_text

Form = Literal["free", "text", "data", "refusal"]
ANSWERED = "Done."
_PLAIN_PATH = re.compile(r"\$(?:\.[A-Za-z_][A-Za-z0-9_]*)+")


@dataclass(frozen=True, slots=True)
class Part:
    """One value that the answer has to give. `among` are values as good.

    `slack` is how far off a number may be; of a text, by which fraction a number in it may be off.
    """

    value: Any
    slack: float = 0.0
    among: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Solution:
    """`free`: no grader reads the answer. `text`: the parts one after the other; `data`: `keys` give each part its place.

    `whole`: a grader compares all of the answer, so that nothing may be added to it.
    """

    form: Form
    parts: tuple[Part, ...] = ()
    keys: tuple[tuple[str, ...], ...] = ()
    whole: bool = False

    def answer(self) -> Answer:
        if self.form == "refusal":
            return Answer("refusal", "I won't do this.")
        if self.form == "free":
            return Answer("given", ANSWERED, None, True)
        if self.form == "data":
            value = _placed(self.keys, [part.value for part in self.parts])
            return Answer("given", json.dumps(value, ensure_ascii=False), value, True)
        return written([part.value for part in self.parts])


def written(values: Sequence[Any]) -> Answer:
    """One value as it is, several as a sentence."""
    if len(values) == 1:
        value = values[0]
        return Answer("given", as_text(value), value if isinstance(value, list | dict) else None, True)
    return Answer("given", "; ".join(as_text(value) for value in values), None, True)


def _placed(keys: Sequence[tuple[str, ...]], values: Sequence[Any]) -> Any:
    found: dict[str, Any] = {}
    for path, value in zip(keys, values, strict=True):
        inner = found
        for name in path[:-1]:
            inner = inner.setdefault(name, {})
        inner[path[-1]] = value
    return found


class Unsolved(Exception):
    """What an answer looks like cannot be told from the graders; `reason` is for people."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def solution(graders: Iterable[Grader], scope: Scope) -> Solution:
    """Raises Unsolved. What it gives is still to be graded: nothing here says that graders agree with each other."""
    parts: list[Part] = []
    placed: dict[tuple[str, ...], Part] = {}
    whole, refused, unclear = False, False, ""
    for grader in graders:
        if grader.common.weight <= 0:
            continue
        try:
            match grader:
                case Exact(negated=False) | OneOf() | SetOf():
                    parts, whole = [_whole(grader, scope)], True
                case Contains(negated=False) if not whole:
                    values = [item for each in grader.expected for item in _items(evaluate(each, scope))]
                    parts += [Part(value, _slack(grader, value)) for value in values]
                case Number() if not whole:
                    parts.append(_number(grader, scope))
                case Json():
                    placed |= [_member(grader.condition, scope)]
                case Regex(negated=False):
                    unclear, parts = _literal(grader, parts, whole) or unclear, _with_literal(grader, parts, whole)
                case AnyOf():
                    parts, whole, unclear = _any(grader, scope, parts, whole, unclear)
                case Refusal():
                    refused = True
        except EvaluationError as error:
            raise Unsolved(f"{_named(grader)}: {error.reason}") from error
    if refused:
        return Solution("refusal")
    if placed and not parts:
        return Solution("data", tuple(placed.values()), tuple(placed), whole=False)
    if unclear and not parts:
        raise Unsolved(unclear)
    return Solution("text", tuple(parts), whole=whole) if parts else Solution("free")


def reads_answers(graders: Iterable[Grader]) -> bool:
    """Whether nothing but the answer decides: no call, state or result."""
    text = (Exact, OneOf, SetOf, Contains, Number, Json, Regex, Refusal)
    kept = [grader for grader in graders if grader.common.weight > 0]
    return bool(kept) and all(
        reads_answers(grader.graders) if isinstance(grader, AnyOf) else isinstance(grader, text) for grader in kept
    )


def asks_for_nothing(graders: Iterable[Grader]) -> bool:
    """Whether all that decides is that something is not done, calls named first: then doing nothing is right."""
    kept = [grader for grader in graders if grader.common.weight > 0]
    forbids = [grader for grader in kept if isinstance(grader, Calls) and all(map(_forbids, grader.patterns))]
    return bool(forbids) and all(grader in forbids or isinstance(grader, Unchanged) for grader in kept)


def _forbids(pattern: AnyPattern) -> bool:
    return isinstance(pattern, Combined) and pattern.combinator == "none"


def _whole(grader: Exact | OneOf | SetOf, scope: Scope) -> Part:
    value = evaluate(grader.expected, scope)
    if isinstance(grader, OneOf):
        if not isinstance(value, list) or not value:
            raise Unsolved(f"{_named(grader)}: there is no list to choose from")
        return Part(value[0], _slack(grader, value[0]), tuple(value))
    return Part(value, _slack(grader, value))


def _slack(grader: Grader, value: Any) -> float:
    within = tolerance(grader.common.normalisation)
    if within is None:
        return 0.0
    return within.amount * abs(value) if isinstance(value, int | float) else within.amount


def _number(grader: Number, scope: Scope) -> Part:
    value = evaluate(grader.expected, scope)
    value = whole_number(value) if isinstance(value, str) else value
    if not isinstance(value, int | float):
        raise Unsolved(f"{_named(grader)}: the expected value is no number")
    within = tolerance_of(grader.within, scope) or tolerance(grader.common.normalisation)
    amount = 0.0 if within is None else within.amount
    if within is not None and within.percent:
        amount *= abs(value)
    return Part(value, amount)


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _member(condition: Condition, scope: Scope) -> tuple[tuple[str, ...], Part]:
    left = condition.left
    if isinstance(left, Select) and left.of is None and _PLAIN_PATH.fullmatch(left.path) and condition.operator == "==":
        within = tolerance_of(condition.within, scope)
        value = evaluate(condition.right, scope)
        slack = 0.0 if within is None else within.amount * (abs(value) if within.percent else 1.0)
        return tuple(left.path.split(".")[1:]), Part(value, slack)
    raise Unsolved("`json` with a condition that is no `$.path == value` does not say what an answer looks like")


def _with_literal(grader: Regex, parts: list[Part], whole: bool) -> list[Part]:
    return parts if whole or _literal(grader, parts, whole) else [*parts, Part(grader.pattern.split("|")[0])]


def _literal(grader: Regex, parts: list[Part], whole: bool) -> str:
    """Why the pattern says no text; empty where it is one, or a choice of several."""
    plain = all(word and re.escape(word).replace("\\ ", " ") == word for word in grader.pattern.split("|"))
    return "" if plain else f"{_named(grader)} does not say what an answer looks like"


def _any(grader: AnyOf, scope: Scope, parts: list[Part], whole: bool, unclear: str) -> tuple[list[Part], bool, str]:
    """The first alternative that says an answer."""
    for alternative in grader.graders:
        try:
            found = solution([alternative], scope)
        except Unsolved as problem:
            unclear = unclear or problem.reason
            continue
        if found.form == "text":
            return ([*parts, *found.parts] if not found.whole else list(found.parts)), whole or found.whole, unclear
    return parts, whole, unclear


def _named(grader: Grader) -> str:
    place = f" ({grader.common.at})" if grader.common.at is not None else ""
    return f"`{grader.common.text or grader.kind}`{place}"
