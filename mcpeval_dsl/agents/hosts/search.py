"""Inside a host that defers tools: which of them a query finds. Okapi BM25 over names, descriptions and argument names.

Deterministic: equal scores keep the order of the catalogue. K1 and B are the usual 1.2 and 0.75 (Robertson and Zaragoza
2009, "The Probabilistic Relevance Framework: BM25 and Beyond", section 3.2).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from mcpeval_dsl.agents.model import WireTool

K1 = 1.2
B = 0.75
MOST_FOUND = 8
_WORD = re.compile(r"[a-z]+|[0-9]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class ToolIndex:
    """Made once a trial; a query costs one pass over the tools that share a word with it."""

    def __init__(self, tools: Sequence[WireTool]) -> None:
        self._tools = tuple(tools)
        texts = [Counter(_words_of(tool)) for tool in tools]
        self._lengths = [sum(text.values()) for text in texts]
        self._mean = sum(self._lengths) / len(texts) if texts else 0.0
        self._postings: dict[str, list[tuple[int, int]]] = {}
        for place, text in enumerate(texts):
            for word, times in text.items():
                self._postings.setdefault(word, []).append((place, times))

    def find(self, query: str, most: int = MOST_FOUND) -> tuple[WireTool, ...]:
        """The best matches, best first; nothing where no word is shared."""
        scores: dict[int, float] = {}
        for word in dict.fromkeys(_words(query)):
            found = self._postings.get(word, ())
            rarity = math.log(1 + (len(self._tools) - len(found) + 0.5) / (len(found) + 0.5))
            for place, times in found:
                room = K1 * (1 - B + B * self._lengths[place] / self._mean)
                scores[place] = scores.get(place, 0.0) + rarity * times * (K1 + 1) / (times + room)
        best = sorted(scores, key=lambda place: (-scores[place], place))
        return tuple(self._tools[place] for place in best[:most])


def _words_of(tool: WireTool) -> Iterable[str]:
    yield from _words(tool.tool)
    yield from _words(tool.wire_name)
    yield from _words(tool.description)
    properties = tool.schema.get("properties")
    for name in properties if isinstance(properties, dict) else ():
        yield from _words(name)


def _words(text: str) -> list[str]:
    """Lower-case words and numbers; `listIssues` and `list_issues` are both two. A final plural `s` is dropped."""
    found = _WORD.findall(_HUMP.sub(" ", text).lower())
    return [word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word for word in found]
