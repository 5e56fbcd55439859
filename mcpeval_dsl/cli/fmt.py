"""Command line: `mcpe fmt`, specs in their canonical form. Reads and writes specs; starts nothing."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import typer

from mcpeval_dsl.cli import exits
from mcpeval_dsl.cli.unified import unified

if TYPE_CHECKING:
    from mcpeval_dsl.diagnostics.model import Checked, Diagnostic
    from mcpeval_dsl.project.files import FileReader
    from mcpeval_dsl.source import SourceFile

HELP = """Write specs in their canonical form, without changing what they mean.

Without arguments: all .mcpe files of the project. `-` reads a spec from standard input and writes it to standard output.
A file with syntax errors is left as it is: exit code 2. With --check or --diff nothing is written, and exit code 1 says that
something would be.

Example: mcpe fmt --check specs
"""


def command(
    specs: list[str] | None = typer.Argument(None, help="Specs, folders with specs, or -.", metavar="[SPEC]..."),
    check: bool = typer.Option(False, "--check", help="Only name the files that are not in form."),
    diff: bool = typer.Option(False, "--diff", help="Only show what would change."),
    stdin_filename: str = typer.Option(
        "<stdin>", "--stdin-filename", help="What messages call standard input.", metavar="NAME"
    ),
) -> None:
    given = specs or []
    if "-" in given:
        if len(given) > 1:
            raise typer.BadParameter("- is the only argument where it stands: a command reads one text")
        raise typer.Exit(_standard_input(stdin_filename, check, diff))
    raise typer.Exit(_files(given, check, diff))


def _standard_input(name: str, check: bool, diff: bool) -> int:
    data = sys.stdin.buffer.read()
    formatted, source = _formatted(name, data)
    if formatted.value is None:
        _show(formatted.diagnostics, source, sys.stderr)
        return exits.SPEC
    changed = formatted.value != data
    if diff:
        sys.stdout.writelines(unified(data, formatted.value, name, name))
    elif check:
        sys.stdout.write(f"not in form: {name}\n" if changed else "")
    else:
        _write_out(formatted.value)
    return exits.FINDINGS if changed and (check or diff) else exits.CLEAN


def _write_out(data: bytes) -> None:
    """The very bytes where a program reads them; on a terminal what it would obey is shown instead."""
    if sys.stdout.isatty():
        sys.stdout.write(data.decode())
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()


def _files(given: Sequence[str], check: bool, diff: bool) -> int:
    from mcpeval_dsl.project.files import FileReader, find, spec_files

    found = find(Path.cwd() / given[0] if given else Path.cwd())
    paths = spec_files(found.value, given, shared=True) if found.value is not None else None
    problems = [*found.diagnostics, *(paths.diagnostics if paths else ())]
    if found.value is None or paths is None or paths.value is None:
        _show(problems, None, sys.stderr)
        return exits.SPEC
    reader, codes, changed = FileReader(found.value.root), [exits.CLEAN], 0
    for path in paths.value:
        outcome = _file(reader, path, check, diff)
        changed += outcome is True
        codes.append(exits.SPEC if outcome is None else exits.CLEAN)
    failed = codes.count(exits.SPEC)
    if not diff:
        left = f", {failed} left as {'it is' if failed == 1 else 'they are'}" if failed else ""
        kept = len(paths.value) - changed - failed
        print(f"{changed} {'not in form' if check else 'formatted'}, {kept} already in form{left}")
    if changed and (check or diff):
        codes.append(exits.FINDINGS)
    return exits.worst(*codes)


def _file(reader: FileReader, path: str, check: bool, diff: bool) -> bool | None:
    """Whether the file is changed, or would be; None where it cannot be read or written."""
    from mcpeval_dsl.diagnostics.model import Diagnostic
    from mcpeval_dsl.diagnostics.render.safe import visible
    from mcpeval_dsl.project.writing import put

    try:
        data = reader.read(path)
    except OSError as error:
        _show([Diagnostic("MCPE576", f"{path} cannot be read: {error.strerror}")], None, sys.stderr)
        return None
    formatted, source = _formatted(path, data)
    if formatted.value is None:
        _show(formatted.diagnostics, source, sys.stderr)
        return None
    if formatted.value == data:
        return False
    if diff:
        sys.stdout.writelines(unified(data, formatted.value, path, path))
    elif check:
        print(f"not in form: {visible(path)}")
    else:
        try:
            put(reader.root / path, formatted.value)
        except OSError as error:
            _show([Diagnostic("MCPE106", f"{path} cannot be written: {error.strerror}")], None, sys.stderr)
            return None
        print(f"formatted {visible(path)}")
    return True


def _formatted(path: str, data: bytes) -> tuple[Checked[bytes], SourceFile | None]:
    """The canonical bytes, and the text to quote from in messages."""
    from mcpeval_dsl.diagnostics.model import Checked
    from mcpeval_dsl.syntax import decode
    from mcpeval_dsl.syntax.formatting import format_text

    source = decode(path, data)
    if source.value is None:
        return Checked(None, source.diagnostics), None
    formatted = format_text(source.value.text, path)
    if formatted.value is None:
        return Checked(None, formatted.diagnostics), source.value
    return Checked(formatted.value.encode()), source.value


def _show(diagnostics: Sequence[Diagnostic], source: SourceFile | None, stream: TextIO) -> None:
    from mcpeval_dsl.cli.findings import show

    show(diagnostics, {source.path: source} if source is not None else {}, "text", stream)
