"""Language server, features: what can be done about diagnostics: their fixes, all safe ones at once, or a comment."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from mcpeval_dsl.diagnostics.model import Fix
from mcpeval_dsl.language_server.features.diagnostics import Shown
from mcpeval_dsl.language_server.places import Places, Range
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.syntax.tree import Statement

QUICK, FIX_ALL, FORMAT = "quickfix", "source.fixAll", "source.formatDocument"
KINDS = (QUICK, FIX_ALL, FORMAT)


@dataclass(frozen=True, slots=True)
class TextEdit:
    """The text of a range becomes `text`; both ends are counted in the text as it stands."""

    range: Range
    text: str


@dataclass(frozen=True, slots=True)
class Action:
    """`edits` by path, without overlap; `of` is what it mends, if it is one thing; `likely` may be made without asking."""

    title: str
    kind: str
    edits: Mapping[str, tuple[TextEdit, ...]]
    of: Shown | None = None
    likely: bool = False


def actions(
    snapshot: Snapshot, found: Iterable[Shown], where: Range, only: Iterable[str] | None = None
) -> list[Action]:
    """What can be done at a range, the likeliest first. `found` are all diagnostics of the file; `only` are kinds asked
    for: whole ones, or beginnings of them up to a dot."""
    here = list(found)
    wanted = None if only is None else tuple(only)
    given: list[Action] = []
    if _asked(QUICK, wanted):
        near = [item for item in here if _meets(item.range, where)]
        given += [action for item in near for action in fixes(item)]
        given += [action for item in near if (action := ignore(snapshot, item)) is not None]
    if _asked(FIX_ALL, wanted) and (action := fix_all(here)) is not None:
        given.append(action)
    if wanted is not None and _asked(FORMAT, wanted) and (action := format_all(snapshot)) is not None:
        given.append(action)
    return given


def looks_at_form(only: Iterable[str]) -> bool:
    """Whether one of the kinds asked for needs to know how the file would be laid out."""
    return _asked(FORMAT, tuple(only))


def _asked(kind: str, only: tuple[str, ...] | None) -> bool:
    return only is None or any(kind == each or kind.startswith(f"{each}.") or not each for each in only)


def _meets(one: Range, other: Range) -> bool:
    return one[0] <= other[1] and other[0] <= one[1]


def fixes(item: Shown) -> Iterator[Action]:
    """An action for each fix whose places are still as they were."""
    for fix in item.source.fixes:
        edits = _placed(fix, item.places)
        if edits is not None:
            yield Action(fix.title, QUICK, edits, item, fix.safe)


def _placed(fix: Fix, places: Places) -> dict[str, tuple[TextEdit, ...]] | None:
    found: dict[str, list[TextEdit]] = {}
    for edit in fix.edits:
        where = places.range(edit.at)
        if where is None:
            return None
        found.setdefault(edit.at.path, []).append(TextEdit(where, edit.text))
    return {path: tuple(edits) for path, edits in found.items()}


def fix_all(found: Iterable[Shown]) -> Action | None:
    """All safe fixes of the file that do not get in each other's way; the first one wins."""
    taken: list[Range] = []
    edits: list[TextEdit] = []
    for item in found:
        safe = next((fix for fix in item.source.fixes if fix.safe), None)
        placed = _placed(safe, item.places) if safe is not None else None
        if placed is None or set(placed) != {item.path}:
            continue
        own = placed[item.path]
        if all(_free(taken, edit.range) for edit in own):
            for edit in own:
                taken.insert(bisect_right(taken, edit.range), edit.range)
            edits += own
            path = item.path
    if not edits:
        return None
    return Action("Make all safe fixes", FIX_ALL, {path: tuple(sorted(edits, key=lambda e: e.range))})


def _free(taken: list[Range], where: Range) -> bool:
    """Whether a range meets none of those taken, which are in order and do not meet each other."""
    at = bisect_right(taken, where)
    before = taken[at - 1] if at else None
    behind = taken[at] if at < len(taken) else None
    return (before is None or (before[1] <= where[0] and before != where)) and (behind is None or where[1] <= behind[0])


def ignore(snapshot: Snapshot, item: Shown) -> Action | None:
    """A comment on a line of its own that ignores a warning or a note; the reason is the person's to write."""
    if item.source.severity == "error" or item.path != snapshot.path or item.code.startswith("MCPE36"):
        return None
    offset = snapshot.offset(item.range[0])
    line = _line_of(snapshot, offset)
    text = snapshot.text
    begin = snapshot.lines.starts[line]
    written = text[begin : snapshot.lines.ends[line]]
    indent = written[: len(written) - len(written.lstrip(" \t"))]
    ending = "\r\n" if text.startswith("\r\n", snapshot.lines.ends[line]) else "\n"
    edit = TextEdit(((line, 0), (line, 0)), f"{indent}# mcpe: ignore[{item.code}] because {ending}")
    return Action(f"Ignore {item.code} here, with a reason", QUICK, {snapshot.path: (edit,)}, item)


def _line_of(snapshot: Snapshot, offset: int) -> int:
    """The line on which the innermost statement around an offset begins: above it a comment is never inside a text."""
    part = snapshot.part_at(offset)
    inner = _innermost(part.body.statements, offset - part.start)
    return snapshot.position(part.start + (inner.span.start if inner is not None else 0))[0]


def _innermost(statements: tuple[Statement, ...], offset: int) -> Statement | None:
    found: Statement | None = None
    while True:
        inner = next((s for s in statements if s.span.start <= offset <= s.span.end), None)
        if inner is None:
            return found
        found, statements = inner, inner.block.statements if inner.block is not None else ()


def format_all(snapshot: Snapshot) -> Action | None:
    """The canonical form; None for a text with syntax errors, or one that has it already."""
    from mcpeval_dsl.syntax.formatting import format_edits

    replaced = format_edits(snapshot.text, snapshot.path).value
    if not replaced:
        return None
    edits = [TextEdit((snapshot.position(r.start), snapshot.position(r.end)), r.text) for r in replaced]
    return Action("Format this spec", FORMAT, {snapshot.path: tuple(edits)})
