"""Errors as values: what a stage found wrong, where, and edits that mend it."""

from __future__ import annotations

from typing import Generic, Literal, TypeVar

from mcpeval_dsl.frozen import dataclass
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
class Fix:
    """One way to mend a diagnostic: all `edits` together, or none of them; they do not overlap.

    `title` is the name of the action, as an editor shows it. `safe` where the text then says what it was plainly meant
    to say, so that nobody has to look: `mcpe lint --fix` makes these. The others are guesses, for a person to choose.
    """

    title: str
    edits: tuple[Edit, ...]
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """`title` says what is wrong in the user's words, `body` gives the rule, `hint` is one concrete edit in words.

    `code` is registered in `diagnostics.registry`; `at` is None only where no file is concerned. The first of `fixes` is
    the likeliest.
    """

    code: str
    title: str
    at: Location | None = None
    body: str = ""
    hint: str = ""
    severity: Severity = "error"
    labels: tuple[Label, ...] = ()
    fixes: tuple[Fix, ...] = ()

    @property
    def edit(self) -> Edit | None:
        """The one edit of the first fix, where it is one."""
        return self.fixes[0].edits[0] if self.fixes and len(self.fixes[0].edits) == 1 else None


@dataclass(frozen=True, slots=True)
class Checked(Generic[T]):
    """What every stage returns: a value (None when it could not be made) and all diagnostics."""

    value: T | None
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def ok(self) -> bool:
        return self.value is not None and not any(d.severity == "error" for d in self.diagnostics)
