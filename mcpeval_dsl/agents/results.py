"""Between gateway and model: a tool's result cut to the host's limit, and what the model is told when a call cannot be made."""

from __future__ import annotations

CHARS_PER_TOKEN = 4


def limit_result(text: str, tokens: int | None) -> tuple[str, int]:
    """A text within `tokens` (4 characters each), head and tail kept, and the number of characters left out (0: whole)."""
    if tokens is None or len(text) <= tokens * CHARS_PER_TOKEN:
        return text, 0
    room = tokens * CHARS_PER_TOKEN
    head, tail = room - room // 4, room // 4
    left_out = len(text) - head - tail
    note = f"\n[... {left_out} characters left out: results are limited to {tokens} tokens ...]\n"
    return text[:head] + note + text[len(text) - tail :], left_out


def unknown_tool(wire_name: str, known: tuple[str, ...]) -> str:
    """Text for a call of a tool that was not offered."""
    from mcpeval_dsl.diagnostics.suggestions import closest

    near = closest(wire_name, known)
    return f"There is no tool {wire_name!r}." + (f" Did you mean {near!r}?" if near else "")


def bad_arguments(problem: str) -> str:
    """Text for a call whose arguments could not be read as a JSON object."""
    return f"The arguments are not a JSON object ({problem}). The tool was not called."
