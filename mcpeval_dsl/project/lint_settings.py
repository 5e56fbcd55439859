"""Project: the table `lint` of its configuration, checked against the codes there are."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

from mcpeval_dsl.diagnostics import registry
from mcpeval_dsl.diagnostics.model import Checked, Diagnostic
from mcpeval_dsl.diagnostics.settings import Level, LintSettings
from mcpeval_dsl.diagnostics.suggestions import closest

KEYS = ("select", "ignore", "severity", "per-file-ignores", "notes")
LEVELS = get_args(Level)


def read(path: Path, table: Any) -> Checked[LintSettings]:
    """The settings, or one diagnostic that says what is wrong with them."""
    try:
        return Checked(_settings(table))
    except _Wrong as wrong:
        return Checked(
            None,
            (
                Diagnostic(
                    "MCPE574",
                    f"{path.name}: {wrong.what}",
                    body="The table `lint` has select, ignore, severity, per-file-ignores and notes.",
                    hint=wrong.hint,
                ),
            ),
        )


class _Wrong(Exception):
    def __init__(self, what: str, hint: str) -> None:
        super().__init__(what)
        self.what = what
        self.hint = hint


def _settings(table: Any) -> LintSettings:
    if not isinstance(table, dict):
        raise _Wrong(
            "`lint` is no table", "write a table, `[lint]` in mcpe.toml or `[tool.mcpe.lint]` in pyproject.toml"
        )
    for key in table:
        if key not in KEYS:
            near = closest(key, KEYS)
            hint = f"did you mean `{near}`?" if near else f"there are {', '.join(KEYS)}"
            raise _Wrong(f"there is no setting `lint.{key}`", hint)
    files = table.get("per-file-ignores", {})
    if not isinstance(files, dict):
        raise _Wrong("`lint.per-file-ignores` is no table", 'write "specs/old/*" = ["MCPE371"] below it')
    notes = table.get("notes", False)
    if not isinstance(notes, bool):
        raise _Wrong("`lint.notes` is neither true nor false", "write notes = true")
    return LintSettings(
        _codes("lint.select", table.get("select", [])),
        _codes("lint.ignore", table.get("ignore", [])),
        _levels(table.get("severity", {})),
        tuple((glob, _codes(f'lint.per-file-ignores."{glob}"', codes)) for glob, codes in files.items()),
        notes,
    )


def _codes(name: str, codes: Any) -> tuple[str, ...]:
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        raise _Wrong(f"`{name}` is no list of codes", 'write a list of texts, ["MCPE371"]')
    wrong = unknown(codes)
    if wrong is not None:
        raise _Wrong(f"`{name}` has `{wrong[0]}`, and there is no such code", wrong[1])
    return tuple(code.upper() for code in codes)


def _levels(table: Any) -> dict[str, Level]:
    if not isinstance(table, dict):
        raise _Wrong("`lint.severity` is no table", 'write MCPE371 = "warning" below it')
    codes = tuple(_codes("lint.severity", list(table)))
    for code, level in zip(codes, table.values(), strict=True):
        if level not in LEVELS:
            near = closest(str(level), LEVELS)
            raise _Wrong(
                f"`lint.severity.{code}` is `{level}`",
                f"did you mean `{near}`?" if near else f"write one of {', '.join(LEVELS)}",
            )
        if code not in registry.titles():
            raise _Wrong(
                f"`lint.severity` has `{code}`, which is the beginning of several codes", "write whole codes there"
            )
    return dict(zip(codes, table.values(), strict=True))


def unknown(codes: Iterable[str]) -> tuple[str, str] | None:
    """The first that is neither a code nor the beginning of one, and what to write in its place."""
    known = registry.titles()
    for code in codes:
        beginning = code.upper()
        if not (beginning.startswith("MCPE") and any(each.startswith(beginning) for each in known)):
            near = closest(beginning, known)
            return code, f"did you mean `{near}`?" if near else "`mcpe explain` lists all codes"
    return None
