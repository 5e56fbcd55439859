"""Language server, index: one place where something is named, and the key by which places mean the same thing."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple, TypeAlias

Key: TypeAlias = tuple[Any, ...]
"""`(space, name)` for what the whole spec sees, `("local", offset)` for a name of one piece, `("field", Key, name)`."""

Role = Literal[
    "directive",
    "unknown",
    "word",
    "grader",
    "symbol",
    "field",
    "tool",
    "argument",
    "parameter",
    "function",
    "combinator",
    "behaviour",
    "effect",
    "constant",
    "metric",
    "axis",
    "tag",
    "header",
    "path",
    "key",
]
"""`key` is a member's name in an object, `parameter` a named argument of a function, `axis` of the matrix."""


class Occurrence(NamedTuple):
    """A name at `start..end` of a piece. Of `keys` the first that is defined counts; with `defines` the last is defined here.

    `detail` depends on the role: the kind of block around a directive, the directive of a word, the server of a tool,
    `server.tool` of an argument, the function of a parameter. `inside` says that it stands in a text's template.
    """

    start: int
    end: int
    role: Role
    name: str
    keys: tuple[Key, ...] = ()
    defines: bool = False
    detail: str = ""
    inside: bool = False


class Definition(NamedTuple):
    """What a defining occurrence defines: `kind` as the spec writes it, `start..end` its whole statement in the piece."""

    key: Key
    kind: str
    name: str
    name_start: int
    name_end: int
    start: int
    end: int
    title: str = ""
    origin: str = ""


def is_local(key: Key) -> bool:
    """Whether a key means something within one part only."""
    while key[0] == "field":
        key = key[1]
    return bool(key[0] == "local")


def depth(key: Key) -> int:
    """How many fields of fields a key goes through."""
    found = 0
    while key[0] == "field":
        key = key[1]
        found += 1
    return found
