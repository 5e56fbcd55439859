"""Interchange: a recorded session, whoever recorded it: what the user said, the calls of MCP tools that followed, the answer."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class Called:
    """One call of an MCP tool. `begin` and `end` order what could know of what: a call knows of those that ended before it began.

    `read_only`: the tool's hint says so, or not.
    """

    server: str
    tool: str
    arguments: dict[str, Any]
    line: int
    begin: int
    end: int
    text: str = ""
    structured: Any = None
    is_error: bool = False
    answered: bool = False
    read_only: bool | None = None
    id: str = ""


@dataclass(slots=True)
class Said:
    """One message of the user, with what it led to."""

    text: str
    line: int
    calls: list[Called] = field(default_factory=list)
    answer: str = ""


@dataclass(slots=True)
class Session:
    """`other` counts uses of tools that no MCP server has, `called` the others; `broken` lines that could not be read."""

    recorder: str
    path: str
    said: list[Said] = field(default_factory=list)
    model: str = ""
    system: str = ""
    other: int = 0
    broken: int = 0
    sidechains: int = 0
    redacted: list[tuple[str, int]] = field(default_factory=list)
    called: int = 0

    @property
    def calls(self) -> list[Called]:
        return [call for each in self.said for call in each.calls]

    def begin(self, text: str, line: int) -> None:
        self.said.append(Said(text, line))

    def call(self, called: Called) -> None:
        if not self.said:
            self.begin("", called.line)
        self.called += 1
        called.id = f"c{self.called}"
        self.said[-1].calls.append(called)

    def answer(self, text: str) -> None:
        if self.said and text.strip():
            self.said[-1].answer = text


def split_name(name: str) -> tuple[str, str] | None:
    """(server, tool) of `mcp__server__tool`; None for a tool that is none of MCP's."""
    if not name.startswith("mcp__"):
        return None
    server, _, tool = name[5:].partition("__")
    return (server, tool) if server and tool else None


def text_of(content: Any) -> str:
    """The texts of content blocks."""
    if isinstance(content, str):
        return content
    if isinstance(content, dict):
        return text_of(content.get("content", content.get("text", "")))
    if isinstance(content, list):
        parts = [each.get("text", "") if isinstance(each, dict) else each for each in content]
        return "\n".join(part for part in parts if isinstance(part, str) and part)
    return ""
