"""Values, text: regular expressions in linear time (RE2), with the flags `i`, `m`, `s` and `x`."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from mcpeval_dsl.values.model import EvaluationError

FLAGS = "imsx"


@lru_cache(maxsize=1024)
def compiled(pattern: str, flags: str = "") -> Any:
    """The compiled expression. Raises EvaluationError for a pattern or flag that RE2 does not know."""
    import re2

    unknown = sorted(set(flags) - set(FLAGS))
    if unknown:
        raise EvaluationError(f"regular expressions have no flag `{unknown[0]}`")
    if "x" in flags:
        pattern = without_layout(pattern)
    inline = "".join(flag for flag in "ims" if flag in flags)
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(f"(?{inline}){pattern}" if inline else pattern, options)
    except UnicodeEncodeError:
        raise EvaluationError("the regular expression cannot be used: it holds half a character") from None
    except re2.error as problem:
        reason = problem.args[0] if problem.args else problem
        text = reason.decode("utf-8", "replace") if isinstance(reason, bytes) else str(reason)
        raise EvaluationError(f"the regular expression /{pattern}/ cannot be used: {text}") from None


def without_layout(pattern: str) -> str:
    """A pattern with the flag `x` without its blanks and comments, which RE2 does not skip by itself."""
    kept: list[str] = []
    in_class = False
    position = 0
    while position < len(pattern):
        character = pattern[position]
        if character == "\\":
            kept.append(pattern[position : position + 2])
            position += 2
            continue
        if character == "[":
            in_class = True
        elif character == "]":
            in_class = False
        if not in_class and character == "#":
            end = pattern.find("\n", position)
            position = len(pattern) if end < 0 else end
            continue
        if in_class or not character.isspace():
            kept.append(character)
        position += 1
    return "".join(kept)


def found(pattern: str, flags: str, text: str) -> bool:
    """True where the pattern matches anywhere in the text."""
    return compiled(pattern, flags).search(whole(text)) is not None


def capture(pattern: str, flags: str, text: str) -> str | None:
    """First group of the first match (the whole match without groups); None without a match or with an unused group."""
    match = compiled(pattern, flags).search(whole(text))
    return None if match is None else _first(match)


def captures(pattern: str, flags: str, text: str) -> list[str | dict[str, str | None]]:
    """Every match in order: a text each, or with several groups an object by number (and by name where one has it)."""
    return [_all(match) for match in compiled(pattern, flags).finditer(whole(text))]


def whole(text: str) -> str:
    """The text without halves of surrogate pairs, which JSON may hold and UTF-8 may not."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _first(match: Any) -> str | None:
    groups = match.groups()
    text: str | None = groups[0] if groups else match.group()
    return text


def _all(match: Any) -> str | dict[str, str | None]:
    groups: tuple[str | None, ...] = match.groups()
    if len(groups) < 2:
        return _first(match) or ""
    named: dict[str, str | None] = {str(number): text for number, text in enumerate(groups, start=1)}
    named.update(match.groupdict())
    return named
