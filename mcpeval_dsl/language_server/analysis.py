"""Language server, in the background: one spec through the compiler's front end -> an `Analysis` for the editor.

The same stages as `mcpe lint`, with a question between them whether anybody still waits for the answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from mcpeval_dsl import pipeline
from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.language_server.background import Superseded
from mcpeval_dsl.language_server.parts import Part
from mcpeval_dsl.language_server.snapshot import Analysis
from mcpeval_dsl.semantics import front
from mcpeval_dsl.semantics.catalogue import KnownServer
from mcpeval_dsl.semantics.model import TypedSuite
from mcpeval_dsl.semantics.reader import Reader
from mcpeval_dsl.source import Location, SourceFile
from mcpeval_dsl.syntax import decode
from mcpeval_dsl.syntax.reading import reported


def _never() -> bool:
    return False


@dataclass(frozen=True, slots=True)
class Found:
    """`texts` are those of the spec and its imports, by path; `suite` is None where the spec could not be read."""

    texts: Mapping[str, str]
    suite: TypedSuite | None
    diagnostics: tuple[Diagnostic, ...]


def analyse(path: str, reader: Reader, known: Mapping[str, KnownServer], stopped: Callable[[], bool] = _never) -> Found:
    """What the spec at `path` means. Raises Superseded between two stages once `stopped()` is true."""
    texts: dict[str, str] = {}

    def watch(value: object) -> None:
        if stopped():
            raise Superseded
        if isinstance(value, front.Sources):
            texts.update({tree.file.path: tree.file.text for tree in value.loaded.trees})

    checked = pipeline.check(path, reader, known, design=True, watch=watch)
    return Found(texts, checked.value, checked.diagnostics)


def of_scripts(suite: TypedSuite | None, reader: Reader) -> list[Diagnostic]:
    """Mistakes in the scripts of scripted models, as `mcpe lint` finds them."""
    scripts = {model.target for model in suite.models if model.driver == "script"} if suite is not None else ()
    if not scripts:
        return []
    from mcpeval_dsl.agents.drivers.script_form import faults

    return [*faults(sorted(scripts), reader.read)]


def syntax_alone(
    path: str, text: str, parts: tuple[Part, ...], why: str, stopped: Callable[[], bool] = _never
) -> Analysis:
    """What a very large file's syntax says, with a note that nobody looked further. Raises Superseded between two parts."""
    decoded = decode(path, text.encode("utf-8", "surrogatepass"))
    found = list(decoded.diagnostics)
    file = SourceFile(path, text)
    for part in parts if decoded.value is not None else ():
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
    return Analysis(path, {path: text}, told)
