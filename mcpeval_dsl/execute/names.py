"""The names in force in one trial or harvest: variables, lets, harvested values, the loop's row, what the set-up bound."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from mcpeval_dsl.plan.model import Plan
from mcpeval_dsl.semantics.model import Cell, Let
from mcpeval_dsl.values.evaluate import evaluate
from mcpeval_dsl.values.model import EvaluationError, Scope


@dataclass(slots=True)
class Names:
    """A growing set of names; `scope` gives the frozen view that expressions are evaluated in."""

    values: dict[str, Any] = field(default_factory=dict)
    lets: tuple[Let, ...] = ()
    secrets: Mapping[str, str] = field(default_factory=dict)

    def scope(self, **more: Any) -> Scope:
        """All names, with every let that can be evaluated by now."""
        names = {**self.values, **more}
        pending = [let for let in self.lets if let.name not in names]
        while pending:
            later = []
            for let in pending:
                try:
                    names[let.name] = evaluate(let.value, Scope(names, secrets=self.secrets))
                except EvaluationError:
                    later.append(let)
            if len(later) == len(pending):
                break
            pending = later
        return Scope(names, secrets=self.secrets)

    def bind(self, path: tuple[str, ...], value: Any) -> None:
        """Set a nested name: `("board", "login")`."""
        here = self.values
        for part in path[:-1]:
            here = here.setdefault(part, {})
        here[path[-1]] = value


def extended(scope: Scope, **names: Any) -> Scope:
    """The scope with further names."""
    return replace(scope, names={**scope.names, **names})


def starting(
    plan: Plan,
    cell: Cell,
    *,
    workdir: str,
    home: str,
    trial: int,
    run: str,
    ports: Mapping[str, int],
    harvested: Iterable[tuple[str, Any]] = (),
    secrets: Mapping[str, str] | None = None,
) -> Names:
    """Names of one trial before its set-up. `seed` is the suite's: environments of all trials must be equal."""
    values: dict[str, Any] = {
        "workdir": workdir,
        "home": home,
        "trial": trial,
        "seed": plan.suite.seed,
        "run": run,
        "today": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "port": dict(ports),
        "model": cell.model,
        "host": cell.host,
        "arm": cell.arm or "",
    }
    if cell.server is not None:
        values["server"] = cell.server
    empty = Scope({})
    for parameter in cell.parameters:
        values[parameter.key] = evaluate(parameter.value, empty)
    values.update(harvested)
    return Names(values, plan.lets, secrets or {})
