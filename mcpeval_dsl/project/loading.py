"""Project: specs read and checked, each with the lock beside it. Reading is all that happens here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.diagnostics.settings import LintSettings
from mcpeval_dsl.diagnostics.suppression import Suppressions
from mcpeval_dsl.project.files import FileReader, Project, find, spec_files
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.values.regular import regular_bytes

# as in plan.lock_digest; nothing of that room is imported where there is no lock
LOCK_FILE = "mcpe.lock"

if TYPE_CHECKING:
    from mcpeval_dsl.plan.model import Lock
    from mcpeval_dsl.semantics.catalogue import KnownServer
    from mcpeval_dsl.semantics.model import TypedSuite


@dataclass(frozen=True, slots=True)
class Loaded:
    """One spec that is free of errors."""

    path: str
    suite: TypedSuite
    lock: Lock | None
    warnings: tuple[Diagnostic, ...]


@dataclass(slots=True)
class Specs:
    """All specs of one command. `suites` holds those free of errors; `diagnostics` those of all, by the project's settings.

    `suppressions` are the comments of the files read, which have ignored some already; `known` are tools by path of the lock.
    """

    project: Project | None = None
    reader: FileReader = field(default_factory=lambda: FileReader(Path()))
    suites: list[Loaded] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)
    suppressions: Suppressions = field(default_factory=Suppressions)
    known: dict[str, Mapping[str, KnownServer]] = field(default_factory=dict)

    @property
    def failed(self) -> bool:
        return any(d.severity == "error" for d in self.diagnostics)

    @property
    def sources(self) -> Mapping[str, SourceFile]:
        """Texts to quote from in messages."""
        return {p: SourceFile(p, data.decode("utf-8", "replace")) for p, data in self.reader.texts.items()}


def load(
    arguments: Iterable[str],
    with_lock: bool = True,
    *,
    design: bool = False,
    adjust: Callable[[LintSettings], LintSettings] | None = None,
    overlay: Mapping[str, bytes] | None = None,
) -> Specs:
    """Reads and checks the specs named, or those of the project. Without `with_lock`, what is locked is not read.

    `design`: with advice on the design; `adjust` changes the project's settings; `overlay` stands in for files, by path.
    """
    given = tuple(arguments)
    specs = Specs()
    found = find(Path.cwd() / given[0] if given else Path.cwd())
    specs.diagnostics.extend(found.diagnostics)
    if found.value is None:
        return specs
    specs.project = found.value if adjust is None else replace(found.value, lint=adjust(found.value.lint))
    specs.reader = FileReader(found.value.root, overlay=overlay or {})
    paths = spec_files(found.value, given)
    specs.diagnostics.extend(paths.diagnostics)
    for path in paths.value or ():
        _load_one(specs, specs.project.lint, path, with_lock, design)
    return specs


def _load_one(specs: Specs, settings: LintSettings, path: str, with_lock: bool, design: bool) -> None:
    from mcpeval_dsl import pipeline

    lock, known = None, None
    if with_lock and design:
        known = read_known(specs, path)  # nothing is planned, so the lock itself is not needed
    elif with_lock and (lock := read_lock(specs, path)) is not None:
        from mcpeval_dsl.plan import lock as locks

        known = locks.known(lock)
    checked = pipeline.check(path, specs.reader, known, design=design, suppressions=specs.suppressions)
    told = settings.apply(checked.diagnostics)
    specs.diagnostics.extend(told)
    if checked.value is not None and not any(d.severity == "error" for d in told):
        warnings = tuple(d for d in told if d.severity == "warning")
        specs.suites.append(Loaded(path, checked.value, lock, warnings))


def lock_path(spec: str) -> str:
    """`mcpe.lock` beside the spec."""
    return str(PurePosixPath(spec).parent / LOCK_FILE)


def read_known(specs: Specs, spec: str) -> Mapping[str, KnownServer]:
    """The tools in the lock beside a spec, each lock read once; nothing where `read_lock` gives none."""
    path = lock_path(spec)
    if path not in specs.known:
        data = _lock_bytes(specs, path)
        found: Mapping[str, KnownServer] | None = {}
        if data is not None:
            from mcpeval_dsl.project.locked_tools import known_of

            found = known_of(data)
        if found is None:
            from mcpeval_dsl.plan import lock as locks

            found = locks.known(_read(specs, path, data or b""))
        specs.known[path] = found
    return specs.known[path]


def read_lock(specs: Specs, spec: str) -> Lock | None:
    """The lock beside a spec; None where there is none, or where it cannot be read (which is told once)."""
    path = lock_path(spec)
    data = _lock_bytes(specs, path)
    return None if data is None else _read(specs, path, data)


def _lock_bytes(specs: Specs, path: str) -> bytes | None:
    try:
        return regular_bytes(specs.reader.root / path)
    except FileNotFoundError:
        return None
    except OSError as error:
        specs.diagnostics.append(Diagnostic("MCPE401", f"{path} cannot be read: {error.strerror}"))
        return None


def _read(specs: Specs, path: str, data: bytes) -> Lock | None:
    from mcpeval_dsl.plan import lock as locks

    found = locks.read(data, path)
    if found.diagnostics:
        specs.reader.texts[path] = data  # to quote from
    specs.diagnostics.extend(found.diagnostics)
    return found.value
