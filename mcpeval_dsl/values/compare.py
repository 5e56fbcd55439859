"""Values, the operators of conditions over JSON values.

The rules, written down once:
- numbers are equal by value (1 = 1.0), whole ones exactly; `true` and `null` equal only themselves;
- a number equals a text that is exactly that number as JSON writes it (3 = "3", but 7 is not "007");
- texts are equal by character, lists in order, objects by their members;
- `<` and the like compare numbers (also as text), else two texts by character (ISO dates sort that way);
- `has`: a text has a text in it, a list has an equal element (of an object: an element with these members; of a list: each of
  its items), an object has a key, or these members; `in` is `has` seen from the other side, without the
  matching of members;
- `~` looks for a pattern in a text, or in the JSON text of anything else;
- `under` is containment of paths and URLs; a list is under when each of its items is;
- a negated operator is exactly the opposite, but nothing that is not there satisfies any operator: only `absent()` does.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.semantics.expressions import Operator, Pattern
from mcpeval_dsl.values.containment import under
from mcpeval_dsl.values.model import EvaluationError
from mcpeval_dsl.values.numbers import as_number, is_number, near, same_number, strict_number
from mcpeval_dsl.values.regex import found
from mcpeval_dsl.values.text import as_text, short


class Absent:
    """What `absent()` evaluates to, and what stands for an argument that was not given. Never a JSON value."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "absent()"


ABSENT: Final = Absent()


@dataclass(frozen=True, slots=True)
class Tolerance:
    """`within`: absolute, or a fraction of the expected number with `percent`."""

    amount: float
    percent: bool = False

    def __str__(self) -> str:
        return f"{self.amount * 100:g}%" if self.percent else f"{self.amount:g}"


def equal(left: Any, right: Any, tolerance: Tolerance | None = None) -> bool:
    """Equality of JSON values by the rules above; with `tolerance` numbers need only be near (`right` is expected)."""
    if left is ABSENT or right is ABSENT:
        return left is right
    if isinstance(left, bool) or isinstance(right, bool) or left is None or right is None:
        return left is right
    if is_number(left) or is_number(right):
        return _equal_numbers(left, right, tolerance)
    if isinstance(left, str) and isinstance(right, str):
        return left == right or (tolerance is not None and _near_texts(left, right, tolerance))
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(equal(a, b, tolerance) for a, b in zip(left, right, strict=True))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(equal(left[key], right[key], tolerance) for key in right)
    return False


def _equal_numbers(left: Any, right: Any, tolerance: Tolerance | None) -> bool:
    actual, expected = as_number(left), as_number(right)
    if actual is None or expected is None:
        return False
    if tolerance is None:
        return same_number(actual, expected)
    return near(actual, expected, tolerance.amount, tolerance.percent)


def _near_texts(left: str, right: str, tolerance: Tolerance) -> bool:
    actual, expected = strict_number(left), strict_number(right)
    return actual is not None and expected is not None and near(actual, expected, tolerance.amount, tolerance.percent)


def holds(
    left: Any, operator: Operator, right: Any, tolerance: Tolerance | None = None, start: str | None = None
) -> bool:
    """`left OP right`; relative paths start from `start`.

    Raises EvaluationError where the right side cannot be used with the operator.
    """
    if left is ABSENT:
        return _absent_holds(operator, right)
    if operator == "==":
        return equal(left, right, tolerance)
    if operator == "!=":
        return not equal(left, right, tolerance)
    if operator in ("<", "<=", ">", ">="):
        return _ordered(left, operator, right)
    positive = operator.removeprefix("not ").replace("!~", "~")
    if positive == "under":
        answer = all_under(left, right, start)
    else:
        answer = {"~": matches_text, "in": within_list, "has": has}[positive](left, right)
    return answer == (positive == operator)


def _absent_holds(operator: str, right: Any) -> bool:
    if operator == "==":
        return right is ABSENT
    return operator == "in" and isinstance(right, list) and any(item is ABSENT for item in right)


def _ordered(left: Any, operator: str, right: Any) -> bool:
    actual, expected = as_number(left), as_number(right)
    if actual is not None and expected is not None:
        return _compared(actual, operator, expected)
    if isinstance(left, str) and isinstance(right, str):
        return _compared(left, operator, right)
    return False


def _compared(left: Any, operator: str, right: Any) -> bool:
    if operator == "<":
        return bool(left < right)
    if operator == "<=":
        return bool(left <= right)
    return bool(left > right) if operator == ">" else bool(left >= right)


def matches_text(value: Any, pattern: Any) -> bool:
    """`value ~ pattern`: the pattern is a regular expression, or a text that is one."""
    if isinstance(pattern, Pattern):
        return found(pattern.pattern, pattern.flags, as_text(value))
    if isinstance(pattern, str):
        return found(pattern, "", as_text(value))
    raise EvaluationError(f"`~` needs a regular expression on its right, not {short(pattern, 60)}")


def has(container: Any, item: Any) -> bool:
    """`container has item` by the rules above."""
    if isinstance(container, str):
        if isinstance(item, list):
            return all(has(container, each) for each in item)
        return isinstance(item, str | int | float) and as_text(item) in container
    if isinstance(container, list):
        if isinstance(item, list) and all(isinstance(each, str) for each in (*item, *container)):
            return set(item) <= set(container)
        if any(equal(each, item) for each in container):
            return True
        if isinstance(item, list):
            return all(has(container, each) for each in item)
        return isinstance(item, dict) and any(includes(each, item) for each in container)
    if isinstance(container, dict):
        if isinstance(item, dict):
            return includes(container, item)
        if isinstance(item, list):
            return all(has(container, each) for each in item)
        return isinstance(item, str) and item in container
    return False


def includes(value: Any, members: Any) -> bool:
    """`value` has at least these members, at every depth; lists must be equal in length."""
    if isinstance(value, dict) and isinstance(members, dict):
        return all(key in value and includes(value[key], wanted) for key, wanted in members.items())
    if isinstance(value, list) and isinstance(members, list):
        return len(value) == len(members) and all(includes(a, b) for a, b in zip(value, members, strict=True))
    return equal(value, members)


def within_list(item: Any, container: Any) -> bool:
    """`item in container`; a list is in another when each of its items is."""
    if isinstance(container, str):
        return isinstance(item, str | int | float) and as_text(item) in container
    if isinstance(container, dict):
        return isinstance(item, str) and item in container
    if not isinstance(container, list):
        return False
    if isinstance(item, list) and item and all(isinstance(each, str) for each in (*item, *container)):
        return set(item) <= set(container)
    if any(equal(item, each) for each in container):
        return True
    return isinstance(item, list) and bool(item) and all(within_list(each, container) for each in item)


def all_under(value: Any, base: Any, start: str | None = None) -> bool:
    """Paths and URLs; `base` may be a list: under any of them."""
    if isinstance(value, list):
        return all(all_under(each, base, start) for each in value)
    bases = base if isinstance(base, list) else [base]
    return isinstance(value, str) and any(isinstance(each, str) and under(value, each, start) for each in bases)


def start_of(names: Mapping[str, Any]) -> str | None:
    """Where relative paths start: the trial's working directory, when there is one."""
    workdir = names.get("workdir")
    return workdir if isinstance(workdir, str) and workdir.startswith("/") else None
