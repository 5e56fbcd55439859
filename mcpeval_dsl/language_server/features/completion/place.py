"""Language server, completion: everything a proposal may depend on, in one value."""

from __future__ import annotations

from dataclasses import dataclass

from mcpeval_dsl.language_server.index.cursor import Cursor
from mcpeval_dsl.language_server.index.slots import Slot
from mcpeval_dsl.language_server.parts import Part
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.semantics.shape.items import bare
from mcpeval_dsl.syntax.tree import Directive


@dataclass(frozen=True, slots=True)
class Place:
    """`offset` is of the whole text; `cursor` and `slot` say where in its statement it stands."""

    snapshot: Snapshot
    part: Part
    offset: int
    cursor: Cursor
    slot: Slot

    @property
    def kind(self) -> str:
        return self.cursor.kind

    @property
    def prefix(self) -> str:
        return self.cursor.prefix

    @property
    def word(self) -> str:
        """The word under the cursor, as far as it is typed."""
        return self.part.body.text[self.cursor.start : self.cursor.end]

    @property
    def negated(self) -> bool:
        """Whether the grader that is typed stands behind `not`."""
        statement = self.cursor.statement
        if not isinstance(statement, Directive) or statement.name.text == "not":
            return True
        return any(bare(item) == "not" for group in statement.groups for item in group.items)

    @property
    def catalogue(self) -> str:
        """Whose tools bare names mean: that of `annotations NAME { }`."""
        if self.kind != "annotations":
            return ""
        words = self.cursor.opening.split()
        return words[1] if len(words) > 1 else ""
