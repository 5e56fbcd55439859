"""Semantics, the table: combinators, behaviours and effect classes of call patterns."""

from __future__ import annotations

from typing import NamedTuple


class Combinator(NamedTuple):
    """`counted`: its first argument is a number. `most`: most patterns it takes (None: any number)."""

    name: str
    doc: str
    example: str
    counted: bool = False
    most: int | None = None


class Behaviour(NamedTuple):
    name: str
    doc: str


COMBINATORS: dict[str, Combinator] = {
    c.name: c
    for c in (
        Combinator("any", "One of the patterns.", "any(search_nodes, read_graph)"),
        Combinator("ordered", "The patterns one after the other, others between them.", "ordered(git_add, git_commit)"),
        Combinator("optional", "Allowed, not needed.", "optional(get_issue)", most=1),
        Combinator("none", "No call of these.", "none(delete_*)"),
        Combinator("only", "No call but these.", "only(list_*, get_*)"),
        Combinator("exactly", "So many calls of the pattern.", "exactly(1, create_issue)", counted=True),
        Combinator("at_least", "So many calls or more.", "at_least(2, browser_type)", counted=True),
        Combinator("at_most", "So many calls or fewer.", "at_most(6, execute_query)", counted=True),
        Combinator("errors", "Calls of the pattern that end in an error.", "errors(get_item)"),
    )
}

BEHAVIOURS: dict[str, Behaviour] = {
    b.name: b
    for b in (
        Behaviour("refusal", "The agent declines. In `expect` it decides like a grader."),
        Behaviour("question", "The agent asks for what it was not told."),
        Behaviour("confirmation", "The agent asks before it acts."),
        Behaviour("recovery", "The agent gets to its goal after an error."),
    )
}

EFFECT_CLASSES: dict[str, str] = {
    "readonly": "Every call annotated as changing nothing.",
    "additive": "Every call annotated as writing and destroying nothing.",
    "destructive": "Every call annotated as taking away or overwriting.",
}
