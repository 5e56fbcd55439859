"""Evidence for graders, read while the trial's world still stands, so that grading again needs no re-run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import cast

from mcpeval_dsl.execute.folders import relocate as replace_text
from mcpeval_dsl.semantics.expressions import Source
from mcpeval_dsl.semantics.graders import AnyOf, Grader, ResultsHasReference, SameState, State, Unchanged
from mcpeval_dsl.semantics.model import Task
from mcpeval_dsl.values.model import EvaluationError, Reading, Scope, SourceReader
from mcpeval_dsl.values.sources import BEFORE, REFERENCE, source_key, sources_of


def graders_of(task: Task) -> tuple[Grader, ...]:
    """Graders of the whole trial: conditional ones too, and those inside `any`, each before its parts."""
    extra = (grader for conditional in task.conditionals for grader in conditional.graders)
    return tuple(_flat([*task.graders, *extra]))


def same_session(graders: Iterable[Grader]) -> tuple[Source, ...]:
    """What these graders want read in the agent's own session."""
    return tuple(s for g in _flat(graders) if _in_the_agents_session(g) for s in sources_of(g))


def fresh(graders: Iterable[Grader]) -> tuple[Source, ...]:
    """What these graders want read over connections of their own."""
    found: list[Source] = []
    for grader in _flat(graders):
        if not isinstance(grader, AnyOf) and not _in_the_agents_session(grader):
            found += sources_of(grader)
    return tuple(found)


def before(graders: Iterable[Grader]) -> tuple[Source, ...]:
    """What `unchanged` among these graders compares with."""
    return tuple(grader.source for grader in _flat(graders) if isinstance(grader, Unchanged))


def _flat(graders: Iterable[Grader]) -> Iterator[Grader]:
    for grader in graders:
        yield grader
        if isinstance(grader, AnyOf):
            yield from _flat(grader.graders)


def needs_reference(task: Task) -> bool:
    """Whether some grader compares with what `reference` does."""
    return compare_with_reference(graders_of(task))


def compare_with_reference(graders: Iterable[Grader]) -> bool:
    return any(isinstance(grader, SameState | ResultsHasReference) for grader in _flat(graders))


def views(graders: Iterable[Grader]) -> tuple[Source, ...]:
    """What `same_state` among these graders compares."""
    return tuple(view for grader in _flat(graders) if isinstance(grader, SameState) for view in grader.views)


def same_session_sources(task: Task) -> tuple[Source, ...]:
    """What is to be read in the agent's own session, before it ends."""
    return same_session(graders_of(task))


def _in_the_agents_session(grader: Grader) -> bool:
    return isinstance(grader, State | SameState | Unchanged) and grader.session == "same"


def fresh_sources(task: Task) -> tuple[Source, ...]:
    """What is read at the end of the trial over connections of its own."""
    return fresh(graders_of(task))


def before_sources(task: Task) -> tuple[Source, ...]:
    """What `unchanged` compares with: read after the set-up, before the agent."""
    return before(graders_of(task))


def view_sources(task: Task) -> tuple[Source, ...]:
    """What `same_state` compares, read in the second environment after `reference`."""
    return views(graders_of(task))


async def read_evidence(
    sources: Iterable[Source], scope: Scope, reader: SourceReader, prefix: str = ""
) -> dict[str, Reading]:
    """Readings by key. A source whose arguments have no value here is left out: its grader will say so."""
    found: dict[str, Reading] = {}
    for source in sources:
        try:
            key = prefix + source_key(source, scope)
        except EvaluationError:
            continue
        if key not in found:
            found[key] = await reader.read(source, scope)
    return found


async def read_reference(
    sources: Iterable[Source], scope: Scope, own: Scope, reader: SourceReader, workdirs: tuple[str, str]
) -> dict[str, Reading]:
    """Views of the second environment (`own` scope), under the keys they have in the trial's `scope`.

    `workdirs` are the second environment's and the trial's: texts are written as if they came from the trial's.
    """
    found: dict[str, Reading] = {}
    for source in sources:
        try:
            key = REFERENCE + source_key(source, scope)
        except EvaluationError:
            continue
        if key not in found:
            found[key] = relocated(await reader.read(source, own), *workdirs)
    return found


def relocated(reading: Reading, old: str, new: str) -> Reading:
    """The reading with one work directory written as another."""
    return replace(
        reading,
        text=reading.text.replace(old, new),
        structured=replace_text(reading.structured, old, new),
        fields=cast(dict[str, object], replace_text(dict(reading.fields), old, new)),
    )


__all__ = [
    "BEFORE",
    "REFERENCE",
    "before_sources",
    "fresh_sources",
    "graders_of",
    "needs_reference",
    "read_evidence",
    "read_reference",
    "relocated",
    "same_session_sources",
    "view_sources",
]
