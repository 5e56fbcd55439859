"""Command line, shared by compile, graph, lock and run: specs read and checked, with their locks and digests."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from mcpeval_dsl.cli.project import FileReader, Project, digests, find, spec_files
from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.source import SourceFile
from mcpeval_dsl.values.regular import regular_bytes

# as in plan.lock, which is imported only where there is a lock: its pydantic would double the time of lint
LOCK_FILE = "mcpe.lock"

if TYPE_CHECKING:
    from mcpeval_dsl.plan.model import Lock, Plan, Selection
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
    """All specs of one command. `suites` holds those free of errors; `diagnostics` those of all."""

    project: Project | None = None
    reader: FileReader = field(default_factory=lambda: FileReader(Path()))
    suites: list[Loaded] = field(default_factory=list)
    diagnostics: list[Diagnostic] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        return any(d.severity == "error" for d in self.diagnostics)

    @property
    def sources(self) -> Mapping[str, SourceFile]:
        """Texts to quote from in messages."""
        return {p: SourceFile(p, data.decode("utf-8", "replace")) for p, data in self.reader.texts.items()}


def load(arguments: Iterable[str], with_lock: bool = True) -> Specs:
    """Reads and checks the specs named, or those of the project. Without `with_lock`, what is locked is not read."""
    given = tuple(arguments)
    specs = Specs()
    found = find(Path.cwd() / given[0] if given else Path.cwd())
    specs.diagnostics.extend(found.diagnostics)
    if found.value is None:
        return specs
    specs.project = found.value
    specs.reader = FileReader(found.value.root)
    paths = spec_files(found.value, given)
    specs.diagnostics.extend(paths.diagnostics)
    for path in paths.value or ():
        _load_one(specs, path, with_lock)
    return specs


def _load_one(specs: Specs, path: str, with_lock: bool) -> None:
    from mcpeval_dsl import pipeline

    lock = read_lock(specs, path) if with_lock else None
    known = None
    if lock is not None:
        from mcpeval_dsl.plan import lock as locks

        known = locks.known(lock)
    checked = pipeline.check(path, specs.reader, known)
    specs.diagnostics.extend(checked.diagnostics)
    if checked.value is not None and checked.ok:
        warnings = tuple(d for d in checked.diagnostics if d.severity == "warning")
        specs.suites.append(Loaded(path, checked.value, lock, warnings))


def lock_path(spec: str) -> str:
    """`mcpe.lock` beside the spec."""
    return str(PurePosixPath(spec).parent / LOCK_FILE)


def read_lock(specs: Specs, spec: str) -> Lock | None:
    """The lock beside a spec; None where there is none, or where it cannot be read (which is told once)."""
    path = lock_path(spec)
    try:
        data = regular_bytes(specs.reader.root / path)
    except FileNotFoundError:
        return None
    except OSError as error:
        specs.diagnostics.append(Diagnostic("MCPE401", f"{path} cannot be read: {error.strerror}"))
        return None
    from mcpeval_dsl.plan import lock as locks

    found = locks.read(data, path)
    specs.diagnostics.extend(found.diagnostics)
    return found.value


def plan(specs: Specs, selection: Selection) -> list[Plan]:
    """The plans of all suites in which something is selected; what is wrong goes to `specs.diagnostics`.

    A name in `--select` or `--exclude` has to be known in one of the suites, not in each.
    """
    from mcpeval_dsl.plan.build import build

    assert specs.project is not None
    several = len(specs.suites) > 1
    plans: list[Plan] = []
    elsewhere: list[list[Diagnostic]] = []
    for loaded in specs.suites:
        paths = (*loaded.suite.files, *loaded.suite.fixtures)
        made = build(
            loaded.suite,
            loaded.lock,
            digests(specs.project.root, paths),
            selection,
            loaded.warnings,
            several=several,
        )
        own = [d for d in made.diagnostics if d.code not in ("MCPE570", "MCPE571")] if several else made.diagnostics
        specs.diagnostics.extend(own)
        elsewhere.append([d for d in made.diagnostics if d.code in ("MCPE570", "MCPE571")])
        if made.value is not None:
            plans.append(made.value)
            specs.diagnostics.extend(_out_of_reach(made.value))
    if several:
        specs.diagnostics.extend(_nowhere(elsewhere, bool(plans)))
    return plans


def _out_of_reach(plan: Plan) -> list[Diagnostic]:
    """Rules of the gate that so few tasks and trials cannot decide. Statistics are loaded only where a rule needs them."""
    rules = plan.suite.gate.rules
    if not any(rule.bound is not None or rule.metric in ("lift", "compare") for rule in rules):
        return []
    from mcpeval_dsl.score.foresight import foresee

    return foresee(plan)


def _nowhere(found: list[list[Diagnostic]], something: bool) -> list[Diagnostic]:
    """The unknown names that no suite knows; where nothing at all is selected, that."""
    from dataclasses import replace

    unknown = [{d.title: d for d in each if d.code == "MCPE571"} for each in found]
    titles = set.intersection(*(set(each) for each in unknown)) if unknown else set()
    errors = [replace(d, severity="error") for title, d in unknown[0].items() if title in titles] if unknown else []
    nothing = [d for each in found for d in each if d.code == "MCPE570"]
    return errors or ([] if something else nothing)
