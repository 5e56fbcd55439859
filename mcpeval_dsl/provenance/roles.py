"""Provenance: is the field that a value was seen in the kind of thing that an argument asks for?

An argument `issue_id` of `get_issue` speaks of an *issue* by its *id*; so does the field `id` below `issues`. An id is not
a number and not a title, and a user's id is not an issue's.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KINDS = {
    "id": "id",
    "uuid": "id",
    "guid": "id",
    "key": "key",
    "name": "name",
    "number": "number",
    "num": "number",
    "no": "number",
    "iid": "number",
    "path": "path",
    "file": "path",
    "filename": "path",
    "url": "url",
    "uri": "url",
    "title": "title",
    "slug": "slug",
    "code": "code",
    "sha": "hash",
    "hash": "hash",
    "commit": "hash",
    "revision": "hash",
    "cursor": "cursor",
    "token": "cursor",
    "email": "email",
}
_ANYWHERE = frozenset({"path", "url", "hash", "cursor", "email"})
# What people are called by what they do with a thing: `assignee` of an issue is a user.
_PEOPLE = word_set("assignee reporter author creator owner member manager reviewer requester submitter approver lead")
_PERSON = word_set("user person account member people")
_NOT_NOUNS = word_set(
    "get list read show find search fetch describe lookup load open query view log stat update set create "
    "add delete remove close move new by for of in from to all many the a an next previous current s "
    "single details detail info data item items result results entry entries record records value values "
    "object objects output content response hit hits match matches"
)
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


@dataclass(frozen=True, slots=True)
class Role:
    """What is named (singular nouns) and by what; `kind` None where the noun itself is the name (`branch`)."""

    nouns: frozenset[str]
    kind: str | None


@lru_cache(maxsize=4096)
def words(name: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORDS.findall(name))


def singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 2 else word


@lru_cache(maxsize=4096)
def nouns_of(name: str) -> frozenset[str]:
    """Things that a tool's or container's name speaks of, without verbs and kinds."""
    return frozenset(
        singular(w) for w in words(name) if w not in _NOT_NOUNS and singular(w) not in _KINDS and not w.isdigit()
    )


def _own(name: str) -> Role:
    parts = words(name)
    kind = _KINDS.get(singular(parts[-1])) if parts else None
    return Role(nouns_of(name), kind)


def role_of_argument(tool: str, path: Sequence[str]) -> Role:
    """`path` are the names on the way to the argument, its own last; the tool's noun where the argument has none."""
    return _role(tool, tuple(path))


def role_of_field(tool: str, path: Sequence[str]) -> Role:
    """`path` are the field names above a value; its nearest container's noun, or the providing tool's, where it has none."""
    return _role(tool, tuple(path))


@lru_cache(maxsize=8192)
def _role(tool: str, path: tuple[str, ...]) -> Role:
    own = _own(path[-1] if path else "")
    if own.nouns:
        return own
    for name in reversed(path[:-1]):
        if nouns_of(name):
            return Role(nouns_of(name), own.kind)
    return Role(nouns_of(tool), own.kind)


def names_a_person(argument: Role, field: Role, form: str) -> bool:
    """A field such as `assignee` where a user is wanted, as long as the value is no display name."""
    same_kind = field.kind is None or field.kind == argument.kind
    by_handle = not any(c.isspace() for c in form) and form == form.lower()
    return bool(argument.nouns & _PERSON and field.nouns & _PEOPLE) and same_kind and by_handle


@lru_cache(maxsize=8192)
def relation(argument: Role, field: Role) -> Literal["match", "conflict", "unclear"]:
    """`match`: the same thing by the same kind of name. `unclear` only where one side does not say what it names."""
    kinds_differ = argument.kind != field.kind and argument.kind is not None and field.kind is not None
    if kinds_differ:
        return "conflict"
    if argument.nouns & field.nouns:
        plain = argument.kind is None or field.kind is None
        wrong = plain and (argument.kind in ("number", "title") or field.kind in ("number", "title"))
        return "conflict" if wrong else "match"
    if argument.kind is not None and argument.kind == field.kind and argument.kind in _ANYWHERE:
        return "unclear"
    return "unclear" if not argument.nouns or not field.nouns else "conflict"
