"""Inside tool preparation: what each provider cannot take in an input schema, and the schema it can take instead.

Lossless changes (an empty `properties`, a missing `type: object`, `$schema`, references inlined) are silent. A change that
lets through what the server would refuse, or hides what it says, is lossy: recorded with the words a person needs.
Sources are the providers' own error texts; the table is in docs/agents.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

COMBINATORS = ("anyOf", "oneOf", "allOf")
_GEMINI_DROPS = (
    "additionalProperties", "const", "exclusiveMinimum", "exclusiveMaximum", "patternProperties", "oneOf", "not",
    "if", "then", "else", "dependentRequired", "dependentSchemas", "unevaluatedProperties", "propertyNames", "contains",
)  # fmt: skip
_SILENT_DROPS = ("$schema", "$id", "$comment", "$anchor", "$vocabulary")
_MAX_DEPTH = 24
_MAX_NODES = 20_000
_SUBSCHEMA_MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependentSchemas")


@dataclass(slots=True)
class Rewriting:
    """What one provider takes, and what was lost on the way. `nodes` bounds the growth that inlining can cause."""

    root: Mapping[str, Any]
    inline: bool
    drops: tuple[str, ...]
    lost: list[str] = field(default_factory=list)
    nodes: int = 0

    def lose(self, text: str) -> None:
        if text not in self.lost:
            self.lost.append(text)


def rewrite(provider: str, schema: Mapping[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """(schema for the provider, what was lost). `provider` is `anthropic`, `openai`, `gemini`; any other is taken whole."""
    if provider not in ("anthropic", "openai", "gemini"):
        return dict(schema), ()
    work = Rewriting(schema, inline=provider == "gemini", drops=_GEMINI_DROPS if provider == "gemini" else ())
    flat = _flatten_root(schema, work)
    made = _walk(flat, work, (), 0)
    made["type"] = "object"
    if not isinstance(made.get("properties"), dict):
        made["properties"] = {}
    if provider == "gemini":
        made.pop("$defs", None)
        made.pop("definitions", None)
    return made, tuple(work.lost)


def _flatten_root(schema: Mapping[str, Any], work: Rewriting) -> dict[str, Any]:
    """A root without combinators: properties of all branches; required only what every branch (or the root) requires."""
    found = [key for key in COMBINATORS if isinstance(schema.get(key), list)]
    if not found:
        return dict(schema)
    flat = {key: value for key, value in schema.items() if key not in found}
    properties: dict[str, Any] = dict(flat["properties"]) if isinstance(flat.get("properties"), dict) else {}
    required = [name for name in flat.get("required", ()) if isinstance(name, str)]
    for key in found:
        branches = [_resolved(branch, work) for branch in schema[key]]
        for branch in branches:
            for name, value in (branch.get("properties") or {}).items():
                properties.setdefault(name, value)
        wanted = [set(branch.get("required") or ()) for branch in branches]
        common = (set().union(*wanted) if key == "allOf" else set.intersection(*wanted)) if wanted else set()
        required += sorted(name for name in common if name not in required)
        work.lose(f"root {key} flattened: which arguments go together is no longer said")
    flat["properties"] = properties
    if required:
        flat["required"] = required
    return flat


def _resolved(branch: Any, work: Rewriting) -> Mapping[str, Any]:
    """A branch of a root combinator, one reference followed; anything else is an empty schema."""
    if isinstance(branch, Mapping) and isinstance(branch.get("$ref"), str):
        branch = _pointer(work.root, branch["$ref"])
    return branch if isinstance(branch, Mapping) else {}


def _walk(node: Mapping[str, Any], work: Rewriting, open_refs: tuple[str, ...], depth: int) -> dict[str, Any]:
    work.nodes += 1
    if depth > _MAX_DEPTH or work.nodes > _MAX_NODES:
        work.lose("nested too deeply: the innermost parts accept anything")
        return {}
    if work.inline and isinstance(node.get("$ref"), str):
        return _inlined(node, work, open_refs, depth)
    made: dict[str, Any] = {}
    for key, value in node.items():
        if key in _SILENT_DROPS:
            continue
        if key in work.drops:
            _drop(key, value, made, work)
        elif key in _SUBSCHEMA_MAPS and isinstance(value, Mapping):
            if not (work.inline and key in ("$defs", "definitions")):
                made[key] = {name: _sub(sub, work, open_refs, depth) for name, sub in value.items()}
        elif key == "type" and isinstance(value, list) and work.inline:
            _type_list(value, made, work)
        elif key in (*COMBINATORS, "prefixItems") and isinstance(value, list):
            made[key] = [_sub(sub, work, open_refs, depth) for sub in value]
        elif key in ("items", "additionalProperties", "not", "if", "then", "else", "contains"):
            made[key] = _sub(value, work, open_refs, depth)
        else:
            made[key] = value
    if made.get("type") == "array" and "items" not in made:
        made["items"] = {}
    return made


def _sub(value: Any, work: Rewriting, open_refs: tuple[str, ...], depth: int) -> Any:
    return _walk(value, work, open_refs, depth + 1) if isinstance(value, Mapping) else value


def _drop(key: str, value: Any, made: dict[str, Any], work: Rewriting) -> None:
    """Leaves a keyword out; where the subset has an equal form, uses that and loses nothing."""
    if key == "const" and isinstance(value, str):
        made["enum"] = [value]
    elif key == "oneOf" and isinstance(value, list):
        made["anyOf"] = [_sub(sub, work, (), 0) for sub in value]
        work.lose("oneOf became anyOf")
    elif key == "additionalProperties" and value is not False and not isinstance(value, Mapping):
        return
    else:
        work.lose(f"{key} left out")


def _type_list(kinds: list[Any], made: dict[str, Any], work: Rewriting) -> None:
    real = [kind for kind in kinds if kind != "null"]
    if len(real) == 1:
        made["type"] = real[0]
    else:
        made["anyOf"] = [{"type": kind} for kind in real]
    if len(real) < len(kinds):
        made["nullable"] = True


def _inlined(node: Mapping[str, Any], work: Rewriting, open_refs: tuple[str, ...], depth: int) -> dict[str, Any]:
    ref = node["$ref"]
    target = _pointer(work.root, ref)
    beside = {key: value for key, value in node.items() if key != "$ref"}
    if ref in open_refs or not isinstance(target, Mapping):
        work.lose("a recursive or unknown $ref cut: its inside accepts anything")
        return _walk({"type": "object", **beside}, work, open_refs, depth + 1)
    return _walk({**target, **beside}, work, (*open_refs, ref), depth + 1)


def _pointer(root: Mapping[str, Any], ref: str) -> Any:
    """Target of a local reference (`#/…`, RFC 6901), or None."""
    if not ref.startswith("#"):
        return None
    found: Any = root
    for part in ref[1:].split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(found, Mapping) and name in found:
            found = found[name]
        elif isinstance(found, list) and name.isdigit() and int(name) < len(found):
            found = found[int(name)]
        else:
            return None
    return found
