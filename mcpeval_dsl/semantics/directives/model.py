"""Semantics, the table: what one entry of the table of directives says, and what a kind of block admits."""

from __future__ import annotations

from typing import Literal, NamedTuple

from mcpeval_dsl.semantics.directives.operands import NOTHING, Operand

Repeat = Literal["one", "add"]
Availability = Literal["yes", "later"]


class BlockUse(NamedTuple):
    """The kind of block that follows a directive, and whether it must."""

    kind: str
    required: bool = True


class Directive(NamedTuple):
    """One word in the blocks `parents`.

    `repeat` says what a second one means: `one`, an error within one block (a task's replaces its profile's);
    `add`, they add up. `run` says whether `mcpe run` obeys it: `later` is refused at its place for now.
    """

    name: str
    parents: tuple[str, ...]
    operands: Operand = NOTHING
    doc: str = ""
    example: str = ""
    block: BlockUse | None = None
    repeat: Repeat = "one"
    default: str = ""
    run: Availability = "yes"
    negatable: bool = False


class Requirement(NamedTuple):
    """At least `least` and at most `most` statements of a block bear one of `names` (`most` None: any number)."""

    names: tuple[str, ...]
    least: int = 1
    most: int | None = None


class BlockKind(NamedTuple):
    """What a block of this kind admits beside its directives.

    `title` is how messages speak of it. `bindings` says what `name = value` means in it ('' when it may not stand
    there); with `binding_lists` the value must be a list. `calls` says that a tool call is a step in it.
    `opened_by` is the directive whose block it is, as a person writes it.
    """

    name: str
    title: str
    doc: str
    bindings: str = ""
    binding_lists: bool = False
    calls: bool = False
    requires: tuple[Requirement, ...] = ()
    opened_by: str = ""


def define(
    name: str,
    parents: str,
    operands: Operand,
    doc: str,
    example: str,
    *,
    block: str = "",
    repeat: Repeat = "one",
    default: str = "",
    run: Availability = "yes",
    negatable: bool = False,
) -> Directive:
    """An entry in short form: parents separated by blanks; a block kind with a final `?` is optional."""
    use = BlockUse(block.rstrip("?"), not block.endswith("?")) if block else None
    return Directive(name, tuple(parents.split()), operands, doc, example, use, repeat, default, run, negatable)
