"""Rule: two tools that read alike are taken for each other."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from heapq import nsmallest
from typing import NamedTuple

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics.catalogue import KnownTool
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.model import Server
from mcpeval_dsl.semantics.rules.design.shown_tools import shown

_WORD = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+"
_RARE, _NEAR = 8, 8
_DESCRIBED = 300
_SAME, _SIMILAR, _RELATED = 98.0, 88.0, 55.0
_MOST = 5
_VERBS = (
    "search find query lookup locate",
    "get fetch read retrieve show view load",
    "list enumerate browse",
    "create add new insert make",
    "update edit modify change set patch",
    "delete remove destroy drop erase",
    "send post publish",
    "run execute invoke call",
)
_FOLDED = {word: verbs.split()[0] for verbs in _VERBS for word in verbs.split()}


class _Tool(NamedTuple):
    """`name` and `text` (the beginning of the description) as words, verbs of one meaning and plurals folded; `sentence` is
    the text with its words in order of the alphabet, `verbs` are those of the name as they are written."""

    server: Server
    shown: str
    name: frozenset[str]
    text: frozenset[str]
    sentence: str
    verbs: frozenset[str]


def confusable(lowered: Lowered) -> None:
    """Note pairs of locked tools, of one server or of two that an agent may see together: once for each server."""
    tools = [_tool(each.server, tool) for each in shown(lowered) for tool in each.tools]
    if len(tools) < 2:
        return
    from rapidfuzz.fuzz import ratio

    found: dict[str, list[tuple[float, _Tool, _Tool]]] = {}
    for left, right in _candidates(tools):
        both = left.text and right.text
        alike = ratio(left.sentence, right.sentence, score_cutoff=_RELATED) if both else None
        if _confused(left, right, alike):
            found.setdefault(left.server.name, []).append((alike or 0.0, left, right))
    for pairs in found.values():
        _report(lowered, sorted(pairs, key=lambda pair: (-pair[0], pair[1].shown, pair[2].shown)))


def _confused(left: _Tool, right: _Tool, alike: float | None) -> bool:
    """Whether neither name nor description tells them apart; `alike` is 0 to 100, None where one has no description.

    `create_file` and `create_folder` read alike, but say in both what the difference is.
    """
    only_left, only_right = left.name - right.name, right.name - left.name
    if not only_left and not only_right:
        # `find_issues` and `search_issues`; `get_issue` and `get_issues` are two things
        return left.verbs != right.verbs or alike is None or alike >= _RELATED
    if alike is None or alike < _SIMILAR:
        return False
    said = only_left & left.text or only_right & right.text
    return alike >= _SAME or not said


def _tool(server: Server, tool: KnownTool) -> _Tool:
    text = _folded(tool.description[:_DESCRIBED])
    name = frozenset(_folded(tool.name))
    verbs = frozenset(word for word in _words(tool.name) if word in _FOLDED)
    return _Tool(server, tool.name, name, frozenset(text), " ".join(sorted(text)), verbs)


def _folded(text: str) -> list[str]:
    return [_FOLDED.get(word, word) for word in _words(text)]


def _words(text: str) -> list[str]:
    """In small letters and the singular, as far as that can be told."""
    words = (word.lower() for word in re.findall(_WORD, text))
    return [word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in words]


def _candidates(tools: list[_Tool]) -> Iterator[tuple[_Tool, _Tool]]:
    """Pairs that share a rare word, each with its nearest in the alphabet only: so many at most as there are tools, times 64."""
    tools = sorted(tools, key=lambda tool: (tool.sentence, tool.shown))
    words = [tool.name | tool.text for tool in tools]
    frequency = Counter(word for each in words for word in each)
    holders: dict[str, list[int]] = {}
    for number, each in enumerate(words):
        shared = (word for word in each if frequency[word] > 1)
        for word in nsmallest(_RARE, shared, key=lambda word: (frequency[word], word)):
            holders.setdefault(word, []).append(number)
    seen: set[tuple[int, int]] = set()
    for numbers in holders.values():
        for place, first in enumerate(numbers):
            seen.update((first, second) for second in numbers[place + 1 : place + 1 + _NEAR])
    for first, second in sorted(seen):
        yield tools[first], tools[second]


def _report(lowered: Lowered, pairs: list[tuple[float, _Tool, _Tool]]) -> None:
    _, left, right = pairs[0]
    server = left.server
    others = [f"`{_named(a, server)}` and `{_named(b, server)}`" for _, a, b in pairs[1:_MOST]]
    more = f", and {len(pairs) - _MOST} more pairs" if len(pairs) > _MOST else ""
    also = f" So do {', '.join(others)}{more}." if others else ""
    lowered.ctx.problems.found.append(
        Diagnostic(
            "MCPE378",
            f"`{_named(left, server)}` and `{_named(right, server)}` read alike",
            server.at,
            f"Agents choose by name and description.{also} This is for the server's authors to mend.",
            "say in both descriptions when to use which; a task with `expect` on one of them shows whether it is enough",
            "note",
        )
    )


def _named(tool: _Tool, server: Server) -> str:
    return tool.shown if tool.server.name == server.name else f"{tool.server.name}.{tool.shown}"
