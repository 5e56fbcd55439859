"""Language server, in the background: one spec through the compiler's front end -> an `Analysis` for the editor.

The same stages as `mcpe lint`, with a question between them whether anybody still waits for the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from mcpeval_dsl import pipeline
from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.language_server.background import Superseded
from mcpeval_dsl.language_server.parts import Parts
from mcpeval_dsl.language_server.snapshot import Analysis, FieldUse, Mention
from mcpeval_dsl.semantics import front
from mcpeval_dsl.semantics.catalogue import KnownServer
from mcpeval_dsl.semantics.lower.assemble import Lowered
from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.semantics.model import TypedSuite
from mcpeval_dsl.semantics.reader import Reader
from mcpeval_dsl.semantics.symbols import Symbol
from mcpeval_dsl.source import Location, SourceFile, Span
from mcpeval_dsl.syntax import decode
from mcpeval_dsl.syntax.reading import reported


def _never() -> bool:
    return False


def analyse(
    path: str, reader: Reader, known: Mapping[str, KnownServer], stopped: Callable[[], bool] = _never
) -> Analysis:
    """What the spec at `path` means. Raises Superseded between two stages once `stopped()` is true."""
    texts: dict[str, str] = {}
    lowered: Lowered | None = None

    def watch(value: object) -> None:
        nonlocal lowered
        if stopped():
            raise Superseded
        if isinstance(value, front.Sources):
            texts.update({tree.file.path: tree.file.text for tree in value.loaded.trees})
        elif isinstance(value, Lowered):
            lowered = value

    checked = pipeline.check(path, reader, known, design=True, watch=watch)
    mentions = _mentions(lowered.ctx) if lowered is not None else {}
    fields = _fields(lowered.ctx) if lowered is not None else {}
    return Analysis(path, texts, lowered, checked.value, checked.diagnostics, mentions, fields, known)


def _mentions(ctx: Context) -> dict[str, list[Mention]]:
    """Each place once, by path, in order of the text."""
    places: dict[tuple[str, int, int], Mention] = {}
    for symbol, span in _definitions(ctx):
        _place(places, symbol, span, True)
    for symbol, span in ctx.mentions:
        if symbol.span is not None:
            _place(places, symbol, symbol.span, True)
        _place(places, symbol, span, False)
    return _by_path(places)


def _definitions(ctx: Context) -> Iterable[tuple[Symbol, Span]]:
    tables = [*ctx.symbols.values(), ctx.values.names]
    return ((symbol, symbol.span) for table in tables for symbol in table.values() if symbol.span is not None)


def _place(places: dict[tuple[str, int, int], Mention], symbol: Symbol, span: Span, definition: bool) -> None:
    """The name inside a span that is the name, or the name in quotes; a wider span names nothing."""
    text = span.file.text[span.start : span.end]
    start, end = span.start, span.end
    if text != symbol.name:
        if text != f'"{symbol.name}"':
            return
        start, end = start + 1, end - 1
    places.setdefault((span.file.path, start, end), Mention(start, end, symbol, definition))


def _by_path(places: dict[tuple[str, int, int], Any]) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = {}
    for (path, _, _), item in sorted(places.items(), key=lambda entry: entry[0]):
        found.setdefault(path, []).append(item)
    return found


def _fields(ctx: Context) -> dict[str, list[FieldUse]]:
    places: dict[tuple[str, int, int], FieldUse] = {}
    for symbol, names, span in ctx.fields:
        places.setdefault((span.file.path, span.start, span.end), FieldUse(span.start, span.end, symbol, names))
    return _by_path(places)


def of_scripts(suite: TypedSuite | None, reader: Reader) -> list[Diagnostic]:
    """Mistakes in the scripts of scripted models, as `mcpe lint` finds them."""
    scripts = {model.target for model in suite.models if model.driver == "script"} if suite is not None else ()
    found: list[Diagnostic] = []
    for path in sorted(scripts):
        from mcpeval_dsl.agents.drivers.script_form import load_script

        try:
            text = reader.read(path).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        found += load_script(path, text).diagnostics
    return found


def syntax_alone(path: str, text: str, parts: Parts, why: str, stopped: Callable[[], bool] = _never) -> Analysis:
    """What a very large file's syntax says, with a note that nobody looked further. Raises Superseded between two parts."""
    decoded = decode(path, text.encode("utf-8", "surrogatepass"))
    found = list(decoded.diagnostics)
    file = SourceFile(path, text)
    for part in parts.items if decoded.value is not None else ():
        if stopped():
            raise Superseded
        found += [problem.diagnostic(file, part.start) for problem in part.body.problems]
    note = Diagnostic(
        "MCPE105",
        "this file is too large to be checked as it is typed",
        Location(path, 1, 1, 1, 1),
        f"{why[0].upper()}{why[1:]}.",
        "let `mcpe lint` check it",
        "note",
    )
    told = (note, *reported(file, found, True)) if decoded.value is not None else tuple(found)
    return Analysis(path, {path: text}, None, None, told, {}, {}, {})
