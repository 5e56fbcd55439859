"""Pages to look at: a run with a bit of everything, one with thousands of trials, and one whose every text is hostile."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from mcpeval_dsl.report.html.content import About, Content, gather
from mcpeval_dsl.report.html.packing import Pieces
from mcpeval_dsl.report.html.page import render
from mcpeval_dsl.report.html.telling import told
from mcpeval_dsl.source import SourceFile
from tests.report import gallery

SPEC = SourceFile("specs/demo.mcpe", 'suite tracker "Issue tracker" {\n}\n\n  grade exact billing.key\n')
HOSTILE = "".join(
    (
        "</script><script>hit()</script>",
        "<img src=x onerror=hit()>",
        "--><svg onload=hit()>",
        '" autofocus onfocus=hit() x="',
        "javascript:hit()",
        "{{ hit() }}${hit()}",
        "\u2028hit()\u2029\u202egnirts\u202c",
        "<style>@import 'http://127.0.0.1:9/x'</style><link rel=stylesheet href=//127.0.0.1:9/y>",
    )
)
ENDLESS = "W" * 300
_WORDS = "format word verdict outcome printed columns css split kind by origin severity stages status decision"
_KEPT = frozenset(_WORDS.split())


@cache
def everything() -> Content:
    made = gallery.plan()
    about = About("tracker-20261130-100000-0001", made, None, {SPEC.path: SPEC}.get)
    found = list(gallery.records(made))
    return gather(about, gallery.scored(made, found), found)


def thousands(count: int = 5000) -> Content:
    """As many trials, each but the second with a transcript of its own; the scorecard is that of the small run."""
    small, made = everything(), gallery.plan()
    transcripts = [told(record) for record in gallery.records(made, words=4)]
    rows, pieces = small.data["trials"]["rows"], Pieces()
    many = []
    for number in range(count):
        row, transcript = list(rows[number % len(rows)]), transcripts[number % len(rows)]
        row[2] = number + 1
        many.append(row)
        pieces.add({**transcript, "number": number + 1, "seed": str(number)})
    pieces.close()
    pieces.places[1] = None  # as in a page that would be too large
    data = {**small.data, "trials": {**small.data["trials"], "rows": many}, "places": pieces.places}
    return Content(small.title, data, tuple(pieces.done))


def hostile(text: str) -> Content:
    """Every text that comes from a spec, a server or a model is `text`, keys of objects too; words of ours stay."""
    small, made = everything(), gallery.plan()
    pieces = Pieces()
    for record in gallery.records(made):
        pieces.add(_poisoned(told(record), text))
    pieces.close()
    data = _poisoned(small.data, text)
    data["trials"], data["places"] = small.data["trials"], pieces.places
    names = {key: [f"{text} {n}" for n, _ in enumerate(found)] for key, found in data["trials"]["names"].items()}
    names |= {key: small.data["trials"]["names"][key] for key in ("outcome", "printed")}
    data["trials"] = {**data["trials"], "names": names}
    return replace(small, title=text, data=data, pieces=tuple(pieces.done))


def _poisoned(value: Any, text: str, key: str = "") -> Any:
    if isinstance(value, str):
        return value if key in _KEPT else f"{text} {len(value)}"
    if isinstance(value, dict):
        open_ended = key in ("arguments", "structured", "packages", "servers")
        return {(f"{text} {k}" if open_ended else k): _poisoned(item, text, k) for k, item in value.items()}
    if isinstance(value, list | tuple):
        return [_poisoned(item, text, key if isinstance(item, str) else "") for item in value]
    return value


def written(folder: Any, name: str, content: Content) -> str:
    """The page as a file; its address."""
    path = folder / f"{name}.html"
    path.write_text(render(content, "the scorecard as text"), encoding="utf-8")
    return f"file://{path}"
