"""Command line, behind `mcpe doctor`: how the project stands: its specs, locks and trust, and the editor. Starts nothing."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from mcpeval_dsl import __version__
from mcpeval_dsl.execute.machine import Finding

if TYPE_CHECKING:
    from mcpeval_dsl.diagnostics.model import Checked
    from mcpeval_dsl.plan.model import Plan
    from mcpeval_dsl.project.files import Project
    from mcpeval_dsl.project.loading import Specs


def examine(found: Checked[Project], root: Path) -> Iterator[Finding]:
    """mcpe itself, the project's settings, its specs with their locks and what they may start, the editor's part."""
    yield Finding("mcpe", "ok", f"{__version__} in {Path(__file__).parents[1]}")
    if found.value is None:
        yield Finding("project", "error", "; ".join(each.title for each in found.diagnostics))
        yield _editor()
        return
    config = found.value.config
    said = "no mcpe.toml: specs/ is looked at" if config is None else f"as {config.name} says"
    yield Finding("project", "ok", f"{root}, {said}")
    yield from _specs(root)
    yield _editor()


def _specs(root: Path) -> Iterator[Finding]:
    from mcpeval_dsl.cli import specs as loading

    specs = loading.load(())
    errors = [d for d in specs.diagnostics if d.severity == "error" and not d.code.startswith("MCPE4")]
    if [d.code for d in errors] == ["MCPE575"]:
        yield Finding("specs", "note", errors[0].title, "`mcpe init` writes a first suite")
        return
    sound = len(specs.suites)
    if errors:
        yield Finding(
            "specs",
            "error",
            f"{_counted(len(errors), 'error')}, {_counted(sound, 'spec')} without any",
            "`mcpe lint` shows each",
        )
    else:
        yield Finding("specs", "ok", f"{_counted(sound, 'spec')}, none with an error")
    yield from _locks(specs)
    yield from _trusted(specs, root)


def _locks(specs: Specs) -> Iterator[Finding]:
    """Whether locks are whole and complete; whether they are true, only the servers can say."""
    broken = [d for d in specs.diagnostics if d.code.startswith("MCPE4") and d.severity == "error"]
    if broken:
        yield Finding("locks", "error", broken[0].title, broken[0].hint)
        return
    missing = []
    for loaded in specs.suites:
        known = {server.server for server in loaded.lock.servers} if loaded.lock is not None else set()
        missing += [f"{server.name} of {loaded.path}" for server in loaded.suite.servers if server.name not in known]
    count = sum(len(loaded.suite.servers) for loaded in specs.suites)
    if missing:
        said = f"{count - len(missing)} of {_counted(count, 'server')} locked; not {missing[0]}"
        said += f" and {len(missing) - 1} more" if len(missing) > 1 else ""
        hint = "`mcpe lock`: then tools, arguments and paths are checked before a run"
        yield Finding("locks", "warning", said, hint)
    elif count:
        hint = "`mcpe lock --check` asks the servers whether it is still true"
        yield Finding(
            "locks", "ok", f"{_counted(count, 'server')} locked; whether still so, `mcpe lock --check` asks", hint
        )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


def _trusted(specs: Specs, root: Path) -> Iterator[Finding]:
    """What the specs start that nobody has trusted here. It is read, not asked for."""
    from mcpeval_dsl.cli.trusting import of_plan
    from mcpeval_dsl.execute import trust

    items = [item for plan in _plans(specs) for item in of_plan(plan, root, starting=False)]
    items = list(dict.fromkeys(items))
    if not items:
        return
    try:
        new = trust.untrusted(items, [trust.personal_store()])
    except ValueError:
        return  # the trust store has a line of its own
    if new:
        said = f"{len(items) - len(new)} of {_counted(len(items), 'command line')} trusted here"
        yield Finding("trust", "warning", said, "`mcpe trust` shows the others; in CI, give --trust-file")
    else:
        yield Finding("trust", "ok", f"{_counted(len(items), 'command line')} of these specs, trusted here")


def _plans(specs: Specs) -> Iterator[Plan]:
    from mcpeval_dsl.plan.build import build
    from mcpeval_dsl.plan.model import Selection

    for loaded in specs.suites:
        made = build(loaded.suite, loaded.lock, {}, Selection(heldout=True))
        if made.value is not None:
            yield made.value


def _editor() -> Finding:
    try:
        return Finding("editor", "ok", f"mcpe lsp can serve one (pygls {version('pygls')})")
    except PackageNotFoundError:
        return Finding(
            "editor", "note", "the language server is not installed", "needed only in editors: the extra `[lsp]`"
        )
