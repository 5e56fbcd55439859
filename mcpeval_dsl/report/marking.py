"""Report, below Markdown: texts of others as Markdown that shows them and obeys none of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from mcpeval_dsl.diagnostics.render.safe import visible

_LONGEST = 300
_MARKUP = re.compile(r"([\\`*_{}\[\]()#+\-.!|~>:@])")
_BACKTICKS = re.compile(r"`+")


def code(text: str) -> str:
    """A code span: no markup, autolink or mention works inside one. Empty for an empty text."""
    line = visible(" ".join(text.split()))
    if not line:
        return ""
    line = line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
    fence = "`" * (max((len(run) for run in _BACKTICKS.findall(line)), default=0) + 1)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    # GitHub splits a row of a table before it looks for code spans
    return f"{fence}{pad}{line}{pad}{fence}".replace("|", "\\|")


def plain(text: str) -> str:
    """Running text: HTML and Markdown escaped, on one line."""
    line = visible(" ".join(text.split()))
    line = line.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")
    return _MARKUP.sub(r"\\\1", line)


def rows(head: Sequence[str], found: Iterable[Sequence[str]], right: Iterable[int] = ()) -> list[str]:
    """A table; its cells are Markdown already. Columns in `right` end together."""
    ends = set(right)
    rule = ["---:" if column in ends else "---" for column in range(len(head))]
    return [f"| {' | '.join(row)} |" for row in (head, rule, *found)]
