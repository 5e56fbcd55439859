"""Language server, rename: one name in all files that share it, in templates of texts and in quotes too.

Refused, with the reason, where the result would not mean the same: words of the language, names that are taken or that
a nearer one would hide, names that are no names, and where the old name stands in text that cannot be read.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple

from mcpeval_dsl.language_server.index.model import Key, is_local
from mcpeval_dsl.language_server.index.part import PartIndex, index
from mcpeval_dsl.language_server.index.project import Found, Place, Site, around, definitions, find, places, too_large
from mcpeval_dsl.language_server.parts import Body
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.semantics.definitions import AXES, LITERALS
from mcpeval_dsl.semantics.directives import TABLE, directives_in
from mcpeval_dsl.semantics.directives.blocks import BLOCKS
from mcpeval_dsl.semantics.directives.functions import FUNCTIONS
from mcpeval_dsl.semantics.directives.metrics import SEGMENTS
from mcpeval_dsl.semantics.directives.patterns import BEHAVIOURS, COMBINATORS, EFFECT_CLASSES
from mcpeval_dsl.semantics.directives.variables import VARIABLES
from mcpeval_dsl.semantics.expressions import CONSTANTS
from mcpeval_dsl.semantics.shape.items import bare
from mcpeval_dsl.syntax.tree import Directive

_NAME = re.compile(r"[A-Za-z_]\w*(?:-\w+)*")
_BINDING = re.compile(r"\s*=(?!=)")
_OPERATORS = frozenset({"in", "has", "under", "not"})
_OF_TEMPLATES = frozenset({"and", "or", "if", "else", "elif", "for", "is", "set", "filter", "loop", "self", "None"})
_TEXT = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\"""")
_OPEN = ("tag", "cluster", "difficulty")  # words that nothing defines
_VALUES = ("value", "environment", "local")
_IN_PATTERNS = ("server", "catalogue", *_VALUES)


class Refusal(NamedTuple):
    """Why a name cannot be changed, or not to that."""

    reason: str


class Renameable(NamedTuple):
    start: int
    end: int
    name: str


class Change(NamedTuple):
    """`text` replaces `start..end` of a file."""

    snapshot: Snapshot
    start: int
    end: int
    text: str


def prepare(snapshot: Snapshot, offset: int) -> Renameable | Refusal:
    """The name at an offset, if it may be renamed."""
    found = find(snapshot, offset)
    if found is None:
        return Refusal("there is no name here")
    occurrence = found.occurrence
    if occurrence.role in ("tool", "argument"):
        return Refusal(f"`{occurrence.name}` is a name of the server's, which a spec cannot change")
    if found.key is None or occurrence.role in ("axis", "metric", "constant"):
        return Refusal(f"`{occurrence.name}` is a word of the language")
    if not found.sites and found.key[0] not in _OPEN:
        known = any(variable.name == occurrence.name for variable in VARIABLES)
        why = "is there without being defined" if known else "is not defined anywhere"
        return Refusal(f"`{occurrence.name}` {why}")
    if any(_is_of_a_file(site) for site in found.sites):
        return Refusal(f"`{occurrence.name}` is a column of a file, which a spec cannot change")
    return Renameable(found.start, found.end, occurrence.name)


def rename(snapshot: Snapshot, offset: int, name: str) -> list[Change] | Refusal:
    """The edits that give the name at an offset another one, in all files; or why that cannot be."""
    ready = prepare(snapshot, offset)
    if isinstance(ready, Refusal):
        return ready
    found = find(snapshot, offset)
    assert found is not None and found.key is not None
    if name == ready.name:
        return []
    large = next((file.path for file in around(snapshot) if too_large(file)), None)
    if large is not None:
        return Refusal(f"{large} is too large to look for `{ready.name}` in it")
    everywhere = list(places(found))
    refused = (
        _word(found.key, name) or _taken(found, found.key, name, everywhere) or _unread(found, ready.name, everywhere)
    )
    if refused:
        return refused
    changes = [_change(place, name) for place in everywhere]
    return _read_otherwise(everywhere, name) or changes


def _is_of_a_file(site: Site) -> bool:
    """A column of a table whose rows stand in a file: the name is that of the file's header."""
    if site.definition.kind != "column":
        return False
    at = site.definition.start
    around = [each for each in site.part.body.statements if each.span.start <= at < each.span.end]
    return any(
        isinstance(each, Directive)
        and any(bare(item) == "file" for group in each.groups[:1] for item in group.items[1:])
        for each in around
    )


def _read_otherwise(everywhere: list[Place], name: str) -> Refusal | None:
    """Refuse a name that is read as something else where it would stand: a word of that block, or no name in a template."""
    parts: dict[tuple[str, int], list[Place]] = {}
    for place in sorted(everywhere, key=lambda each: each.start):
        parts.setdefault((place.snapshot.path, place.snapshot.part_at(place.start).start), []).append(place)
    alike = _is_any_name(name) and all(_is_any_name(place.occurrence.name) for place in everywhere)
    for (path, begin), places_in in parts.items():
        if alike and name not in places_in[0].snapshot.part_at(places_in[0].start).body.text:
            continue  # one name that is no word for another: it is read as before
        text, starts = _renamed(places_in, begin, name)
        after = PartIndex(Body(path, text))
        for place, start in zip(places_in, starts, strict=True):
            now, was = after.at(start), place.occurrence
            same = now is not None and (now.start, now.name, now.role, now.defines) == (
                start,
                name,
                was.role,
                was.defines,
            )
            hidden = was.inside and "-" in name and _beside_function(place)
            if not same or hidden or _binds_a_word(after, text, start, name):
                line = place.snapshot.position(place.start)[0] + 1
                return Refusal(f"`{name}` would not be read as a name in {path}, line {line}")
    return None


def _is_any_name(name: str) -> bool:
    """Whether it is a name that the language cannot tell from another one: no word of any of its tables, and no `-` in it."""
    return "-" not in name and name not in _words()


@cache
def _words() -> frozenset[str]:
    """Every word of the tables, but of their explanations and examples, and those of templates: rather too many than too few."""
    tables = (TABLE, BLOCKS, FUNCTIONS, VARIABLES, AXES, SEGMENTS, BEHAVIOURS, COMBINATORS, EFFECT_CLASSES, CONSTANTS)
    said = repr((tables, _OPERATORS, LITERALS, _OF_TEMPLATES))
    return frozenset(word for text in _TEXT.findall(said) if " " not in text for word in re.findall(r"\w+", text))


def _renamed(places_in: list[Place], begin: int, name: str) -> tuple[str, list[int]]:
    """The text of a part with the new name at all of its places, and where it stands then."""
    before = places_in[0].snapshot.part_at(places_in[0].start).body.text
    text, last, starts = "", 0, list[int]()
    for place in places_in:
        change = _change(place, name)
        text += before[last : change.start - begin]
        starts.append(len(text))
        text += name
        last = change.end - begin
    return text + before[last:], starts


def _binds_a_word(after: PartIndex, text: str, start: int, name: str) -> bool:
    """Whether `name = …` stands in a block that has a word of this name."""
    before = text[text.rfind("\n", 0, start) + 1 : start].rstrip()
    if not _BINDING.match(text, start + len(name)) or before[-1:] not in ("", "{", ";"):
        return False
    kind = [kind for begin, end, kind, _ in after.blocks if begin < start < end][-1:]
    return any(name in directives_in(each) for each in kind)


def _beside_function(place: Place) -> bool:
    """Whether the template around a name has a function, beside which only names without `-` can be read."""
    text = place.snapshot.text
    around = text[text.rfind("{{", 0, place.start) : text.find("}}", place.end)]
    return "|" in around or "(" in around


def _word(key: Key, name: str) -> Refusal | None:
    """Refuse what is no name, or has a meaning of its own there."""
    if not _NAME.fullmatch(name):
        return Refusal(
            f"`{name}` is no name: letters, digits, `_`, and `-` between them, beginning with a letter or `_`"
        )
    if key[0] in _VALUES and name.lower() in LITERALS:
        return Refusal(f"`{name}` is a word of the language")
    taken = {*_OPERATORS, *CONSTANTS}
    if key[0] in _VALUES:
        taken |= {variable.name for variable in VARIABLES}
        taken |= {*AXES, *SEGMENTS} if key[0] == "value" else set()
    if key[0] in _IN_PATTERNS:
        taken |= {*COMBINATORS, *BEHAVIOURS, *EFFECT_CLASSES}
    return Refusal(f"`{name}` is a word of the language") if name in taken else None


def _taken(found: Found, key: Key, name: str, everywhere: list[Place]) -> Refusal | None:
    """Refuse a name that means something else where this one stands."""
    home = found.sites[0].snapshot if found.sites else found.snapshot
    rivals = _rivals(key, name)
    for file in around(home):
        known = definitions(file)
        for rival in rivals:
            if rival in known:
                line = file.position(known[rival][0].name_span[0])[0] + 1
                return Refusal(f"`{name}` is already defined in {file.path}, line {line}")
    if key[0] in _OPEN or key[0] == "field":
        return None if key[0] in _OPEN else _hidden(found, key, name)
    for place in everywhere:
        line = place.snapshot.position(place.start)[0] + 1
        if any((space[0], name) in definitions(home) for space in place.occurrence.keys if space != key):
            return Refusal(f"`{name}` would mean something else in {place.snapshot.path}, line {line}")
        part = place.snapshot.part_at(place.start)
        scope = index(part.body).scope_at(place.start - part.start)
        if key[0] in _VALUES and scope.find(name) is not None:
            return Refusal(f"`{name}` means something else in {place.snapshot.path}, line {line}")
    return None


def _unread(found: Found, name: str, everywhere: list[Place]) -> Refusal | None:
    """Refuse where the name may stand in text that cannot be read: it would be left as it is there."""
    files = {place.snapshot.path: place.snapshot for place in everywhere}
    local = found.key is not None and is_local(found.key)
    for file in files.values():
        for part in [found.part] if local else file.parts:
            if name not in part.body.text:
                continue
            if not index(part.body).whole:
                line = file.position(part.start)[0] + 1
                return Refusal(f"what begins in {file.path}, line {line}, is too large to look for `{name}` in it")
            if not part.body.problems:
                continue
            read = {occurrence.start for occurrence in index(part.body).occurrences}
            for token in part.body.tokens:
                if token.kind == "NAME" and token.start not in read and part.body.text[token.start : token.end] == name:
                    line = file.position(part.start + token.start)[0] + 1
                    return Refusal(f"`{name}` stands in {file.path}, line {line}, where the text cannot be read")
    return None


def _hidden(found: Found, key: Key, name: str) -> Refusal | None:
    """A field of the same owner that has the name already; owners of one part are not known to the whole spec."""
    if is_local(key) and any(d.key == ("field", key[1], name) for d in index(found.part.body).definitions):
        return Refusal(f"`{name}` is already bound in the same block")
    return None


def _rivals(key: Key, name: str) -> list[Key]:
    """Keys that would clash with the new name."""
    if key[0] == "field":
        return [("field", key[1], name)]
    if key[0] in _VALUES:
        return [(space, name) for space in ("value", "environment")]
    if key[0] in ("server", "catalogue"):
        return [("server", name), ("catalogue", name)]
    if key[0] in ("model", "judge"):
        return [("model", name), ("judge", name)]
    return [] if key[0] in _OPEN else [(key[0], name)]


def _change(place: Place, name: str) -> Change:
    """The edit of one place; quotes that the new name does not need go with the old one."""
    text, start, end = place.snapshot.text, place.start, place.end
    if not place.occurrence.inside and text[start - 1 : start] == '"' and text[end : end + 1] == '"':
        start, end = start - 1, end + 1
    return Change(place.snapshot, start, end, name)
