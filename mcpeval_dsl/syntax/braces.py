"""Syntax, before step 3: a `{` or `}` too few, found by indentation, so that it costs one error and no statement."""

from __future__ import annotations

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.syntax.layout import OPENING_BRACES, Lines, next_line
from mcpeval_dsl.syntax.problems import Fix, Problem
from mcpeval_dsl.syntax.scanner import Token

MAX_MENDED = 20


@dataclass(frozen=True, slots=True)
class Balanced:
    """Tokens whose braces pair up."""

    tokens: list[Token]
    problems: tuple[Problem, ...] = ()


def balance(lines: Lines, tokens: list[Token], scanned: tuple[Problem, ...]) -> Balanced:
    """Add or remove braces until they pair up."""
    if any(problem.code == "MCPE112" for problem in scanned):
        return Balanced(_closed(tokens))
    tokens, problems = join_heads(tokens, lines.text)
    while len(problems) < MAX_MENDED:
        pairs, unclosed, extra = _pairs(tokens)
        if not unclosed and not extra:
            break
        if extra:
            problem, tokens = _without_closer(lines, tokens, pairs, extra[0])
        else:
            problem, tokens = _with_closer(lines, tokens, pairs, unclosed[-1])
        problems.append(problem)
    else:
        tokens = _closed(tokens)
    return Balanced(tokens, tuple(problems))


def _pairs(tokens: list[Token]) -> tuple[list[tuple[int, int]], list[int], list[int]]:
    """(opener, closer) by token number, openers without a closer, closers without an opener."""
    pairs: list[tuple[int, int]] = []
    open_: list[int] = []
    extra: list[int] = []
    for number, token in enumerate(tokens):
        if token.kind in OPENING_BRACES:
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


def _mismatched(lines: Lines, tokens: list[Token], pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Pairs of several lines whose closer does not stand as the opener asks: on a line of its own, indented alike, or,
    where a statement follows the opener on its line, at the end of a line."""
    found = []
    for opener, closer in pairs:
        start, end = tokens[opener].start, tokens[closer].start
        if lines.number(start) == lines.number(end):
            continue
        if lines.begins(end):
            wrong = lines.indent(start) != lines.indent(end)
        else:
            wrong = tokens[opener].kind == "LBRACE" and not _one_liner(lines, tokens, opener)
        if wrong:
            found.append((opener, closer))
    return found


def _one_liner(lines: Lines, tokens: list[Token], opener: int) -> bool:
    """Whether something follows the brace on its line."""
    following = tokens[next_line(tokens, opener + 1)]
    return lines.number(following.start) == lines.number(tokens[opener].start)


def _with_closer(
    lines: Lines, tokens: list[Token], pairs: list[tuple[int, int]], unclosed: int
) -> tuple[Problem, list[Token]]:
    opener = _left_open(_mismatched(lines, tokens, pairs), unclosed)
    at = _closing_place(lines, tokens, opener)
    place, brace = tokens[at - 1].end, tokens[opener]
    one_line = lines.number(brace.start) == lines.number(place)
    start = lines.index.starts[lines.number(brace.start) - 1]
    margin = lines.text[start : start + lines.indent(brace.start)]
    what = "block" if brace.kind == "LBRACE" else "object"
    problem = Problem(
        "MCPE121",
        brace.start,
        brace.end,
        f"the {what} opened here is never closed{_name_of(lines.text, tokens, opener)}",
        "Every { has its }.",
        f"write }} behind `{_last_line(lines, place)}`",
        Fix(place, place, " }" if one_line else f"\n{margin}}}"),
    )
    return problem, [*tokens[:at], Token("RBRACE", place, place), *tokens[at:]]


def _left_open(culprits: list[tuple[int, int]], unclosed: int) -> int:
    """The innermost of the first culprits: each outer one only got the closer of the next."""
    if not culprits:
        return unclosed
    outer = min(culprits)
    return max(opener for opener, closer in culprits if opener >= outer[0] and closer <= outer[1])


def _last_line(lines: Lines, offset: int) -> str:
    number = lines.number(offset)
    start = lines.index.starts[number - 1]
    line = lines.text[start:offset].strip()
    return line if len(line) <= 40 else "…" + line[-39:]


def _name_of(text: str, tokens: list[Token], opener: int) -> str:
    number = opener
    while number > 0 and tokens[number - 1].kind not in ("_NL", "LBRACE", "RBRACE"):
        number -= 1
    head = text[tokens[number].start : tokens[opener].start].strip()
    return f" ({head})" if head and len(head) <= 40 and "\n" not in head else ""


def _closing_place(lines: Lines, tokens: list[Token], opener: int) -> int:
    """Number of the token before which the missing `}` belongs: before the first line that is not indented deeper."""
    margin = lines.indent(tokens[opener].start)
    one_line = _one_liner(lines, tokens, opener)
    depth = 0
    for number in range(opener + 1, len(tokens)):
        kind = tokens[number].kind
        if kind in OPENING_BRACES:
            depth += 1
        elif kind == "RBRACE":
            depth -= 1
        if kind != "_NL" or depth > 0 or lines.text[tokens[number].start] == ";":
            continue
        following = tokens[next_line(tokens, number)]
        if one_line or (following.kind != "$END" and lines.indent(following.start) <= margin):
            return number
    last = len(tokens) - 1
    while last > opener + 1 and tokens[last - 1].kind == "_NL":
        last -= 1
    return last


def _without_closer(
    lines: Lines, tokens: list[Token], pairs: list[tuple[int, int]], extra: int
) -> tuple[Problem, list[Token]]:
    culprits = [p for p in _mismatched(lines, tokens, pairs) if p[1] < extra]
    number = min(culprits, key=lambda p: p[1])[1] if culprits else extra
    head = _head_without_brace(lines, tokens, number)
    if head is not None:
        return _with_opener(lines, tokens, head)
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


def _head_without_brace(lines: Lines, tokens: list[Token], closer: int) -> int | None:
    """Number of the newline before which a `{` is missing: that of the last line indented as the closer, if the lines
    between are indented deeper."""
    if not lines.begins(tokens[closer].start):
        return None
    margin, deeper = lines.indent(tokens[closer].start), False
    for number in range(closer - 1, -1, -1):
        token = tokens[number]
        if token.kind == "_NL" or not lines.begins(token.start):
            continue
        if lines.indent(token.start) > margin:
            deeper = True
            continue
        if not deeper or token.kind != "NAME" or lines.indent(token.start) != margin:
            return None
        end = number
        while tokens[end].kind not in ("_NL", "LBRACE", "RBRACE"):
            end += 1
        return end if tokens[end].kind == "_NL" else None
    return None


def _with_opener(lines: Lines, tokens: list[Token], newline: int) -> tuple[Problem, list[Token]]:
    last = tokens[newline - 1]
    problem = Problem(
        "MCPE125",
        last.start,
        last.end,
        "the block that follows has no {",
        "The { of a block stands at the end of the line of its statement.",
        f"write {{ behind `{_last_line(lines, last.end)}`",
        Fix(last.end, last.end, " {"),
    )
    return problem, [*tokens[:newline], Token("LBRACE", last.end, last.end), *tokens[newline:]]


def join_heads(tokens: list[Token], text: str) -> tuple[list[Token], list[Problem]]:
    """A `{` on a line of its own is read as if it stood at the end of the line above; each is a problem."""
    joined: list[Token] = []
    problems: list[Problem] = []
    for token in tokens:
        if token.kind == "LBRACE" and joined and joined[-1].kind == "_NL":
            head = len(joined)
            while head and joined[head - 1].kind == "_NL" and text[joined[head - 1].start] != ";":
                head -= 1
            if head and joined[head - 1].kind in _ENDS_A_HEAD:
                del joined[head:]
                problems.append(_own_line(joined[-1], token, not text[joined[-1].end : token.start].strip()))
        joined.append(token)
    return joined, problems


def _own_line(last: Token, brace: Token, adjacent: bool) -> Problem:
    return Problem(
        "MCPE125",
        brace.start,
        brace.end,
        "this { stands on a line of its own",
        "The { of a block stands at the end of the line of its statement.",
        "move it to the end of the line above",
        Fix(last.end, brace.end, " {", safe=True) if adjacent else None,
    )


_ENDS_A_HEAD = frozenset(
    {"NAME", "GLOB", "STRING", "RAW", "TEXT", "NUMBER", "REGEX", "JSONPATH", "METRIC", "RPAR", "RSQB"}
)
