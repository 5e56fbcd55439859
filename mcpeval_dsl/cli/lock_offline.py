"""Command line, behind `mcpe lock --check --offline`: locks as they lie there, without asking any server. Reads only."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from mcpeval_dsl.cli import exits
from mcpeval_dsl.diagnostics.model import Diagnostic

if TYPE_CHECKING:
    from mcpeval_dsl.project.loading import Loaded


def check(arguments: Sequence[str], form: str) -> int:
    """Whether each lock can be believed and has every server of the specs beside it; the exit code of the command."""
    from mcpeval_dsl.cli import specs as loading
    from mcpeval_dsl.cli.findings import show

    specs = loading.load(arguments)
    # of a lock that is broken, that is said, and not that it has no servers
    broken = {d.at.path for d in specs.diagnostics if d.severity == "error" and d.at is not None}
    whole = [loaded for loaded in specs.suites if loading.lock_path(loaded.path) not in broken]
    missing = [found for loaded in whole for found in _missing(loaded)]
    found = [d for d in specs.diagnostics if d.severity == "error"] + missing
    if form == "json":
        print(json.dumps({"type": "version", "format": "mcpe.lock", "version": 1}))
        print(json.dumps({"type": "offline", "specs": len(specs.suites), "missing": len(missing)}))
    if found:
        show(found, specs.sources, "text", sys.stderr)
    elif form == "text":
        print("every lock is whole and has every server")
    if specs.failed or not specs.suites:
        return exits.SPEC
    return exits.FINDINGS if missing else exits.CLEAN


def _missing(loaded: Loaded) -> Iterator[Diagnostic]:
    from mcpeval_dsl.project.loading import lock_path

    known = {server.server for server in loaded.lock.servers} if loaded.lock is not None else set()
    path = lock_path(loaded.path)
    for server in loaded.suite.servers:
        if server.name not in known:
            what = f"{path} has no entry for the server `{server.name}`"
            title = what if loaded.lock is not None else f"there is no {path} for the server `{server.name}`"
            body = "Without it, tools, arguments and paths are not checked before a run."
            yield Diagnostic("MCPE411", title, server.at, body, "write it with `mcpe lock`")
