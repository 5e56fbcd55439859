"""Errors as values: what a stage found wrong, where, and one edit that mends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

from mcpeval_dsl.source import Location

Severity = Literal["error", "warning", "note"]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Label:
    """A further place that belongs to a diagnostic (for example each step of a cycle)."""

    at: Location
    text: str


@dataclass(frozen=True, slots=True)
class Edit:
    """One concrete replacement: the text between the ends of `at` becomes `text`."""

    at: Location
    text: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`title` says what is wrong in the user's words, `body` gives the rule, `hint` is one concrete edit in words.

    `code` is registered in `diagnostics.registry`; `at` is None only where no file is concerned.
    """

    code: str
    title: str
    at: Location | None = None
    body: str = ""
    hint: str = ""
    severity: Severity = "error"
    labels: tuple[Label, ...] = ()
    edit: Edit | None = None


@dataclass(frozen=True, slots=True)
class Checked(Generic[T]):
    """What every stage returns: a value (None when it could not be made) and all diagnostics."""

    value: T | None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def ok(self) -> bool:
        return self.value is not None and not any(d.severity == "error" for d in self.diagnostics)
