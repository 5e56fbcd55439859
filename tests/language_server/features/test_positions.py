"""What features give as offsets lands on the same words in every encoding of positions."""

from __future__ import annotations

import pytest

from mcpeval_dsl.language_server.features.completion import complete
from mcpeval_dsl.language_server.features.rename import Refusal, rename
from mcpeval_dsl.language_server.positions import Encoding, Position
from tests.language_server.features.marked import Memory

TEXT = 'harvest billing = s.list() { key = $.key }\r\ntask t {\r\n\tprompt "🦊é {{ billing.key }} 🦊 {{ billing.key }}"\r\n}\r\n'
UNITS: dict[Encoding, tuple[str, int]] = {"utf-8": ("utf-8", 1), "utf-16": ("utf-16-le", 2), "utf-32": ("utf-32-le", 4)}


def edited(text: str, encoding: Encoding, edits: list[tuple[Position, Position, str]]) -> str:
    """The text after edits by positions, applied as an editor does, in units of the encoding."""
    name, size = UNITS[encoding]
    lines = text.split("\r\n")
    for (line, start), (end_line, end), new in sorted(edits, reverse=True):
        assert line == end_line
        units = lines[line].encode(name)
        lines[line] = units[: start * size].decode(name) + new + units[end * size :].decode(name)
    return "\r\n".join(lines)


@pytest.mark.parametrize("encoding", list(UNITS))
def test_rename(encoding: Encoding) -> None:
    snapshot = Memory({"a.mcpe": TEXT}, encoding=encoding).snapshot("a.mcpe")
    assert snapshot is not None
    found = rename(snapshot, snapshot.offset((0, 10)), "x")
    assert not isinstance(found, Refusal)
    edits = [(snapshot.position(c.start), snapshot.position(c.end), c.text) for c in found]
    assert edited(TEXT, encoding, edits) == TEXT.replace("billing", "x")


@pytest.mark.parametrize("encoding", list(UNITS))
def test_completion(encoding: Encoding) -> None:
    snapshot = Memory({"a.mcpe": TEXT}, encoding=encoding).snapshot("a.mcpe")
    assert snapshot is not None
    name, size = UNITS[encoding]
    before = '\tprompt "🦊é {{ billing.key }} 🦊 {{ billing.k'
    offset = snapshot.offset((2, len(before.encode(name)) // size))
    item = next(i for i in complete(snapshot, offset) if i.label == "key")
    where = (snapshot.position(item.start), snapshot.position(offset), "KEY")
    assert edited(TEXT, encoding, [where]) == TEXT[: TEXT.rindex("key")] + 'KEYey }}"\r\n}\r\n'
