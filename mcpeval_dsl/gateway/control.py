"""The control file of a proxied trial: all that the proxy must know to be the trial's one door, in a process of the host.

Place in the pipeline: written by the run (readable by its owner only: it holds what the servers are started with), read by
`mcpe gateway`. The same rules, pins and limits as in process, so that a host cannot get round them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from mcpeval_dsl.gateway.bounds import Bounds
from mcpeval_dsl.gateway.model import Launch, Pin, ToolDefinition
from mcpeval_dsl.gateway.pins import pin_from_json, pin_to_json
from mcpeval_dsl.gateway.policy import Rules
from mcpeval_dsl.plan.codec import Malformed, decode, encode
from mcpeval_dsl.semantics.disturbances import Fault
from mcpeval_dsl.semantics.expressions import AnyPattern, CallPattern, Expression
from mcpeval_dsl.semantics.model import Catalogue, Never
from mcpeval_dsl.values.model import Scope

CONTROL_FORMAT = "mcpe-gateway/1"
_LAUNCH: TypeAdapter[Launch] = TypeAdapter(Launch)
_TOOLS: TypeAdapter[tuple[ToolDefinition, ...]] = TypeAdapter(tuple[ToolDefinition, ...])
_BOUNDS: TypeAdapter[Bounds] = TypeAdapter(Bounds)


class BadControl(ValueError):
    """The file is no control file; the text is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Control:
    """`tools` are (server, tool, name shown to the host), in order; empty: every usable tool by its own name.

    `folder` is the trial's (None: nothing is watched), `spool` the file for what happens. `secrets` by name are redacted.
    `faults` and `distractors` are what the task puts in the agent's way, by the trial's `seed`; the latter are among `tools`.
    """

    spool: str
    launches: tuple[Launch, ...]
    pins: Mapping[str, Pin] = field(default_factory=dict)
    rules: Rules = field(default_factory=Rules)
    tools: tuple[tuple[str, str, str], ...] = ()
    trial: str = ""
    folder: str | None = None
    name: str = "mcpe"
    instructions: str | None = None
    hard_calls: int | None = None
    private: tuple[str, ...] = ()
    allow_drift: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    show_protocol_errors: bool = False
    elicit: Mapping[str, Any] = field(default_factory=lambda: {"action": "decline"})
    secrets: Mapping[str, str] = field(default_factory=dict)
    canaries: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()
    distractors: tuple[ToolDefinition, ...] = ()
    bounds: Bounds = field(default_factory=Bounds)
    seed: int = 0


_PLAIN = (
    *("spool", "tools", "trial", "folder", "name", "instructions", "hard_calls", "private", "allow_drift"),
    *("show_protocol_errors", "elicit", "secrets", "canaries", "seed"),
)


def write_control(path: Path, control: Control) -> None:
    """Write it, for its owner only. Raises OSError, FileExistsError too."""
    data: dict[str, Any] = {"format": CONTROL_FORMAT}
    data |= {name: getattr(control, name) for name in _PLAIN}
    data["launches"] = [_LAUNCH.dump_python(launch, mode="json") for launch in control.launches]
    data["pins"] = [pin_to_json(pin) for pin in control.pins.values()]
    data["rules"] = _rules_to_json(control.rules)
    data["faults"] = encode(control.faults)
    data["distractors"] = _TOOLS.dump_python(control.distractors, mode="json")
    data["bounds"] = _BOUNDS.dump_python(control.bounds, mode="json")
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(data, stream, default=str)


def read_control(path: Path) -> Control:
    """Raises OSError where it cannot be read, BadControl where it is none."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(data, dict) or data.get("format") != CONTROL_FORMAT:
            raise BadControl(f"its format is not {CONTROL_FORMAT}")
        launches = tuple(_LAUNCH.validate_python(each) for each in data["launches"])
        pins = {each["server"]: pin_from_json(each) for each in data.get("pins", [])}
        given = {name: data[name] for name in _PLAIN if name in data}
        given["tools"] = tuple((str(s), str(t), str(n)) for s, t, n in given.get("tools", ()))
        given["private"] = tuple(given.get("private", ()))
        given["allow_drift"] = {name: tuple(kinds) for name, kinds in given.get("allow_drift", {}).items()}
        given["faults"] = _decoded(tuple[Fault, ...], data.get("faults", []))
        given["distractors"] = _TOOLS.validate_python(data.get("distractors", []))
        given["bounds"] = _BOUNDS.validate_python(data.get("bounds", {}))
        return Control(launches=launches, pins=pins, rules=_rules_from_json(data.get("rules", {})), **given)
    except (KeyError, TypeError, AttributeError, ValidationError, Malformed) as problem:
        raise BadControl(f"it is incomplete or of another version ({problem})") from problem
    except UnicodeDecodeError as problem:
        raise BadControl("it is no text") from problem
    except json.JSONDecodeError as problem:
        raise BadControl(f"it is no JSON ({problem})") from problem


def _rules_to_json(rules: Rules) -> dict[str, Any]:
    return {
        "policy": rules.policy,
        "may": encode(rules.may),
        "never": encode(rules.never),
        "simulate": encode(rules.simulate),
        "catalogues": {name: encode(catalogue) for name, catalogue in rules.catalogues.items()},
        "trust_hints": sorted(rules.trust_hints),
        "disposable": rules.disposable,
        "allow_writes": rules.allow_writes,
        "remote": sorted(rules.remote),
        "names": dict(rules.scope.names),
    }


def _rules_from_json(data: Mapping[str, Any]) -> Rules:
    catalogues = data.get("catalogues", {})
    return Rules(
        policy=data.get("policy", "deny"),
        may=_decoded(tuple[AnyPattern, ...], data.get("may", [])),
        never=_decoded(tuple[Never, ...], data.get("never", [])),
        simulate=_decoded(tuple[tuple[CallPattern, Expression], ...], data.get("simulate", [])),
        catalogues={name: decode(Catalogue, each) for name, each in catalogues.items()},
        trust_hints=frozenset(data.get("trust_hints", ())),
        disposable=bool(data.get("disposable", True)),
        allow_writes=bool(data.get("allow_writes", False)),
        remote=frozenset(data.get("remote", ())),
        scope=Scope(data.get("names", {})),
    )


def _decoded(shape: Any, data: Any) -> Any:
    return decode(shape, data)
