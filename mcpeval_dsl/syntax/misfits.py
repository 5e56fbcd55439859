"""Syntax, beside the scanner: characters that make no token -> what was meant, said once, with the edit that mends it.

Each answer is a `Misfit`: a problem and the token to go on with, as if the edit had been made.
"""

from __future__ import annotations

import re

from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.syntax.numbers import mended_number
from mcpeval_dsl.syntax.problems import Fix, Problem
from mcpeval_dsl.syntax.tables import terminal


@dataclass(frozen=True, slots=True)
class Misfit:
    """Text from `start` to `end` read as a token of `kind` with the text `mended`."""

    problem: Problem
    kind: str
    start: int
    end: int
    mended: str | None = None


_RUN = re.compile(r"(?:\{\{[^\n{}]*\}\}|[^\s\"{}()\[\],;#])+")
_SINGLE = re.compile(r"'(?:\\.|[^'\\\n])*'(?![\w'])")
_TYPOGRAPHIC = re.compile(r"[“„”«»‘’‚][^“„”«»‘’‚\"\n]*[“”«»‘’]")
_TO_LINE_END = re.compile(r"[^\n]*?(?=[ \t\r]*(?:\n|\Z))")
_STRING_SO_FAR = re.compile(r'"(?:\\.|[^"\\\n])*"')
_ODD_BLANK = re.compile(r"[\u00a0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff\f\v]+")
_LINE_END = re.compile(r"[ \t\r]*(?:#[^\n]*)?\n")
_FENCE = re.compile(r'"{3,}')
LONGEST_RUN = 2_000
LONGEST_NUMBER = 40
_HIGH, _LOW = "u[dD][89ABab][0-9A-Fa-f]{2}", "u[dD][C-Fc-f][0-9A-Fa-f]{2}"
_ESCAPE = re.compile(
    rf'\\(?:["\\/nrt]|{_HIGH}\\{_LOW})|(\\u[dD][89A-Fa-f][0-9A-Fa-f]{{2}})|\\u[0-9A-Fa-f]{{4}}|(\\(?:.|\Z))', re.DOTALL
)
TEMPLATE = re.compile(r"\{\{[ \t]*[A-Za-z_][^{}\n]*\}\}")
_FIRST_PAIR = re.compile(r"\{[ \t\r]*(?:#[^\n]*)?\n(?:[ \t\r]*(?:#[^\n]*)?\n)*[ \t]*[\w\"-][^:\n]*:[^\n]*")
_SECOND_STATEMENT = re.compile(
    r'\{[ \t]*[A-Za-z_][\w-]*[ \t]*:[ \t]*(?:"(?:\\.|[^"\\\n])*"[ \t]+"|[^\n{}\[\]();"]*;|"(?:\\.|[^"\\\n])*"[ \t]*;)'
)
_QUOTED = re.compile(r'"(?:\\.|[^"\\\n])*"|r"[^"\n]*"')


def quoted(text: str) -> str:
    """`text` as a string of the language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def diagnose(text: str, at: int) -> Misfit:
    """What stands at `at`, where no terminal of the grammar fits."""
    character = text[at]
    if text.startswith(('"""', 'r"""'), at):
        return _open_text(text, at)
    if character == '"' or text.startswith('r"', at):
        return _bad_string(text, at)
    for pattern, explain in ((_SINGLE, _single), (_TYPOGRAPHIC, _typographic), (_ODD_BLANK, _odd_blank)):
        if found := pattern.match(text, at):
            return explain(text, at, found.end())
    if text.startswith(("//", "/*"), at):
        return _comment(text, at)
    if character.isdigit() or (character in "-$" and text[at + 1 : at + 2].isdigit()):
        return _number(text, at)
    if character in "'“”„‘’`":
        return _lone_quote(text, at)
    if character in "/" or character.isalpha():
        return _unquoted(text, at, _run_end(text, at))
    if character == "$":
        return _path(text, at)
    return _stray(text, at)


def unquoted(text: str, start: int, second: int) -> Misfit:
    """Words and signs that touch, from `start` on, `second` being where no token fits any more."""
    return _unquoted(text, start, max(_run_end(text, start), second + 1))


def touching(text: str, start: int, second: int) -> Misfit:
    """A text from `start` (or `second`) on, and what touches it."""
    end = _string_end(text, second) if text[second] == '"' else _run_end(text, second)
    problem = Problem(
        "MCPE117",
        second,
        end,
        f"`{_short(text[second:end])}` touches what stands before it",
        "Words, numbers and texts are kept apart by a blank. Inside a template use single quotes; "
        'a quote inside a text is written \\".',
        "put a blank between them, or escape the quotes that belong to the text",
        Fix(second, second, " "),
    )
    first = text[start:second]
    return Misfit(problem, "STRING", start, end, first if first.startswith('"') else quoted(first))


def _string_end(text: str, at: int) -> int:
    found = _STRING_SO_FAR.match(text, at)
    return found.end() if found else at + 1


def _run_end(text: str, at: int) -> int:
    found = _RUN.match(text, at, at + LONGEST_RUN)
    return found.end() if found else at + 1


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "…"


def _unquoted(text: str, at: int, end: int) -> Misfit:
    run = text[at:end]
    fixed = quoted(run)
    problem = Problem(
        "MCPE116",
        at,
        end,
        f"`{_short(run)}` is a text without quotes",
        "Paths, URLs, dates, versions and other texts stand in double quotes.",
        f"write {_short(fixed)}",
        Fix(at, end, fixed, safe=not run[0].isdigit()),
    )
    return Misfit(problem, "STRING", at, end, fixed)


def _number(text: str, at: int) -> Misfit:
    end = _run_end(text, at)
    run = text[at:end].rstrip(".:=<>~!") or text[at]
    end = at + len(run)
    mended = mended_number(run)
    if mended is None:
        return _unquoted(text, at, end)
    problem = Problem(
        "MCPE115",
        at,
        end,
        f"`{_short(run)}` is not a number of this language",
        "Units are ms s m h d (time), KB MB GB (bytes), k M (counts), % and $; a unit touches its number, and "
        "numbers are written out.",
        f"write {mended}",
        Fix(at, end, mended, safe=not run.endswith(("tok", "iB"))),
    )
    return Misfit(problem, "NUMBER", at, end, mended)


def long_number(text: str, start: int, end: int) -> Misfit:
    """A number of more digits than anything counted or measured has; it stands for 1 in what follows."""
    problem = Problem(
        "MCPE115",
        start,
        end,
        f"`{_short(text[start:end])}` has too many digits",
        f"A number has at most {LONGEST_NUMBER} characters.",
        "write a smaller number; an identifier made of digits is a text in double quotes",
    )
    return Misfit(problem, "NUMBER", start, end, "1")


def _open_text(text: str, at: int) -> Misfit:
    opening = re.compile(r'r?"+').match(text, at)
    assert opening is not None
    fence = opening[0].lstrip("r")
    problem = Problem(
        "MCPE112",
        at,
        opening.end(),
        f"the text opened here with {_short(fence)} is never closed",
        f"{len(fence)} quotes close a text that {len(fence)} quotes open. If this line was meant to end a text, "
        "the quotes that open it are missing further up.",
        f"put {_short(fence)} on a line of its own behind the text",
    )
    return Misfit(problem, "TEXT", at, len(text), text[at:] + fence)


def _bad_string(text: str, at: int) -> Misfit:
    opening = at + 1 if text[at] == "r" else at
    closed = _STRING_SO_FAR.match(text, opening)
    if closed:  # closed, but something touches its end
        return touching(text, at if text[at] == '"' else opening, closed.end())
    line = _TO_LINE_END.match(text, at)
    assert line is not None
    end = line.end()
    inner = re.sub(r"\\+\Z", "", text[at:end])
    problem = Problem(
        "MCPE111",
        at,
        opening + 1,
        "this text has no closing quote",
        'A text in "…" ends on the line on which it begins; longer ones stand in """…""".',
        'close it with "',
        Fix(end, end, '"'),
    )
    return Misfit(problem, "RAW" if text[at] == "r" else "STRING", at, end, inner + '"')


def _single(text: str, at: int, end: int) -> Misfit:
    fixed = quoted(text[at + 1 : end - 1].replace("\\'", "'"))
    problem = Problem(
        "MCPE113",
        at,
        end,
        "texts stand in double quotes",
        "Single quotes belong inside templates and JSONPaths only.",
        f"write {_short(fixed)}",
        Fix(at, end, fixed, safe=True),
    )
    return Misfit(problem, "STRING", at, end, fixed)


def _typographic(text: str, at: int, end: int) -> Misfit:
    fixed = quoted(text[at + 1 : end - 1])
    problem = Problem(
        "MCPE113",
        at,
        end,
        "typographic quotes are not quotes of this language",
        'A text stands between two straight double quotes (").',
        f"write {_short(fixed)}",
        Fix(at, end, fixed, safe=True),
    )
    return Misfit(problem, "STRING", at, end, fixed)


def _lone_quote(text: str, at: int) -> Misfit:
    line = _TO_LINE_END.match(text, at)
    assert line is not None
    end = max(line.end(), at + 1)
    problem = Problem(
        "MCPE113",
        at,
        at + 1,
        f"`{text[at]}` opens no text",
        "Texts stand in straight double quotes.",
        'use " at both ends of the text',
    )
    return Misfit(problem, "STRING", at, end, quoted(text[at + 1 : end]))


def _odd_blank(text: str, at: int, end: int) -> Misfit:
    problem = Problem(
        "MCPE110",
        at,
        end,
        f"a blank that is none (U+{ord(text[at]):04X})",
        "Only the ordinary blank and the tab separate words; this character often comes from pasted text.",
        "replace it with an ordinary blank",
        Fix(at, end, " ", safe=True),
    )
    return Misfit(problem, "JUNK", at, end)


def _comment(text: str, at: int) -> Misfit:
    if text[at + 1] == "*":
        closing = text.find("*/", at + 2)
        end = closing + 2 if closing >= 0 else len(text)
        line = _TO_LINE_END.match(text, at)
        assert line is not None
        end = min(end, line.end())
    else:
        line = _TO_LINE_END.match(text, at)
        assert line is not None
        end = line.end()
    problem = Problem(
        "MCPE119",
        at,
        at + 2,
        "a comment begins with #",
        "It runs to the end of its line. A regular expression that begins with / or * is written /[/]…/ or /[*]…/.",
        f"write # instead of {text[at : at + 2]}",
        Fix(at, at + 2, "#", safe=text[at + 1] == "/"),
    )
    return Misfit(problem, "COMMENT", at, end)


def _path(text: str, at: int) -> Misfit:
    end = max(_run_end(text, at), at + 1)
    run = text[at:end]
    if not re.match(r"\$[A-Za-z_]", run):
        return _unquoted(text, at, end)
    fixed = "$." + run[1:]
    if not terminal("JSONPATH").fullmatch(fixed):
        return _unquoted(text, at, end)
    problem = Problem(
        "MCPE118",
        at,
        end,
        f"`{_short(run)}` is not a path",
        "A path (JSONPath) is $, or begins with $. or $[; a key of an object that begins with $ is quoted.",
        f"write {_short(fixed)} for a path, {_short(quoted(run))} for a text",
        Fix(at, end, fixed),
    )
    return Misfit(problem, "JSONPATH", at, end, fixed)


def _stray(text: str, at: int) -> Misfit:
    character = text[at]
    end = at + 1
    while end < len(text) and text[end] == character and end - at < LONGEST_RUN:
        end += 1
    shown = character if character.isprintable() else f"U+{ord(character):04X}"
    advice = _ADVICE.get(character, "remove it, or put the text that it belongs to in quotes")
    problem = Problem(
        "MCPE110",
        at,
        end,
        f"`{shown}` means nothing here",
        "Outside texts only words, numbers, operators, brackets and commas stand in a spec.",
        advice,
    )
    return Misfit(problem, "JUNK", at, end)


_ADVICE = {
    "&": "separate conditions with a comma: commas in exclude and include mean and",
    "|": "write any(a, b) for one of several",
    "!": 'write != or !~ for "not", and `not contains …` before a word',
    "?": "remove it; optional(…) is the word for what may be missing",
    "\\": "remove it; a statement goes on after a comma and before a line that begins with an operator",
    "^": "write pass^3 without blanks, or put the text in quotes",
    "-": 'a list has commas: tags search, read; a text that begins with - is quoted: "-m"',
}


def inside_string(text: str, start: int, end: int) -> list[Problem]:
    """Escapes that do not exist in "…", and templates in raw texts, which stay as they are written."""
    if text[start] == "r":
        found = TEMPLATE.search(text, start, end)
        if not found or text[found.start() - 1] == "$":
            return []
        return [
            Problem(
                "MCPE120",
                found.start(),
                found.end(),
                "a template in a raw text stays as it is written",
                'r"…" has neither escapes nor templates; """…""" has templates and no escapes.',
                "remove the r, or use triple quotes",
                severity="warning",
            )
        ]
    if text.startswith('"""', start) or "\\" not in text[start:end]:
        return []
    for found in _ESCAPE.finditer(text, start, end - 1):
        if found[1]:
            return [_half_character(found)]
        if found[2]:
            return [_bad_escape(found)]
    return []


def _half_character(found: re.Match[str]) -> Problem:
    return Problem(
        "MCPE114",
        found.start(),
        found.end(),
        f"`{found[1]}` is half of a character",
        "Characters beyond \\uFFFF are two escapes, the first from \\uD800 to \\uDBFF and the second from \\uDC00 to "
        "\\uDFFF; one alone cannot be written to any file.",
        "write the character itself",
    )


def _bad_escape(found: re.Match[str]) -> Problem:
    return Problem(
        "MCPE114",
        found.start(),
        found.end(),
        f"`{found[2]}` is no escape",
        'In "…" there are \\n \\t \\r \\" \\\\ \\/ and \\uXXXX; r"…" has no escapes.',
        f"write \\{found[2]} for a backslash, or r in front of the text",
        Fix(found.start(), found.start() + 1, "\\\\"),
    )


def block_with_colons(text: str, brace: int) -> bool:
    """A `{` before `word:` begins an object, unless what follows is plainly statements with a colon too many."""
    if _SECOND_STATEMENT.match(text, brace):
        return True
    first = _FIRST_PAIR.match(text, brace)
    if not first:
        return False
    last = terminal("TEXT").sub('""', first[0].rsplit("\n", 1)[-1])
    if opened := _FENCE.search(last):
        closed = text.find(opened[0], first.end())
        behind = text[closed + len(opened[0]) : closed + 400]
        return closed < 0 or (_LINE_END.match(behind) is not None and behind.lstrip()[:1] not in (",", "}"))
    line = _QUOTED.sub('""', last).split("#")[0].rstrip()
    if line.endswith((",", "{", "[", "(", "}", ":")):
        return False
    rest = text[first.end() : first.end() + 400].lstrip()
    return not rest.startswith("}")
