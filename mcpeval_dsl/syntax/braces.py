"""Syntax, before step 3: a `{` or `}` too few, found by indentation, so that it costs one error and no statement."""

from __future__ import annotations

from dataclasses import dataclass

from mcpeval_dsl.syntax.layout import begins_line, indent
from mcpeval_dsl.syntax.problems import Fix, Problem
from mcpeval_dsl.syntax.scanner import Token

_OPENERS = ("LBRACE", "_OBJ")
MAX_MENDED = 20


@dataclass(frozen=True, slots=True)
class Balanced:
    """Tokens whose braces pair up; `dropped` are offsets of statements that stand where they do not belong."""

    tokens: list[Token]
    problems: tuple[Problem, ...]
    dropped: set[int]


def balance(text: str, tokens: list[Token], scanned: tuple[Problem, ...]) -> Balanced:
    """Add or remove braces until they pair up."""
    if any(problem.code == "MCPE112" for problem in scanned):
        return Balanced(_closed(tokens), (), set())
    problems: list[Problem] = []
    while len(problems) < MAX_MENDED:
        pairs, unclosed, extra = _pairs(tokens)
        if not unclosed and not extra:
            break
        if extra:
            problem, tokens = _without_closer(text, tokens, pairs, extra[0])
        else:
            problem, tokens = _with_closer(text, tokens, pairs, unclosed[-1])
        problems.append(problem)
    else:
        tokens = _closed(tokens)
    return Balanced(tokens, tuple(problems), set())


def _pairs(tokens: list[Token]) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """(opener, closer) by token number, openers without a closer, closers without an opener."""
    pairs: list[tuple[int, int]] = []
    open_: list[int] = []
    extra: list[int] = []
    for number, token in enumerate(tokens):
        if token.kind in _OPENERS:
            open_.append(number)
        elif token.kind == "RBRACE":
            if open_:
                pairs.append((open_.pop(), number))
            else:
                extra.append(number)
    return pairs, open_, extra


def _closed(tokens: list[Token]) -> list[Token]:
    """Without closers too many, and with those that are missing at the end."""
    _, unclosed, extra = _pairs(tokens)
    lost = set(extra)
    end = tokens[-1]
    kept = [token for number, token in enumerate(tokens[:-1]) if number not in lost]
    return [*kept, *(Token("RBRACE", end.start, end.start) for _ in unclosed), end]


def _mismatched(text: str, tokens: list[Token], pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pairs whose closer begins a line that is not indented as the line of the opener."""
    found = []
    for opener, closer in pairs:
        start, end = tokens[opener].start, tokens[closer].start
        if begins_line(text, end) and "\n" in text[start:end] and indent(text, start) != indent(text, end):
            found.append((opener, closer))
        elif not begins_line(text, end) and "\n" in text[start:end] and _one_liner(text, tokens, opener):
            found.append((opener, closer))
    return found


def _one_liner(text: str, tokens: list[Token], opener: int) -> bool:
    """Whether a statement follows the brace on its line."""
    following = tokens[opener + 1]
    return following.kind != "_NL" and "\n" not in text[tokens[opener].start : following.start]


def _with_closer(
    text: str, tokens: list[Token], pairs: list[tuple[int, int]], unclosed: int
) -> tuple[Problem, list[Token]]:
    culprits = _mismatched(text, tokens, pairs)
    opener = min(culprits)[0] if culprits else unclosed
    # the innermost culprit is the one that was really left open
    if culprits:
        opener = max(pair[0] for pair in culprits if pair[0] >= opener and _inside(pair, min(culprits)))
    at = _closing_place(text, tokens, opener)
    place = tokens[at - 1].end if at else 0
    brace = tokens[opener]
    line_start = text.rfind("\n", 0, brace.start) + 1
    margin = text[line_start : line_start + indent(text, brace.start)]
    one_line = "\n" not in text[brace.start : place]
    problem = Problem(
        "MCPE121",
        brace.start,
        brace.end,
        f"the block opened here is never closed{_name_of(text, tokens, opener)}",
        "Every { has its }.",
        "add } at the end of this line" if one_line else f"add }} on a line of its own {_behind(text, tokens, at)}",
        Fix(place, place, " }" if one_line else f"\n{margin}}}"),
    )
    return problem, [*tokens[:at], Token("RBRACE", place, place), *tokens[at:]]


def _inside(pair: tuple[int, int], outer: tuple[int, int]) -> bool:
    return outer[0] <= pair[0] and pair[1] <= outer[1]


def _name_of(text: str, tokens: list[Token], opener: int) -> str:
    number = opener
    while number > 0 and tokens[number - 1].kind not in ("_NL", "LBRACE", "RBRACE"):
        number -= 1
    head = text[tokens[number].start : tokens[opener].start].strip()
    return f" ({head})" if head and len(head) <= 40 and "\n" not in head else ""


def _behind(text: str, tokens: list[Token], at: int) -> str:
    line = text.count("\n", 0, tokens[at - 1].start) - text.count("\n", 0, tokens[0].start)
    return "behind the last statement of the block" if line else "behind it"


def _closing_place(text: str, tokens: list[Token], opener: int) -> int:
    """Number of the token before which the missing `}` belongs: before the first line that is not indented deeper."""
    margin = indent(text, tokens[opener].start)
    one_line = _one_liner(text, tokens, opener)
    depth = 0
    for number in range(opener + 1, len(tokens)):
        kind = tokens[number].kind
        if kind in _OPENERS:
            depth += 1
        elif kind == "RBRACE":
            depth -= 1
        if kind == "$END":
            break
        if kind != "_NL" or depth > 0 or text[tokens[number].start] == ";":
            continue
        following = number + 1
        while tokens[following].kind == "_NL":
            following += 1
        if one_line or (tokens[following].kind != "$END" and indent(text, tokens[following].start) <= margin):
            return number
    last = len(tokens) - 1
    while last > opener + 1 and tokens[last - 1].kind == "_NL":
        last -= 1
    return last


def _without_closer(
    text: str, tokens: list[Token], pairs: list[tuple[int, int]], extra: int
) -> tuple[Problem, list[Token]]:
    culprits = [p for p in _mismatched(text, tokens, pairs) if p[1] < extra]
    number = min(culprits, key=lambda p: p[1])[1] if culprits else extra
    token = tokens[number]
    problem = Problem(
        "MCPE122",
        token.start,
        token.end,
        "this } closes nothing" if number == extra else "one } too many",
        "Every } has its {.",
        "remove it, or add the { that is missing before it",
        Fix(token.start, token.end, ""),
    )
    return problem, [*tokens[:number], *tokens[number + 1 :]]
