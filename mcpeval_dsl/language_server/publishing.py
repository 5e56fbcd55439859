"""Language server: all that is known to be wrong in a project -> what is shown in each of its files."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.language_server.features.diagnostics import Shown, of_syntax, shown
from mcpeval_dsl.language_server.places import Places
from mcpeval_dsl.language_server.positions import Encoding
from mcpeval_dsl.language_server.project import Project
from mcpeval_dsl.language_server.snapshot import Analysis


def is_syntax(diagnostic: Diagnostic) -> bool:
    """Whether reading a file alone says so, without knowing what its words mean."""
    return diagnostic.code.startswith("MCPE1")


def found_in(project: Project, encoding: Encoding, only: str | None = None) -> dict[str, list[Shown]]:
    """By path, in order of the text. In a text that changed since, places move, and the syntax is of the text now."""
    texts = {path: opened.text for path, opened in project.opened.items()}
    found: dict[str, dict[tuple[object, ...], Shown]] = {}

    def keep(items: list[Shown]) -> None:
        for item in items:
            found.setdefault(item.path, {}).setdefault((item.range, item.code, item.message), item)

    if project.misconfigured is not None and only is None:
        keep(shown([project.misconfigured], "", Places({}, texts, encoding)))
    current: set[str] = set()
    for analysis in project.analysed.values():
        fresh = {path for path, text in analysis.texts.items() if texts.get(path, text) == text}
        current |= fresh
        kept = [d for d in analysis.diagnostics if _wanted(d, analysis, only, fresh)]
        keep(shown(kept, analysis.main, Places({**analysis.others, **analysis.texts}, texts, encoding)))
    for path in project.opened:
        if path not in current and only in (None, path):
            snapshot = project.snapshot(path)
            if snapshot is not None and not snapshot.limited:
                keep(shown(of_syntax(snapshot, read=False), path, Places(texts, texts, encoding)))
    return {path: sorted(items.values(), key=lambda s: (s.range, s.code)) for path, items in found.items()}


def _wanted(diagnostic: Diagnostic, analysis: Analysis, only: str | None, fresh: set[str]) -> bool:
    path = analysis.main if diagnostic.at is None else diagnostic.at.path
    if only is not None and path != only:
        return False
    return path in fresh or path not in analysis.texts or not is_syntax(diagnostic)


def open_problems(analysis: Analysis, path: str) -> list[tuple[str, str]]:
    """Code and title of what is wrong with the syntax of a file."""
    found = [d for d in analysis.diagnostics if d.at is not None and d.at.path == path and is_syntax(d)]
    return [(d.code, d.title) for d in found]
