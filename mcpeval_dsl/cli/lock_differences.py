"""Command line, behind `mcpe lock --diff`: what changed between locks, or since one, with the class of each change."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from mcpeval_dsl.cli import exits
from mcpeval_dsl.diagnostics.model import Diagnostic

if TYPE_CHECKING:
    from mcpeval_dsl.cli.meeting import Folder
    from mcpeval_dsl.cli.specs import Specs
    from mcpeval_dsl.plan.lock_changes import LockChange
    from mcpeval_dsl.plan.model import Lock

FROM_STDIN = "-"


def show(arguments: Sequence[str], trust_file: str, fail_on: str, form: str) -> int:
    """Says all changes; the exit code of the command."""
    from mcpeval_dsl.cli.versions import first_line
    from mcpeval_dsl.plan.lock_changes import CLASSES, compare_locks

    if fail_on not in CLASSES:
        raise typer.BadParameter(f"--fail-on is one of {', '.join(CLASSES)}, not `{fail_on}`")
    files = [each for each in arguments if each == FROM_STDIN or each.endswith((".lock", ".json"))]
    rest = [each for each in arguments if each not in files]
    if len(files) > 2 or (len(files) == 2 and (rest or files == [FROM_STDIN] * 2)):
        raise typer.BadParameter("--diff takes at most two lock files, and no specs beside two of them")
    locks = [_read(each) for each in files]
    if any(lock is None for lock in locks):
        return exits.SPEC
    if form == "json":
        print(first_line("lock-diff"))
    if len(locks) == 2:
        assert locks[0] is not None and locks[1] is not None
        changes, code = compare_locks(locks[0], locks[1]), exits.CLEAN
    else:
        changes, code = _since(rest, trust_file, locks[0] if locks else None)
    if changes or form == "json" or code == exits.CLEAN:  # what could not be compared has no "no change"
        _print(changes, form)
    failing = CLASSES[: CLASSES.index(fail_on) + 1]
    return exits.worst(code, *([exits.FINDINGS] if any(change.classed in failing for change in changes) else []))


def _read(name: str) -> Lock | None:
    """A lock file by its path; None, with the reason said, where it is none."""
    from mcpeval_dsl.cli.findings import show as show_findings
    from mcpeval_dsl.plan import lock as locks
    from mcpeval_dsl.source import SourceFile
    from mcpeval_dsl.values.regular import regular_bytes

    shown = "standard input" if name == FROM_STDIN else name
    try:
        data = sys.stdin.buffer.read() if name == FROM_STDIN else regular_bytes(Path(name))
    except OSError as error:
        hint = "give the path of a lock file"
        problem = Diagnostic("MCPE401", f"{shown} cannot be read: {error.strerror}", hint=hint)
        show_findings([problem], {}, "text", sys.stderr)
        return None
    found = locks.read(data, shown)
    if found.diagnostics:
        source = {shown: SourceFile(shown, data.decode("utf-8", "replace"))}
        show_findings(found.diagnostics, source, "text", sys.stderr)
    return found.value


def _since(arguments: Sequence[str], trust_file: str, old: Lock | None) -> tuple[tuple[LockChange, ...], int]:
    """Changes of the servers as they are now against `old`, or else against the lock beside their spec."""
    from mcpeval_dsl.cli import meeting
    from mcpeval_dsl.cli import specs as loading
    from mcpeval_dsl.cli.findings import show as show_findings

    specs = loading.load(arguments, with_lock=False)
    folders = meeting.meet(specs, trust_file) if specs.suites and not specs.failed else {}
    changes = tuple(change for folder in folders.values() for change in _of_folder(specs, folder, old))
    if specs.diagnostics:
        show_findings(specs.diagnostics, specs.sources, "text", sys.stderr)
    return changes, meeting.exit_code(specs, folders, outdated=False)


def _of_folder(specs: Specs, folder: Folder, old: Lock | None) -> tuple[LockChange, ...]:
    from mcpeval_dsl.plan.lock_changes import compare_locks
    from mcpeval_dsl.plan.model import Lock

    before = old if old is not None else folder.old
    if before is None:
        title = f"there is no {folder.path} to compare with"
        specs.diagnostics.append(Diagnostic("MCPE410", title, hint="write it with `mcpe lock`, or name an older file"))
        return ()
    # a server that did not answer has not changed for all that is known, and one that no spec names is not asked
    names = set(folder.met)
    return compare_locks(
        Lock(servers=tuple(s for s in before.servers if s.server in names)), Lock(servers=tuple(folder.met.values()))
    )


def _print(changes: Sequence[LockChange], form: str) -> None:
    from mcpeval_dsl.diagnostics.render.safe import visible
    from mcpeval_dsl.plan.lock_changes import CLASSES

    counts = {each: sum(change.classed == each for change in changes) for each in CLASSES}
    if form == "json":
        for change in changes:
            line = {"type": "change", "server": change.server, "tool": change.tool, "class": change.classed}
            print(
                json.dumps(line | {"kind": change.kind, "path": change.path, "what": change.what}, ensure_ascii=False)
            )
        print(json.dumps({"type": "summary", **counts}))
        return
    # what matters most first; places keep their order within a class
    for change in sorted(changes, key=lambda change: CLASSES.index(change.classed)):
        where = f"{change.server}.{change.tool}" if change.tool else change.server
        print(f"{change.classed:<11}  {visible(where)}  {visible(change.what)}")
    print(", ".join(f"{count} {each}" for each, count in counts.items()) if changes else "no change")
