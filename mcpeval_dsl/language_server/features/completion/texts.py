"""Language server, completion: inside a text in quotes: templates, values of arguments, paths of imports."""

from __future__ import annotations

import re
from collections.abc import Iterator
from posixpath import dirname, relpath

from mcpeval_dsl.language_server.features.completion import tools
from mcpeval_dsl.language_server.features.completion.model import Draft
from mcpeval_dsl.language_server.features.completion.place import Place
from mcpeval_dsl.language_server.features.completion.values import functions, members, values
from mcpeval_dsl.language_server.index import tools as known_tools
from mcpeval_dsl.language_server.index.walking import PATHS
from mcpeval_dsl.semantics.directives.operands import Quoted, TextValue
from mcpeval_dsl.semantics.reader import beside, inside
from mcpeval_dsl.syntax.tree import Directive

_TYPED = re.compile(r"(?P<chain>(?:[A-Za-z_][\w-]*\.)*)(?P<word>[\w-]*)\Z")
_QUOTES = re.compile(r'r?(?:"{3,}|"|\')')


def content(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the inside of a text in quotes begins and ends; up to the end of the line where it is not closed."""
    opening = _QUOTES.match(text, start, end)
    if opening is None:
        return start, end
    quotes = opening.group().removeprefix("r")
    closed = end - len(quotes) >= opening.end() and text[end - len(quotes) : end] == quotes
    return opening.end(), end - len(quotes) if closed else end


def template(place: Place, typed: str) -> tuple[int, list[Draft]] | None:
    """Proposals inside `{{ … }}`, and how many characters of `typed` (the text up to the cursor) they replace."""
    opening = typed.rfind("{{")
    if opening < 0 or "}}" in typed[opening:] or typed.startswith("r"):
        return None
    inside = typed[opening + 2 :]
    found = _TYPED.search(inside)
    if found is None:
        return 0, []
    chain = tuple(found["chain"].split(".")[:-1])
    before = inside[: found.start()].rstrip()
    if chain:
        return len(found["word"]), list(members(place, chain, template=True))
    if before.endswith("|"):
        return len(found["word"]), list(functions(place, template=True, piped=True))
    if before and before[-1] not in "(,[":
        return len(found["word"]), []
    drafts = [*values(place, template=True), *functions(place, template=True)]
    return len(found["word"]), drafts


def quoted(place: Place) -> Iterator[Draft]:
    """Proposals for the whole of a text in quotes, without its quotes."""
    slot, statement = place.slot, place.cursor.statement
    if slot.what == "value" and slot.callee is not None:
        for value in known_tools.choices(tools.schema_of(place.snapshot, slot)):
            if isinstance(value, str):
                yield Draft(value, "value", 5, "listed by the tool's schema", "", _escaped(value))
    elif slot.what == "member":
        for draft in tools.of_server(place.snapshot, slot.chain[0], called=False):
            yield draft._replace(text=_escaped(draft.label), snippet="")
    elif isinstance(statement, Directive) and statement.name.text == "import":
        folder = dirname(place.snapshot.path)
        for path in place.snapshot.files.paths():
            if path != place.snapshot.path:
                yield Draft(relpath(path, folder or "."), "file", 10, "a spec of the project")

    elif any(isinstance(leaf, (Quoted, TextValue)) and leaf.what.startswith(PATHS) for leaf in slot.leaves):
        yield from _files(place)


def _files(place: Place) -> Iterator[Draft]:
    """What is in the folder that is typed."""
    typed = place.cursor.prefix.lstrip("r").lstrip('"')
    folder = typed[: typed.rfind("/") + 1]
    target = beside(place.snapshot.path, folder or ".")
    if "{{" in typed or not inside(place.snapshot.path, f"{target}/x"):
        return
    for name in place.snapshot.files.entries(target):
        yield Draft(f"{folder}{name}", "file", 10, "a folder" if name.endswith("/") else "a file of the project")


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
