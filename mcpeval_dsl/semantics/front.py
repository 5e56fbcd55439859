"""Semantics, its four steps: load, shape, lower, rules. `pipeline` runs them one after the other."""

from __future__ import annotations

from collections.abc import Mapping

from mcpeval_dsl.diagnostics.model import Checked
from mcpeval_dsl.diagnostics.suppression import Suppressions
from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.semantics import imports, shape
from mcpeval_dsl.semantics.catalogue import KnownServer
from mcpeval_dsl.semantics.lower.assemble import Lowered, assemble
from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.semantics.lower.suite import lower_parts
from mcpeval_dsl.semantics.model import TypedSuite
from mcpeval_dsl.semantics.problems import Problems
from mcpeval_dsl.semantics.reader import Reader
from mcpeval_dsl.semantics.rules import DESIGN, RULES
from mcpeval_dsl.syntax.suppressions import comments


@dataclass(frozen=True, slots=True)
class Request:
    """A spec by its path relative to the project, who reads files, and what lock files know of servers."""

    path: str
    reader: Reader
    known: Mapping[str, KnownServer]


@dataclass(frozen=True, slots=True)
class Sources:
    """The trees of a spec and of what it imports, with all that was found so far."""

    request: Request
    loaded: imports.Loaded


def load(request: Request) -> Checked[Sources]:
    """decode, parse, and the same for every import."""
    loaded = imports.load(request.path, request.reader)
    sources = None if loaded.main is None else Sources(request, loaded)
    return Checked(sources, tuple(loaded.diagnostics))


def check_shape(sources: Sources) -> Checked[Sources]:
    """Every statement against the table of directives."""
    earlier = tuple(sources.loaded.diagnostics)
    found = [d for tree in sources.loaded.trees for d in shape.check(tree, earlier)]
    sources.loaded.diagnostics.extend(found)
    return Checked(sources, tuple(found))


def lower(sources: Sources) -> Checked[Lowered]:
    """Names bound, units converted, defaults and profiles folded in."""
    loaded = sources.loaded
    main = loaded.main
    assert main is not None
    files = imports.files(loaded)
    problems = Problems(loaded.diagnostics, files)
    ctx = Context(problems, sources.request.reader, sources.request.known, files, main.file)
    parts = lower_parts(ctx, loaded.trees, main)
    lowered = assemble(ctx, parts, main)
    return Checked(lowered, tuple(problems.found))


def apply_rules(lowered: Lowered) -> Checked[TypedSuite]:
    """What a well-formed suite may still not mean."""
    before = len(lowered.ctx.problems.found)
    for rule in RULES:
        rule(lowered)
    return Checked(lowered.suite, tuple(lowered.ctx.problems.found[before:]))


def review(lowered: Lowered) -> Checked[TypedSuite]:
    """The same, and what the design of the suite makes it measure badly: advice, never an error."""
    applied = apply_rules(lowered)
    before = len(lowered.ctx.problems.found)
    for rule in () if lowered.ctx.problems.failed else DESIGN:
        rule(lowered)
    return Checked(lowered.suite, (*applied.diagnostics, *lowered.ctx.problems.found[before:]))


def hold_comments(sources: Sources, suppressions: Suppressions) -> None:
    """Note the comments that ignore findings, in the spec and what it imports."""
    for tree in sources.loaded.trees:
        if tree.file.path not in suppressions.by_file:
            read = comments(tree)
            suppressions.add(tree.file.path, read.found, read.faults)
