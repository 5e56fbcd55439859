"""Language server, completion: the words that begin a statement, by the kind of block."""

from __future__ import annotations

from collections.abc import Iterator

from mcpeval_dsl.language_server.features import describing
from mcpeval_dsl.language_server.features.completion.model import Draft
from mcpeval_dsl.language_server.features.completion.snippets import snippet
from mcpeval_dsl.language_server.index import names
from mcpeval_dsl.language_server.index.values import SERVERS
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.semantics.definitions import AXES
from mcpeval_dsl.semantics.directives import BLOCKS, block_kind, directives_in
from mcpeval_dsl.semantics.directives.functions import FUNCTIONS

_KINDS = frozenset(kind.name for kind in BLOCKS)
_OFTEN = {
    "task": ("prompt", "grade", "expect", "tags", "may", "never", "kind", "budget"),
    "file": ("task", "harvest", "server", "suite", "model", "environment", "annotations", "gate", "let"),
    "server": ("stdio", "http", "version", "protocol"),
    "model": ("anthropic", "litellm", "script"),
    "gate": ("require",),
}


def statements(snapshot: Snapshot, kind: str) -> Iterator[Draft]:
    """Directives of the block, and what else may begin a statement there."""
    if kind not in _KINDS:
        return
    often = _OFTEN.get(kind, ())
    for name, entry in directives_in(kind).items():
        rank = 10 + often.index(name) if name in often else 30
        yield Draft(
            name, "keyword", rank, describing.usage(entry), describing.directive(entry, kind), name, snippet(entry)
        )
    block = block_kind(kind)
    if kind == "matrix":
        for axis in AXES:
            yield Draft(axis, "word", 20, "an axis", "", f"{axis} = ", f"{axis} = [$0]")
    if block.calls:
        for known in names.of_kinds(snapshot, SERVERS):
            yield Draft(known.name, "server", 40, "call a tool as a step", "", known.name)
        for name, function in FUNCTIONS.items():
            if function.reads:
                yield Draft(name, "function", 45, describing.call(function), describing.function(function), name)
