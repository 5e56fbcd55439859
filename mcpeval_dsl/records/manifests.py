"""Records: is this the same run? Compares the manifest of a run folder with the one a command would make now."""

from __future__ import annotations

from typing import Any

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.records.model import Manifest

_NOT_IDENTITY = frozenset({"format", "run", "environment"})
_SHOWN = 12


def differences(kept: Manifest, now: Manifest) -> tuple[str, ...]:
    """One line for each thing that differs and makes another run of it, `name: then → now`."""
    left, right = kept.model_dump(), now.model_dump()
    found: list[str] = []
    for name in left:
        if name not in _NOT_IDENTITY:
            found.extend(_differences(name, left[name], right[name]))
    return tuple(found)


def _differences(name: str, left: Any, right: Any) -> list[str]:
    if left == right:
        return []
    if isinstance(left, dict) and isinstance(right, dict):
        keys = sorted({*left, *right})
        return [line for key in keys for line in _differences(f"{name}.{key}", left.get(key), right.get(key))]
    return [f"{name}: {_short(left)} → {_short(right)}"]


def _short(value: Any) -> str:
    if value is None:
        return "(absent)"
    text = str(value)
    return text[:16] + "…" if len(text) > 40 else text


def refusal(kept: Manifest, found: tuple[str, ...]) -> Diagnostic:
    lines = [*found[:_SHOWN], *([f"and {len(found) - _SHOWN} more"] if len(found) > _SHOWN else [])]
    return Diagnostic(
        code="MCPE540",
        title=f"run `{kept.run}` was made with something else",
        body="A run is continued only with what it was started with. Differs: " + "; ".join(lines),
        hint="start a new run with `mcpe run --fresh`, or put back what changed",
    )


def in_use(path: str) -> Diagnostic:
    return Diagnostic(
        code="MCPE541",
        title=f"another runner is writing in {path}",
        body="One process at a time writes a run's ledger.",
        hint="wait for it to end, or stop it with Ctrl-C in its terminal",
    )
