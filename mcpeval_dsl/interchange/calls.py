"""Interchange: tools as other tests speak of them: patterns of names, and calls made without a model, which become checks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mcpeval_dsl.interchange import servers, words
from mcpeval_dsl.interchange.model import Check, Suite

_PLAIN = re.compile(r"[A-Za-z0-9_/:.-]+")
_WILD = re.compile(r"(?:[A-Za-z0-9_-]|\.\*)+")


def from_regex(suite: Suite, pattern: str, server: str = "") -> str | None:
    """A regular expression over names of tools as globs, several of them in `any(…)`; None where none says the same."""
    text = pattern.strip().removeprefix("^").removesuffix("$")
    inner = re.fullmatch(r"\(?(?:\?:)?([^()]*)\)?", text)
    if inner is None:
        return None
    found: list[str] = []
    for part in inner[1].split("|"):
        if _WILD.fullmatch(part.replace("\\.", "")) is None and part not in (".*", ".+", ""):
            return None
        glob = part.replace(".*", "*").replace(".+", "*").replace("\\.", ".") or "*"
        found.append(suite.tool(glob, server))
    return found[0] if len(found) == 1 else f"any({', '.join(found)})"


def several(patterns: Sequence[str]) -> str:
    return patterns[0] if len(patterns) == 1 else f"any({', '.join(patterns)})"


def server_of(suite: Suite, path: str, name: str = "") -> str:
    """The server that a call without a model goes to; a block to be filled in where the source names none."""
    if not suite.servers:
        servers.placeholder(suite, path)
    known = [server.name for server in suite.servers]
    return name if name in known else known[0]


def direct(
    suite: Suite,
    path: str,
    tool: str,
    arguments: Mapping[str, Any],
    requires: Iterable[str],
    *,
    title: str = "",
    server: str = "",
) -> None:
    """A call of `mcpe check`, with what is required of its result or error."""
    name = server_of(suite, path, server)
    if not _PLAIN.fullmatch(tool):
        tool = tool.replace("*", "")
    called = words.tool(name, tool)
    written = ", ".join(f"{words.argument(key)}: {words.value(value)}" for key, value in arguments.items())
    wanted = "; ".join(f"require {each}" for each in dict.fromkeys(requires)) or "require class == none"
    comment = [f"# {words.clean(' '.join(title.split()))[0][:110]}"] if title else []
    suite.checks.append(Check(name, [*comment, f"{called}({written}) {{ {wanted} }}"]))


def present(suite: Suite, path: str, tools: Iterable[str]) -> None:
    """Tools that the server must list."""
    for tool in tools:
        if words.is_name(tool):
            suite.checks.append(Check(server_of(suite, path), [f"tool {tool} present"]))


def says(text: str) -> str:
    """The result mentions this."""
    return f"text($) has {words.quoted(text)}"


def is_value(value: Any) -> str:
    return f"text($) == {words.quoted(value)}" if isinstance(value, str) else f"$ == {words.value(value)}"


def fails(text: str = "") -> list[str]:
    """The call ends in an error, which mentions this."""
    found = ["class != none"]
    if text:
        pattern = words.regex(re.escape(text).replace("\\ ", " "), "i")
        found += [f"error ~ {pattern}"] if pattern else []
    return found


def matches(pattern: str, flags: str = "") -> str | None:
    written = words.regex(pattern, flags)
    return f"text($) ~ {written}" if written else None
