"""Language server, completion: an offset -> what may be written there, the likeliest first.

Where the cursor stands is found from the tokens before it and the table of directives, so half-written blocks do not
matter; nothing is proposed inside comments and plain text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mcpeval_dsl.language_server.features.completion import operands, texts, tools, values
from mcpeval_dsl.language_server.features.completion.model import Draft, Item
from mcpeval_dsl.language_server.features.completion.place import Place
from mcpeval_dsl.language_server.features.completion.statements import statements
from mcpeval_dsl.language_server.index.cursor import cursor
from mcpeval_dsl.language_server.index.slots import slot
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.semantics.directives import block_kind
from mcpeval_dsl.semantics.directives import operands as op
from mcpeval_dsl.syntax.tree import Binding

MOST = 500
_LESS = 100  # what a label that only holds the typed letters comes behind one that begins with them
TRIGGERS = (".", '"', "(", "{", ":", "$", "|", " ")


def complete(snapshot: Snapshot, offset: int) -> list[Item]:
    """Proposals at an offset, best first; empty where nothing can be proposed."""
    part = snapshot.part_at(offset)
    here = cursor(part.body, offset - part.start)
    where = None if here is None else slot(here)
    if here is None or where is None:
        return []
    place = Place(snapshot, part, offset, here, where)
    if here.token is not None and here.token.kind == "JSONPATH":
        typed = here.prefix.rpartition(".")[2] if "." in here.prefix else ""
        drafts: Iterable[Draft] = tools.path(snapshot, here.opening, here.prefix) if "." in here.prefix else ()
        return _placed(drafts, offset - len(typed), part.start + here.end, typed)
    if here.token is not None:
        return _in_text(place)
    return _placed(_drafts(place), part.start + here.start, part.start + here.end, here.prefix)


def _in_text(place: Place) -> list[Item]:
    """Inside quotes."""
    found = texts.template(place, place.prefix)
    if found is not None:
        size, drafts = found
        return _placed(drafts, place.offset - size, place.offset, place.prefix[len(place.prefix) - size :])
    start, end = texts.content(
        place.snapshot.text, place.part.start + place.cursor.start, place.part.start + place.cursor.end
    )
    if place.offset < start or place.offset > end:
        return []
    return _placed(texts.quoted(place), start, end, place.snapshot.text[start : place.offset])


def _drafts(place: Place) -> Iterator[Draft]:
    where = place.slot
    if where.what == "statement":
        yield from statements(place.snapshot, place.kind)
    elif where.what == "member":
        yield from values.metric_parts(where.chain) if where.mode == "metric" else values.members(place, where.chain)
    elif where.what == "argument":
        yield from tools.arguments(place.snapshot, where)
        if where.callee is not None and where.callee.kind == "function":
            yield from values.values(place)
    elif where.what == "key":
        yield from tools.keys(place.snapshot, where)
    elif where.left is not None and where.callee is None:
        yield from operands.compared(place, where.leaves, where.left)
    elif where.what == "operand":
        for leaf in where.leaves:
            yield from operands.leaf(place, leaf)
    else:
        yield from _value(place)


def _value(place: Place) -> Iterator[Draft]:
    where = place.slot
    if where.argument:
        yield from tools.values(place.snapshot, where)
        yield from values.values(place)
    elif where.mode == "pattern":
        yield from operands.patterns(place)
    elif where.mode == "metric" and where.callee is not None and where.callee.name == "gap":
        yield from values.axis_members(place, "split")
    elif where.mode == "metric":
        yield from values.named(place, ("arm", "server", "model", "host"), "name", 15)
    elif any(isinstance(leaf, op.NameList) for leaf in where.leaves):
        yield from operands.axes(place)
    elif where.mode == "source":
        yield from values.sources(place)
    elif where.callee is None and isinstance(place.cursor.statement, Binding) and block_kind(place.kind).calls:
        yield from values.sources(place)  # a step that binds a name
    else:
        yield from values.values(place)


def _placed(drafts: Iterable[Draft], start: int, end: int, prefix: str) -> list[Item]:
    """Those that fit what is typed, each label once."""
    found: dict[str, Item] = {}
    for draft in drafts:
        if draft.label in found or not fits(prefix, draft.label):
            continue
        begins = draft.label.lower().startswith(prefix.lower().rstrip("*"))
        rank = draft.rank + (0 if begins else _LESS)
        text = draft.text or draft.label
        found[draft.label] = Item(
            draft.label, draft.kind, start, end, text, rank, draft.detail, draft.documentation, draft.snippet
        )
    return sorted(found.values(), key=lambda item: item.rank)[:MOST]


def fits(prefix: str, label: str) -> bool:
    """Whether the typed letters stand in the label in their order, without regard to case."""
    letters = iter(label.lower())
    return all(letter in letters for letter in prefix.lower().strip("*"))
