"""Diagnostics, for readers: a page for every code, written from its entry and nothing else.

`docs/reference/generate.py` writes them to disk; a test holds them up to date.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from mcpeval_dsl.diagnostics import registry
from mcpeval_dsl.diagnostics.model import Severity
from mcpeval_dsl.diagnostics.registry import CodeInfo

_GENERATED = "<!-- Written from mcpeval_dsl/diagnostics/codes by docs/reference/generate.py; edits here are lost. -->"
_AREAS = {
    "syntax": "Syntax",
    "names": "Shape, names and types",
    "meaning": "Meaning and design",
    "lock": "Locks",
    "run": "Runs",
    "interchange": "Import, export and starting",
}


@dataclass(frozen=True, slots=True)
class Seen:
    """How a code's bad example is reported; `safe` says whether `--fix` mends it, None that nothing is offered."""

    severity: Severity
    safe: bool | None


def pages(seen: Mapping[str, Seen]) -> dict[str, str]:
    """All pages by file name; `seen` holds what compiling the bad examples has shown."""
    found = {f"{entry.code}.md": _joined(_page(entry, seen.get(entry.code))) for entry in registry.all_codes()}
    return {**found, "README.md": _joined(_index(seen))}


def _joined(lines: Iterator[str]) -> str:
    return "\n".join([_GENERATED, *lines]).rstrip("\n") + "\n"


def _page(entry: CodeInfo, seen: Seen | None) -> Iterator[str]:
    yield f"# {entry.code}: {entry.title}"
    yield ""
    yield entry.explanation
    yield ""
    if seen is not None:
        yield " ".join(_facts(seen))
        yield ""
    language = "console" if entry.is_command else "mcpe"
    for title, example in (("Bad", entry.bad), ("Good", entry.good)):
        yield f"## {title}"
        yield ""
        yield f"```{language}"
        yield example.strip("\n")
        yield "```"
        yield ""
    if seen is not None and seen.severity != "error":
        yield "## To ignore it"
        yield ""
        yield f"Behind the statement, or on a line of its own before it: `# mcpe: ignore[{entry.code}] because …`. For a project,"
        yield f'`ignore = ["{entry.code}"]` in the [settings of lint](../../linting.md#settings).'


def _facts(seen: Seen) -> Iterator[str]:
    article = "An" if seen.severity == "error" else "A"
    yield f"{article} {seen.severity}."
    if seen.safe is not None:
        yield (
            "`mcpe lint --fix` mends it."
            if seen.safe
            else "Editors offer a fix; `mcpe lint --fix --unsafe-fixes` makes it."
        )


def _index(seen: Mapping[str, Seen]) -> Iterator[str]:
    yield "# Codes"
    yield ""
    yield "Every finding has a code; `mcpe explain CODE` prints its page."
    yield "Fix: *safe* is made by `mcpe lint --fix`, *offered* by editors."
    for area, title in _AREAS.items():
        entries = [entry for entry in registry.all_codes() if entry.area == area]
        if not entries:
            continue
        yield ""
        yield f"## {title}"
        yield ""
        yield "| code | what is wrong | severity | fix |"
        yield "| --- | --- | --- | --- |"
        for entry in entries:
            about = seen.get(entry.code)
            severity = about.severity if about is not None else ""
            fix = "" if about is None or about.safe is None else "safe" if about.safe else "offered"
            yield f"| [{entry.code}]({entry.code}.md) | {entry.title} | {severity} | {fix} |"
