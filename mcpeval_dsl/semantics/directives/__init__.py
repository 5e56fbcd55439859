"""Semantics, the table of directives: the words of the language as data.

The checker of shapes, the reference manual and the editor read this one table: which word may stand in which block,
with what operands, whether it may repeat, and what it means.
"""

from __future__ import annotations

from mcpeval_dsl.semantics.directives.agents import ARMS, HOSTS, MODELS
from mcpeval_dsl.semantics.directives.blocks import BLOCKS
from mcpeval_dsl.semantics.directives.checks import CHECKS
from mcpeval_dsl.semantics.directives.graders import COMPARING, GRADERS, JUDGING
from mcpeval_dsl.semantics.directives.model import BlockKind, BlockUse, Directive, Requirement
from mcpeval_dsl.semantics.directives.servers import ANNOTATIONS, ENVIRONMENTS, SERVERS, TASK_STEPS
from mcpeval_dsl.semantics.directives.tasks import ALLOWING, ASKING, READING
from mcpeval_dsl.semantics.directives.top import GATES, MATRIX, SUITE, TABLES, TOP
from mcpeval_dsl.semantics.directives.trouble import DIALOGUES, FAULTS, PLANTED

TABLE: tuple[Directive, ...] = (
    *TOP,
    *SUITE,
    *TABLES,
    *SERVERS,
    *ENVIRONMENTS,
    *ANNOTATIONS,
    *MODELS,
    *HOSTS,
    *ARMS,
    *READING,
    *ASKING,
    *ALLOWING,
    *TASK_STEPS,
    *FAULTS,
    *PLANTED,
    *DIALOGUES,
    *GRADERS,
    *COMPARING,
    *JUDGING,
    *MATRIX,
    *GATES,
    *CHECKS,
)

_KINDS: dict[str, BlockKind] = {kind.name: kind for kind in BLOCKS}
_BY_PARENT: dict[str, dict[str, Directive]] = {kind.name: {} for kind in BLOCKS}
_BY_NAME: dict[str, list[Directive]] = {}
for _entry in TABLE:
    _BY_NAME.setdefault(_entry.name, []).append(_entry)
    for _parent in _entry.parents:
        _BY_PARENT[_parent][_entry.name] = _entry


def directive_for(name: str, parent: str) -> Directive | None:
    """The directive `name` in blocks of kind `parent` (`file` at the top of a spec)."""
    return _BY_PARENT[parent].get(name)


def directives_in(parent: str) -> dict[str, Directive]:
    """All directives of a kind of block, by name, in the order of the table."""
    return _BY_PARENT[parent]


def directives_named(name: str) -> tuple[Directive, ...]:
    """All meanings a word has, each with its parents."""
    return tuple(_BY_NAME.get(name, ()))


def grader_named(name: str) -> Directive | None:
    """The grader `name`, as it stands after `grade` and within `any { }`."""
    return _BY_PARENT["grade_any"].get(name) if name != "not" else None


def block_kind(name: str) -> BlockKind:
    """The kind of block `name`; KeyError for one the table does not have."""
    return _KINDS[name]


__all__ = [
    "BLOCKS",
    "TABLE",
    "BlockKind",
    "BlockUse",
    "Directive",
    "Requirement",
    "block_kind",
    "directive_for",
    "directives_in",
    "directives_named",
    "grader_named",
]
