"""What a tool that no server has might answer: values that fit its output schema and the arguments it was given.

Place in the pipeline: for calls of distractors; pure, and the same for the same seed. Nothing in it is true: names, ids
and dates are drawn, so that an agent that believes them answers wrongly and is seen to.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from mcpeval_dsl.gateway.effects import READING_WORDS
from mcpeval_dsl.gateway.schemas import compiled, stub
from mcpeval_dsl.values.text import as_text

_MANY = frozenset({"list", "search", "find", "query", "browse", "enumerate"})
_DEPTH = 8
_WORDS = ("harbor", "maple", "quartz", "lantern", "meadow", "copper", "willow", "summit", "orchid", "falcon", "cedar")
_PEOPLE = ("Mara Lindqvist", "Tomas Okafor", "Ines Varga", "Jonas Petit", "Aiko Brandt", "Rui Castellan")
_STATES = ("active", "pending", "completed", "ready")


def plausible_value(schema: Mapping[str, Any], arguments: Mapping[str, Any], seed: str) -> Any:
    """A value of the schema's shape; what was asked for stands in fields of the same name."""
    made = _Maker(schema, arguments, random.Random(seed)).value(schema, "", _DEPTH)
    validator = compiled(schema)
    return made if validator is None or validator.is_valid(made) else stub(schema)


def plausible_text(tool: str, arguments: Mapping[str, Any], seed: str) -> str:
    """The answer of a tool without an output schema: a few lines of prose, as most servers give."""
    dice = random.Random(seed)
    words = [word for word in tool.replace("-", "_").lower().split("_") if word]
    verb, noun = (words[0], " ".join(words[1:])) if len(words) > 1 else ("get", words[0] if words else "item")
    given = ", ".join(f"{name} {as_text(value)[:60]}" for name, value in sorted(arguments.items()))
    if verb in _MANY:
        lines = [f"{number}. {_name(dice)} ({_identity(dice)}), {dice.choice(_STATES)}" for number in (1, 2, 3)]
        return f"Found 3 {noun}{f' for {given}' if given else ''}:\n" + "\n".join(lines)
    if verb in READING_WORDS:
        about = f" ({given})" if given else ""
        return f"{noun}{about}\nid: {_identity(dice)}\nstatus: {dice.choice(_STATES)}\nupdated: {_moment(dice)}"
    return f"Done: {verb} {noun}{f' ({given})' if given else ''}, reference {_identity(dice)}."


class _Maker:
    """Values of one answer, drawn one after the other."""

    def __init__(self, root: Mapping[str, Any], arguments: Mapping[str, Any], dice: random.Random) -> None:
        self.root = root
        self.arguments = arguments
        self.dice = dice

    def value(self, schema: Any, name: str, depth: int) -> Any:
        if not isinstance(schema, Mapping) or depth == 0:
            return None
        if "const" in schema:
            return schema["const"]
        kind = _kind(schema)
        given = self.arguments.get(name)
        if name and _fits(given, kind):
            return given
        if isinstance(schema.get("enum"), list) and schema["enum"]:
            return self.dice.choice(schema["enum"])
        for word in ("anyOf", "oneOf", "allOf"):
            if isinstance(schema.get(word), list) and schema[word]:
                return self.value(schema[word][0], name, depth - 1)
        if isinstance(schema.get("$ref"), str):
            return stub({**self.root, "$ref": schema["$ref"]})
        return self._typed(schema, kind, name, depth)

    def _typed(self, schema: Mapping[str, Any], kind: str, name: str, depth: int) -> Any:
        match kind:
            case "object":
                wanted = schema.get("properties")
                inner = wanted if isinstance(wanted, Mapping) else {}
                return {key: self.value(each, str(key), depth - 1) for key, each in inner.items()}
            case "array":
                least = int(schema.get("minItems") or 0)
                most = int(schema.get("maxItems") or 3)
                count = max(least, min(most, self.dice.randint(1, 3)))
                return [self.value(schema.get("items", {"type": "string"}), name, depth - 1) for _ in range(count)]
            case "integer":
                return self.dice.randint(int(schema.get("minimum", 1)), int(schema.get("maximum", 40)))
            case "number":
                low, high = float(schema.get("minimum", 0.0)), float(schema.get("maximum", 100.0))
                return round(self.dice.uniform(low, max(low, high)), 2)
            case "boolean":
                return name not in ("has_more", "truncated", "deleted", "archived", "error")
            case "null":
                return None
            case _:
                return self._text(schema, name)

    def _text(self, schema: Mapping[str, Any], name: str) -> str:
        dice, word = self.dice, name.lower()
        form = schema.get("format")
        if form == "date-time" or word.endswith(("_at", "time", "timestamp")):
            return _moment(dice)
        if form == "date" or "date" in word:
            return _moment(dice)[:10]
        if form in ("uri", "url") or "url" in word or word == "link":
            return f"https://example.invalid/{dice.choice(_WORDS)}/{_identity(dice)}"
        if form == "email" or "email" in word:
            return f"{dice.choice(_WORDS)}@example.invalid"
        if word in ("id", "key", "uid", "uuid", "etag", "version") or word.endswith(("_id", "_key", "_uid")):
            return _identity(dice)
        if word in ("author", "owner", "assignee", "user", "organizer", "sender", "from", "to", "display_name"):
            return dice.choice(_PEOPLE)
        if word in ("status", "state", "phase"):
            return dice.choice(_STATES)
        return _name(dice)


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((word for word in kind if word != "null"), "null")
    if isinstance(kind, str):
        return kind
    return "object" if "properties" in schema else "string"


def _fits(value: Any, kind: str) -> bool:
    """Whether an argument can stand for itself in the answer."""
    types: Mapping[str, tuple[type, ...]] = {"string": (str,), "integer": (int,), "number": (int, float)}
    return isinstance(value, types.get(kind, ())) and not isinstance(value, bool)


def _name(dice: random.Random) -> str:
    return f"{dice.choice(_WORDS)}-{dice.choice(_WORDS)}"


def _identity(dice: random.Random) -> str:
    return f"{dice.choice(_WORDS)[:3]}-{dice.getrandbits(28):07x}"


def _moment(dice: random.Random) -> str:
    return (
        f"2026-{dice.randint(1, 9):02}-{dice.randint(1, 28):02}T{dice.randint(6, 20):02}:{dice.randint(0, 59):02}:00Z"
    )
