"""Language server, in the process beside: requests for analyses -> what was found, with the texts as the editor has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

from mcpeval_dsl.diagnostics.settings import LintSettings
from mcpeval_dsl.language_server.analysis import analyse, of_scripts, syntax_alone
from mcpeval_dsl.language_server.disk import Overlay, Stamp
from mcpeval_dsl.language_server.figures import SuiteFigures, figures
from mcpeval_dsl.language_server.locks import KnownLock, Locks
from mcpeval_dsl.language_server.parts import parts_of
from mcpeval_dsl.language_server.snapshot import Analysis
from mcpeval_dsl.project.loading import lock_path
from mcpeval_dsl.semantics.catalogue import KnownServer
from mcpeval_dsl.semantics.model import TypedSuite


@dataclass(frozen=True, slots=True)
class Analyse:
    """`changed` are the texts of open files by absolute path that are new since the last request, None for one closed."""

    root: str
    main: str
    lint: LintSettings
    changed: Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Figure:
    """What a run of the spec would be, as it was last analysed."""

    root: str
    main: str


@dataclass(frozen=True, slots=True)
class Syntax:
    """The syntax alone of a text, because of `why`."""

    path: str
    text: str
    why: str


Request = Analyse | Figure | Syntax

# what analyses import when they come to it; some of it looks at the environment when it is imported
_NEEDED = (
    "mcpeval_dsl.agents.drivers.script_form",
    "mcpeval_dsl.diagnostics.registry",
    "mcpeval_dsl.plan.ceilings",
    "mcpeval_dsl.plan.instances",
    "mcpeval_dsl.plan.lock",
    "mcpeval_dsl.plan.parameters",
    "mcpeval_dsl.plan.prices",
    "mcpeval_dsl.plan.splits",
    "mcpeval_dsl.plan.topology",
    "mcpeval_dsl.statistics.paired",
    "mcpeval_dsl.statistics.power",
    "rapidfuzz.process",
    "re2",
    "scipy.special",
)


def ready() -> None:
    """Import all of that before anything of a workspace is seen."""
    for name in _NEEDED:
        import_module(name)


@dataclass(frozen=True, slots=True)
class Answer:
    """`known` are the tools of the spec's lock where the lock changed since it was last told, else None; `stamps` are of
    all files on disk that were looked at, as they were then."""

    analysis: Analysis | None = None
    known: Mapping[str, KnownServer] | None = None
    figures: SuiteFigures | None = None
    stamps: Mapping[str, Stamp | None] = field(default_factory=dict)


@dataclass(slots=True)
class Analyst:
    """Answers requests one after the other; keeps texts, locks and the last suites."""

    buffers: dict[str, str] = field(default_factory=dict)
    suites: dict[tuple[str, str], TypedSuite] = field(default_factory=dict)
    _locks: dict[str, Locks] = field(default_factory=dict)
    _told: dict[tuple[str, str], KnownLock] = field(default_factory=dict)

    def answer(self, request: Request, stopped: Callable[[], bool]) -> Answer:
        """Raises Superseded once `stopped()` is true."""
        match request:
            case Analyse():
                return self._analyse(request, stopped)
            case Figure():
                suite = self.suites.get((request.root, request.main))
                return Answer(figures=figures(suite) if suite is not None else None)
            case Syntax():
                text = request.text
                parts = parts_of(request.path, text).items
                return Answer(syntax_alone(request.path, text, parts, request.why, stopped))

    def _analyse(self, request: Analyse, stopped: Callable[[], bool]) -> Answer:
        for full, text in request.changed.items():
            if text is None:
                self.buffers.pop(full, None)
            else:
                self.buffers[full] = text
        overlay = Overlay(request.root, self.buffers)
        lock = self._locks.setdefault(request.root, Locks()).beside(Path(request.root), request.main)
        found = analyse(request.main, overlay, lock.known, stopped)
        told = request.lint.apply([*lock.diagnostics, *found.diagnostics, *of_scripts(found.suite, overlay)])
        key = (request.root, request.main)
        if found.suite is not None and not any(d.severity == "error" for d in told):
            self.suites[key] = found.suite
        texts = {path: data.decode("utf-8", "replace") for path, data in overlay.read_texts.items()}
        texts.update(lock.texts)
        places = {at.path for d in told for at in (d.at, *(label.at for label in d.labels)) if at is not None}
        others = {path: texts[path] for path in places if path in texts and path not in found.texts}
        news = lock.known if self._told.get(key) is not lock else None
        self._told[key] = lock
        stamps = {**overlay.stamps, lock_path(request.main): lock.stamp}
        return Answer(Analysis(request.main, found.texts, tuple(told), others), news, stamps=stamps)
