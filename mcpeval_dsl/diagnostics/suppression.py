"""Diagnostics, before they are shown: warnings and notes that a comment in the spec ignores, and comments that ignore nothing.

Errors are never ignored: what they are about cannot be run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from mcpeval_dsl.diagnostics.model import Diagnostic, Fix
from mcpeval_dsl.source import Location

WHOLE_FILE = 1 << 60
OF_LOCK = frozenset({"MCPE321", "MCPE378", "MCPE379", "MCPE380"})
"""Codes that only a lock brings up: without one, nobody knows whether a comment on them is of use."""
_OF_PLAN = frozenset({"MCPE581"})


@dataclass(slots=True)
class Suppression:
    """One code of one comment: diagnostics that begin on the lines `first` to `last` of its file are ignored.

    `removal` takes the code, or the comment with it, out of the text.
    """

    code: str
    at: Location
    first: int
    last: int
    removal: Fix
    used: bool = False
    hides_error: bool = False


@dataclass(slots=True)
class Suppressions:
    """The comments of all files that a command reads; `faults` is what is wrong with comments themselves, by file."""

    by_file: dict[str, dict[str, list[Suppression]]] = field(default_factory=dict)
    faults: dict[str, tuple[Diagnostic, ...]] = field(default_factory=dict)

    def add(self, path: str, comments: list[Suppression], faults: Sequence[Diagnostic]) -> None:
        """The comments of one file; a file that is read again, as an import of another spec, has them already."""
        if path not in self.by_file:
            codes = self.by_file[path] = {}
            for comment in sorted(comments, key=lambda each: (each.first, -each.last)):
                codes.setdefault(comment.code, []).append(comment)
            self.faults[path] = tuple(faults)

    def apply(self, diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
        """Those that no comment ignores, in their order."""
        found = list(diagnostics)
        if not any(self.by_file.values()):
            return found
        places: dict[tuple[str, str], list[int]] = {}
        for number, diagnostic in enumerate(found):
            if diagnostic.at is not None and diagnostic.at.path in self.by_file:
                places.setdefault((diagnostic.at.path, diagnostic.code), []).append(number)
        ignored: set[int] = set()
        for (path, code), numbers in places.items():
            comments = self.by_file[path].get(code)
            if comments:
                ignored |= _covered(comments, numbers, found)
        return [diagnostic for number, diagnostic in enumerate(found) if number not in ignored]

    def leftovers(
        self, paths: Iterable[str] | None = None, *, unused: bool = True, locked: bool = True
    ) -> list[Diagnostic]:
        """What is wrong with the comments of these files (of all, for None), asked when everything has been applied.

        Not `unused` where errors have kept rules from looking; not `locked` where there was no lock to look at.
        """
        unjudged = _OF_PLAN if locked else _OF_PLAN | OF_LOCK
        wanted = self.by_file if paths is None else [path for path in paths if path in self.by_file]
        found: list[Diagnostic] = []
        for path in wanted:
            found += self.faults[path]
            for code, comments in self.by_file[path].items():
                told = unused and code not in unjudged
                found += [_told(each) for each in comments if each.hides_error or (told and not each.used)]
        return found


def _covered(comments: list[Suppression], numbers: list[int], found: list[Diagnostic]) -> set[int]:
    """Numbers of diagnostics that a comment ignores. Both are walked once: the areas of comments nest, as blocks do."""
    ignored: set[int] = set()
    open_: list[Suppression] = []
    following = 0
    for number in sorted(numbers, key=lambda each: _line(found[each])):
        line = _line(found[number])
        while following < len(comments) and comments[following].first <= line:
            while open_ and open_[-1].last < comments[following].first:
                open_.pop()
            open_.append(comments[following])
            following += 1
        while open_ and open_[-1].last < line:
            open_.pop()
        if not open_:
            continue
        open_[-1].used = True
        if found[number].severity == "error":
            open_[-1].hides_error = True
        else:
            ignored.add(number)
    return ignored


def _line(diagnostic: Diagnostic) -> int:
    return diagnostic.at.line if diagnostic.at is not None else 0


def _told(comment: Suppression) -> Diagnostic:
    if comment.hides_error:
        return Diagnostic(
            "MCPE363",
            f"`{comment.code}` is an error here, and errors cannot be ignored",
            comment.at,
            "Comments ignore warnings and notes. What an error is about cannot be run.",
            "mend what the error says, and remove this comment",
            "warning",
            fixes=(replace(comment.removal, safe=False),),
        )
    return Diagnostic(
        "MCPE362",
        f"nothing here is `{comment.code}`",
        comment.at,
        "The comment ignores what is not there any more, and would hide it if it came back.",
        "remove it",
        "warning",
        fixes=(comment.removal,),
    )
