"""Interchange: the report of one import: what was kept, changed and lost, line by line of the source, and how much will run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from mcpeval_dsl.interchange.model import Note, Suite, Task, What

SECTIONS: tuple[tuple[What, str], ...] = (
    ("look", "LOOK AT"),
    ("changed", "CHANGED"),
    ("lost", "LOST"),
    ("kept", "KEPT"),
)
ENOUGH = 0.8
_MOST_LINES = 6


@dataclass(frozen=True, slots=True)
class Counts:
    """`runnable` tasks compile, are selected, and have a grader that decides; those that wait for an answer are apart."""

    found: int
    carried: int
    placeholders: int
    runnable: int
    checks: int

    @property
    def share(self) -> float | None:
        """Of the tasks without placeholders; None where there are none."""
        able = self.found - self.placeholders
        return self.runnable / able if able > 0 else None


def counts(suite: Suite) -> Counts:
    placeholders = sum(bool(task.placeholder) for task in suite.tasks)
    runnable = sum(task.graded and not task.placeholder for task in suite.tasks)
    lines = sum(1 for check in suite.checks for line in check.lines if not line.startswith("#"))
    return Counts(suite.found, len(suite.tasks), placeholders, runnable, lines)


def notes(suite: Suite) -> list[Note]:
    """All notes; a task that was carried over is kept, with what it has."""
    kept = [Note("kept", f"`{task.name}`: {_what(task)}", task.path, task.line, task.name) for task in suite.tasks]
    return [*suite.notes, *kept]


def _what(task: Task) -> str:
    words = [f"{len(task.turns)} turns" if task.turns else "prompt"]
    words += ["system"] if task.system else []
    lines = [each.text for each in task.statements] + [line for turn in task.turns for line in turn.statements]
    for line in lines:
        parts = line.split()
        words.append(" ".join(parts[: 3 if parts[1:2] == ["not"] else 2]) if parts[0] == "grade" else parts[0])
    return ", ".join(dict.fromkeys(words))


def render(suite: Suite, source: str, written: str) -> str:
    """The report for people."""
    return "\n".join(_lines(suite, source, written)) + "\n"


def _lines(suite: Suite, source: str, written: str) -> Iterator[str]:
    number = counts(suite)
    yield f"{source}  read as {suite.format}"
    yield f"  spec      {written}"
    yield f"  tasks     {number.carried} of {number.found} carried over"
    if number.checks:
        yield f"  checks    {number.checks} calls and tools of `mcpe check`"
    if number.placeholders:
        yield f"  waiting   {number.placeholders} for an answer; untestable until then"
    if number.share is not None:
        able = number.found - number.placeholders
        once = ", once a server is named" if any(server.placeholder for server in suite.servers) else ""
        yield f"  runnable  {number.runnable} of {able} without placeholders ({number.share:.0%}){once}"
        if number.share < ENOUGH:
            yield f"            under {ENOUGH:.0%}: a defect of the importer; please report it"
    if suite.files:
        yield f"  files     {len(suite.files)} in {suite.folder}"
    found = notes(suite)
    for what, heading in SECTIONS:
        section = [note for note in found if note.what == what]
        if section:
            yield ""
            yield f"{heading}  {len(section)}"
            yield from _section(section)


def _section(section: list[Note]) -> Iterator[str]:
    """Notes that say the same are one, with their places."""
    places: dict[str, list[Note]] = {}
    for note in section:
        places.setdefault(note.text, []).append(note)
    for text, same in places.items():
        first = same[0]
        where = f"{first.path}:{first.line}" if len(same) == 1 or first.path else first.path
        yield f"  {where}  {text}" + (
            f"  [{first.task}]" if first.task and len(same) == 1 and first.what != "kept" else ""
        )
        if len(same) > 1:
            rest = [f"{note.path}:{note.line}" if note.path != first.path else str(note.line) for note in same[1:]]
            more = f" and {len(rest) - _MOST_LINES} more" if len(rest) > _MOST_LINES else ""
            yield f"    also {', '.join(rest[:_MOST_LINES])}{more}"


def json_lines(suite: Suite, source: str, written: str) -> Iterator[str]:
    """The report for programs, as JSON Lines."""
    number = counts(suite)
    yield json.dumps(
        {
            "type": "import",
            "source": source,
            "format": suite.format,
            "spec": written,
            "tasks": number.found,
            "carried": number.carried,
            "placeholders": number.placeholders,
            "runnable": number.runnable,
            "share": number.share,
            "checks": number.checks,
            "files": sorted(suite.files),
        },
        ensure_ascii=False,
    )
    for note in notes(suite):
        line = {"type": note.what, "text": note.text, "path": note.path, "line": note.line, "task": note.task or None}
        yield json.dumps(line, ensure_ascii=False)
