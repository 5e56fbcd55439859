"""Command line, inside `mcpe lint --fix`: fixes made on texts in memory until none is left, then written, or shown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mcpeval_dsl.cli.linting import Found, Wanted, look
from mcpeval_dsl.cli.unified import unified
from mcpeval_dsl.diagnostics.model import Fix
from mcpeval_dsl.source import SourceFile

ROUNDS = 20
"""A fix may uncover another one; so often at most."""
_BOM = b"\xef\xbb\xbf"


@dataclass(slots=True)
class Fixed:
    """`before` and `after` by path, of the files that have changed; what is left; how many fixes were made."""

    found: Found
    before: dict[str, bytes] = field(default_factory=dict)
    after: dict[str, bytes] = field(default_factory=dict)
    made: int = 0


def fix(wanted: Wanted, unsafe: bool) -> Fixed:
    """Make all safe fixes (with `unsafe` the likeliest of each finding) in memory. No text comes out that does not parse
    and did before, nor one that comes back to what it was."""
    from mcpeval_dsl.diagnostics.applying import apply

    fixed = Fixed(look(wanted))
    refused: set[str] = set()
    seen: set[tuple[str, str]] = set()
    for _ in range(ROUNDS):
        files = dict(_files(fixed.found, refused))
        applied = apply(files, _chosen(fixed.found, unsafe))
        broken = {path for path, text in applied.texts.items() if (path, text) in seen or _broken(files[path], text)}
        seen |= {(path, file.text) for path, file in files.items()}
        if broken:
            refused |= broken
            continue
        if not applied.texts:
            break
        for path, text in applied.texts.items():
            read = fixed.found.specs.reader.texts[path]
            fixed.before.setdefault(path, read)
            fixed.after[path] = (_BOM if read.startswith(_BOM) else b"") + text.encode("utf-8")
        fixed.made += len(applied.made)
        fixed.found = look(wanted, fixed.after)
    return fixed


def _files(found: Found, refused: set[str]) -> Iterator[tuple[str, SourceFile]]:
    from mcpeval_dsl.syntax import decode

    for path, data in found.specs.reader.texts.items():
        if path.endswith(".mcpe") and path not in refused:
            file = decode(path, data).value
            if file is not None:
                yield path, file


def _chosen(found: Found, unsafe: bool) -> Iterator[Fix]:
    for diagnostic in found.diagnostics:
        for each in diagnostic.fixes:
            if each.safe or unsafe:
                yield each
                break


def _broken(old: SourceFile, new: str) -> bool:
    """Whether the new text has more errors of syntax than the old one had."""
    return _errors(SourceFile(old.path, new)) > _errors(old)


def _errors(file: SourceFile) -> int:
    from mcpeval_dsl.syntax import parse

    return sum(diagnostic.severity == "error" for diagnostic in parse(file).diagnostics)


def write(fixed: Fixed) -> list[str]:
    """Write what has changed; gives, file by file, why one was not."""
    from mcpeval_dsl.project.writing import replace

    assert fixed.found.specs.project is not None
    root: Path = fixed.found.specs.project.root
    told = ((path, replace(root / path, fixed.before[path], new)) for path, new in fixed.after.items())
    return [f"{path} is left as it was: {reason}" for path, reason in told if reason is not None]


def differences(fixed: Fixed) -> Iterator[str]:
    """What would be written, as a unified diff."""
    for path in sorted(fixed.after):
        yield from unified(fixed.before[path], fixed.after[path], f"a/{path}", f"b/{path}")
