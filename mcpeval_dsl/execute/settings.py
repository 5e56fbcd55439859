"""What the operator decides about a run; nothing of it can come from a spec."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

from mcpeval_dsl.gateway.sandbox import MODES, Mode
from mcpeval_dsl.values.regular import regular_text

LOCAL_FILE = "mcpe.local.toml"
SANDBOX_VARIABLE = "MCPE_SANDBOX"
"""Goes before the file's `mode`, for a machine that runs many projects."""


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """Where a provider's API is and which variable holds its key. `base_url` None is the provider's own address."""

    base_url: str | None = None
    api_key_variable: str | None = None
    timeout: float = 120.0
    patience: float = 300.0

    @property
    def api_key(self) -> str | None:
        return os.environ.get(self.api_key_variable) if self.api_key_variable else None


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """How what trials start is confined; `writable` are folders outside the trial's that stay writable.

    `network`: open for all, closed though a spec lists hosts, or (None) as the spec says.
    """

    mode: Mode = "auto"
    network: bool | None = None
    writable: tuple[str, ...] = ()


DEFAULT_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "litellm": None}


@dataclass(frozen=True, slots=True)
class RunSettings:
    """`jobs`: trials in flight; `starts`: servers starting at once; `grace`: seconds the first Ctrl-C waits for trials.

    `max_cost`: dollars after which no trial of the run begins.
    """

    project_root: Path
    jobs: int = 4
    starts: int = 2
    allow_writes: bool = False
    keep_folders: bool = False
    grace: float = 30.0
    max_cost: float | None = None
    providers: Mapping[str, ProviderSettings] = field(default_factory=dict)
    sandbox: SandboxSettings = SandboxSettings()

    def provider(self, driver: str) -> ProviderSettings:
        return self.providers.get(driver, ProviderSettings(api_key_variable=DEFAULT_KEYS.get(driver)))


def load(project_root: Path, *, jobs: int | None = None, allow_writes: bool = False, keep: bool = False) -> RunSettings:
    """Settings of `mcpe.local.toml` beside the project's other files. Raises ValueError with a sentence for a bad one."""
    data = _data(project_root / LOCAL_FILE)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else (os.cpu_count() or 2)
    return RunSettings(
        project_root=project_root,
        jobs=jobs or max(2 * cores, 4),
        starts=cores,
        allow_writes=allow_writes,
        keep_folders=keep,
        providers=_providers(data),
        sandbox=_sandbox(data, project_root),
    )


def _tables(value: object, name: str) -> dict[str, dict[str, Any]]:
    if not isinstance(value, dict) or not all(isinstance(table, dict) for table in value.values()):
        raise ValueError(f"{LOCAL_FILE}: `{name}` holds tables: [{name}.anthropic]")
    return value


def _data(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(regular_text(path))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{LOCAL_FILE} cannot be read: {getattr(error, 'strerror', None) or error}") from error


def _sandbox(data: dict[str, Any], root: Path) -> SandboxSettings:
    table = data.get("sandbox", {})
    if not isinstance(table, dict):
        raise ValueError(f"{LOCAL_FILE}: `sandbox` is a table: [sandbox]")
    unknown = sorted(set(table) - {"mode", "network", "writable"})
    if unknown:
        raise ValueError(
            f"{LOCAL_FILE}: [sandbox] has an unknown key `{unknown[0]}`; known are mode, network, writable"
        )
    mode, network, writable = table.get("mode", "auto"), table.get("network"), table.get("writable", [])
    if mode not in MODES:
        raise ValueError(f"{LOCAL_FILE}: `mode` of [sandbox] is one of {', '.join(MODES)}")
    said = os.environ.get(SANDBOX_VARIABLE) or mode
    if said not in MODES:
        raise ValueError(f"{SANDBOX_VARIABLE} is one of {', '.join(MODES)}, not `{said[:40]}`")
    if network is not None and not isinstance(network, bool):
        raise ValueError(f"{LOCAL_FILE}: `network` of [sandbox] is true or false")
    if not isinstance(writable, list) or not all(isinstance(item, str) and item for item in writable):
        raise ValueError(f"{LOCAL_FILE}: `writable` of [sandbox] is a list of folders")
    return SandboxSettings(cast(Mode, said), network, tuple(str(root / Path(item).expanduser()) for item in writable))


def _providers(data: dict[str, Any]) -> dict[str, ProviderSettings]:
    found: dict[str, ProviderSettings] = {}
    for name, table in _tables(data.get("providers", {}), "providers").items():
        known = {"base_url", "api_key_variable", "timeout", "patience"}
        unknown = sorted(set(table) - known)
        if unknown:
            raise ValueError(
                f"{LOCAL_FILE}: [providers.{name}] has an unknown key `{unknown[0]}`; known are {', '.join(sorted(known))}"
            )
        for key, value in table.items():
            number = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")
            if not (number if key in ("timeout", "patience") else isinstance(value, str)):
                wanted = "a number of seconds" if key in ("timeout", "patience") else "a text"
                raise ValueError(f"{LOCAL_FILE}: `{key}` of [providers.{name}] is {wanted}")
        values = {"api_key_variable": DEFAULT_KEYS.get(name), **table}
        found[name] = ProviderSettings(**values)
    return found
