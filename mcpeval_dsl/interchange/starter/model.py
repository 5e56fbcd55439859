"""Interchange, starter: what is known of a server before anything is written, and how its tools are named.

Nothing that a server says of itself is believed to be harmless: its texts are shortened, and written as comments or quoted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from mcpeval_dsl.interchange import words
from mcpeval_dsl.plan.model import LockedServer, LockedTool

VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))")
"""A word of a command that is the operator's variable: `$TOKEN`, `${TOKEN}`."""
Effect = Literal["readonly", "additive", "destructive", "unknown"]
_PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_VERBS = frozenset(
    re.findall(
        r"\w+",
        "get list read fetch find search query show describe lookup retrieve browse view load all count "
        "check add create new insert write update set edit delete remove drop purge send run do make",
    )
)


@dataclass(frozen=True, slots=True)
class Reached:
    """How the server is reached: `argv` or `url`; `env` and `headers` name the operator's variables.

    `copies` are (path beside the spec, path in the trial's folder) of what each trial gets a fresh copy of.
    """

    name: str
    argv: tuple[str, ...] = ()
    url: str = ""
    env: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    copies: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that can be offered, with its effect by the server's own hints."""

    server: str
    name: str
    effect: Effect
    input_schema: Mapping[str, Any]
    output_schema: Mapping[str, Any] | None
    claimed: bool = False
    """Whether a hint says so."""

    @property
    def pattern(self) -> str:
        """As a call pattern names it."""
        plain = words.is_name(self.name) and self.name not in words.words_of_the_language() and self.name not in KEPT
        return self.name if plain else f"{self.server}.{self._quoted}"

    @property
    def call(self) -> str:
        """As a call names it, without the brackets."""
        return f"{self.server}.{self._quoted}"

    @property
    def _quoted(self) -> str:
        return self.name if words.is_name(self.name) and self.name not in KEPT else quoted_name(self.name)

    @property
    def required(self) -> tuple[str, ...]:
        found = self.input_schema.get("required")
        return tuple(name for name in found if isinstance(name, str)) if isinstance(found, list) else ()

    @property
    def arguments(self) -> Mapping[str, Any]:
        found = self.input_schema.get("properties")
        return found if isinstance(found, Mapping) else {}

    @property
    def things(self) -> tuple[str, ...]:
        """What it is about, by its name: `list_open_issues` -> open, issues."""
        return tuple(part for part in parts_of(self.name) if part not in _VERBS)


KEPT = frozenset(
    (
        *("true", "false", "null", "refusal", "question", "confirmation", "recovery", "readonly", "additive"),
        *("destructive", "ordered", "optional", "only", "errors", "exactly", "at_least", "at_most", "absent"),
    )
)
"""Words that mean something else where a pattern may stand."""


def quoted_name(text: str) -> str:
    """A name in quotes, what cannot be seen escaped; unlike in a text, braces in it are no template."""
    return '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in ('"', "\\"):
        return f"\\{character}"
    if character.isprintable():
        return character
    data = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{data[n : n + 2].hex()}" for n in range(0, len(data), 2))


def argument(text: str) -> str:
    """The name of an argument."""
    return text if words.is_name(text) and text not in ("not", "in", "has", "under") else quoted_name(text)


def call(tool: Tool, given: Mapping[str, Any]) -> str:
    """A call of the tool with these arguments."""
    return f"{tool.call}({', '.join(f'{argument(name)}: {words.value(value)}' for name, value in given.items())})"


def parts_of(name: str) -> tuple[str, ...]:
    """The words of a name, in lower case."""
    return tuple(part.lower() for part in _PARTS.findall(name))


def tools_of(server: LockedServer, name: str) -> tuple[Tool, ...]:
    """The tools that can be offered, in order of name."""
    usable = (tool for tool in sorted(server.tools, key=lambda tool: tool.name) if tool.input_schema is not None)
    return tuple(_tool(tool, name) for tool in usable)


def _tool(tool: LockedTool, server: str) -> Tool:
    hints = tool.annotations or {}
    reads, destroys = hints.get("readOnlyHint"), hints.get("destructiveHint")
    effect: Effect = "unknown"
    if reads is True:
        effect = "readonly"
    elif destroys is False:
        effect = "additive"
    elif destroys is True or reads is False:
        effect = "destructive"
    return Tool(server, tool.name, effect, tool.input_schema or {}, tool.output_schema, isinstance(destroys, bool))


def shown(text: str, most: int = 100) -> str:
    """A server's text in one line, for a comment or a title."""
    plain = " ".join(words.clean(text)[0].split())
    plain = "".join(c for c in plain if c.isprintable())
    return plain if len(plain) <= most else plain[: most - 1] + "…"
