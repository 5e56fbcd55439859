"""Command line, inside `mcpe lint`: everything that can be said of specs without starting anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mcpeval_dsl.cli.specs import load, read_scripts
from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.diagnostics.settings import LintSettings
from mcpeval_dsl.project.files import digests
from mcpeval_dsl.project.loading import Loaded, Specs


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the command line asks for: specs, and codes on top of the project's settings."""

    specs: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()

    def settings(self, of_project: LintSettings) -> LintSettings:
        return replace(of_project, select=self.select or of_project.select, ignore=(*of_project.ignore, *self.ignore))


@dataclass(frozen=True, slots=True)
class Found:
    """Everything found, by the settings and comments that hold; `notes`: the project lists notes."""

    specs: Specs
    diagnostics: tuple[Diagnostic, ...]
    notes: bool


def look(wanted: Wanted, overlay: Mapping[str, bytes] | None = None) -> Found:
    """Checks the specs, with `overlay` in place of files."""
    specs = load(wanted.specs, design=True, adjust=wanted.settings, overlay=overlay)
    settings = specs.project.lint if specs.project is not None else LintSettings()
    read_scripts(specs)
    later = [diagnostic for loaded in specs.suites for diagnostic in _of_gate(specs, loaded)]
    later = specs.suppressions.apply(later)
    # what a shared file ignores may be needed by another of its importers
    paths = [loaded.path for loaded in specs.suites] if wanted.specs else None
    later += specs.suppressions.leftovers(paths, unused=not specs.failed)
    return Found(specs, (*specs.diagnostics, *settings.apply(later)), settings.notes)


def _of_gate(specs: Specs, loaded: Loaded) -> list[Diagnostic]:
    """Rules of the gate that the planned trials cannot decide. A plan is made only where a rule asks for an interval."""
    rules = loaded.suite.gate.rules
    if specs.failed or not any(rule.bound is not None or rule.metric in ("lift", "compare") for rule in rules):
        return []
    from mcpeval_dsl.plan.build import build
    from mcpeval_dsl.plan.model import Selection
    from mcpeval_dsl.score.foresight import foresee

    assert specs.project is not None
    paths = (*loaded.suite.files, *loaded.suite.fixtures)
    made = build(loaded.suite, loaded.lock, digests(specs.project.root, paths), Selection(), loaded.warnings)
    return foresee(made.value) if made.value is not None else []
