"""From a server of the plan to what the gateway needs to reach it: words, folder, variables, headers."""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from mcpeval_dsl.execute.environ import minimal
from mcpeval_dsl.execute.folders import TrialFolder
from mcpeval_dsl.execute.names import extended
from mcpeval_dsl.execute.steps import beside_spec
from mcpeval_dsl.gateway.model import Launch
from mcpeval_dsl.gateway.sandbox import Sandbox
from mcpeval_dsl.semantics.model import EnvironmentVariable, Server
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import Scope
from mcpeval_dsl.values.sources import argv_of
from mcpeval_dsl.values.text import as_text


def variables_of(variables: Iterable[EnvironmentVariable], scope: Scope) -> dict[str, str]:
    """The named variables with their values; raises EvaluationError."""
    return {variable.name: as_text(evaluate(variable.value, scope)) for variable in variables}


def launch_of(
    server: Server,
    scope: Scope,
    folder: TrialFolder,
    spec_folder: Path,
    shared: Mapping[str, str],
    sandbox: Sandbox | None = None,
    prepared: Path | None = None,
) -> Launch:
    """How one trial reaches one server. Raises EvaluationError.

    `shared` are the environment's own variables; `prepared` is where the server's `prepare` has made it.
    """
    if server.prepare is not None and prepared is not None:
        scope = extended(scope, prepared=str(prepared))
        sandbox = None if sandbox is None else replace(sandbox, shown=(*sandbox.shown, str(prepared)))
    own = {**shared, **variables_of(server.env, scope)}
    if server.url is not None:
        headers = {header.name: as_text(evaluate(header.value, scope)) for header in server.headers}
        return Launch(
            server.name,
            url=as_text(evaluate(server.url, scope)),
            headers=headers,
            protocols=server.protocols,
            call_timeout=server.timeout,
            start_timeout=server.start_timeout,
        )
    words = argv_of(server.argv, scope)
    env = minimal(folder, own)
    argv = [beside_spec(word, spec_folder, program=index == 0) for index, word in enumerate(words)]
    argv[0] = shutil.which(argv[0], path=env["PATH"]) or argv[0]
    return Launch(
        server.name,
        argv=tuple(argv),
        cwd=str(folder.work),
        env=env,
        protocols=server.protocols,
        call_timeout=server.timeout,
        start_timeout=server.start_timeout,
        wrapper=() if sandbox is None else sandbox.wrapping(folder.root, folder.work)(argv, env),
    )
