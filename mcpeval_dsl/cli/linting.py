"""Command line, inside `mcpe lint`: everything that can be said of specs without starting anything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mcpeval_dsl.cli.specs import load, read_scripts
from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.diagnostics.settings import LintSettings
from mcpeval_dsl.frozen import dataclass
from mcpeval_dsl.project.loading import Specs


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
    # what a shared file ignores may be needed by another of its importers
    paths = [loaded.path for loaded in specs.suites] if wanted.specs else None
    leftovers = specs.suppressions.leftovers(paths, unused=not specs.failed, locked=any(specs.known.values()))
    return Found(specs, (*specs.diagnostics, *settings.apply(leftovers)), settings.notes)
