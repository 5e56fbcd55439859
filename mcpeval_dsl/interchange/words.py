"""Interchange, last step: values as the language writes them: texts, names, patterns of calls, regular expressions.

Every function gives text that reads back as the value it was given; a property test holds them to it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff]|[\ud800-\udfff]")
_BRACES = re.compile(r"\{\{|\{%|\{#")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:-[A-Za-z0-9_]+)*")
_GLOB = re.compile(r"[A-Za-z0-9_*-]*\*[A-Za-z0-9_*-]*")
_ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}
LONGEST_NAME = 40


def clean(text: str) -> tuple[str, bool]:
    """A text without control characters and halves of characters; whether there were any."""
    found = _CONTROL.sub("", text)
    return found, found != text


def quoted(text: str) -> str:
    """`"…"`: one line, escapes, nothing taken for a template."""
    return '"' + "".join(_ESCAPES.get(c, c) for c in _literal(clean(text)[0])) + '"'


def block(text: str, indent: int) -> str:
    """A text for a place of its own: as lines between three quotes where it has some, else as `quoted`."""
    text = clean(text)[0]
    lines = text.split("\n")
    if len(lines) < 2 or "\r" in text or any(line and not line.strip() for line in lines) or not text.strip():
        return quoted(text)
    runs = re.findall(r'"+', text)
    fence = '"' * max(3, 1 + max(map(len, runs), default=0))
    margin = " " * (indent + 2)
    inside = "\n".join(margin + line if line else "" for line in _literal(text).split("\n"))
    return f"{fence}\n{inside}\n{margin}{fence}"


def _literal(text: str) -> str:
    return _BRACES.sub(lambda found: "{{ '" + found.group() + "' }}", text)


def is_name(text: str) -> bool:
    return _NAME.fullmatch(text) is not None


def slug(text: str, fallback: str) -> str:
    """A name made of a title: ASCII, lower case, of words of letters and digits."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z0-9]+", plain.lower().replace("'", ""))
    name = ""
    for word in words:
        longer = f"{name}_{word}" if name else word
        if len(longer) > LONGEST_NAME and name:
            break
        name = longer[:LONGEST_NAME]
    if len(re.sub(r"[^a-z]", "", name)) < 2:
        name = f"{fallback}_{name}" if name else f"{fallback}_1"
    return f"{fallback}_{name}" if name[0].isdigit() else name


class Names:
    """Names given so far: each is new, and none is a word of the language."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self.taken = set(taken)
        self._following: dict[str, int] = {}  # by name, the number to try next: many tasks may have one title

    def new(self, text: str, fallback: str) -> str:
        """A name for `text`, which is kept as it is where it is one."""
        wanted = text if is_name(text) and len(text) <= LONGEST_NAME else slug(text, fallback)
        if wanted in words_of_the_language():
            wanted = f"{wanted}_{fallback}"
        base = fallback if wanted == f"{fallback}_1" else wanted
        name, number = wanted, self._following.get(base, 2)
        while name in self.taken:
            name, number = f"{base}_{number}", number + 1
        self._following[base] = number
        self.taken.add(name)
        return name


@cache
def words_of_the_language() -> frozenset[str]:
    from mcpeval_dsl.semantics.directives import TABLE
    from mcpeval_dsl.semantics.directives.functions import FUNCTIONS
    from mcpeval_dsl.semantics.directives.variables import VARIABLES

    names = {entry.name for entry in TABLE} | {variable.name for variable in VARIABLES} | set(FUNCTIONS)
    return frozenset(names | {"in", "has", "under", "not", "none", "all", "any", "over", "by", "mcp", "loop"})


def value(data: Any) -> str:
    """JSON data as a value of the language."""
    if isinstance(data, str):
        return quoted(data)
    if isinstance(data, bool) or data is None:
        return json.dumps(data)
    if isinstance(data, int | float):
        return number(data)
    if isinstance(data, Mapping):
        return "{" + ", ".join(f"{argument(str(k))}: {value(v)}" for k, v in data.items()) + "}"
    return "[" + ", ".join(map(value, data)) + "]"


def number(data: int | float) -> str:
    if isinstance(data, int):
        return str(data)
    if data != data or data in (float("inf"), float("-inf")):
        return quoted(str(data))
    return format(Decimal(repr(data)), "f")


def argument(text: str) -> str:
    """The name of an argument or member."""
    return text if is_name(text) and text not in ("not", "in", "has", "under") else quoted(text)


def is_glob(text: str) -> bool:
    return _GLOB.fullmatch(text) is not None


def tool(server: str, name: str) -> str:
    """A tool as a pattern names it; `name` may hold `*`."""
    if _GLOB.fullmatch(name):
        return f"{server}.{name}" if server else name
    return f"{server}.{name if is_name(name) else quoted(name)}" if server else name


def call(pattern: str, arguments: Mapping[str, Any]) -> str:
    """A pattern with arguments that must be equal."""
    if not arguments:
        return pattern
    return f"{pattern}({', '.join(f'{argument(str(k))}: {value(v)}' for k, v in arguments.items())})"


def tags(words: Iterable[str]) -> str:
    """Words for `tags`: names, each once."""
    found = dict.fromkeys(slug(word, "tag") for word in words if word.strip())
    return ", ".join(found)


def regex(pattern: str, flags: str = "") -> str | None:
    """`/…/flags`; None where RE2 has no such expression (looking ahead, references back)."""
    from mcpeval_dsl.values.model import EvaluationError
    from mcpeval_dsl.values.regex import compiled

    pattern = clean(pattern)[0]
    try:
        compiled(pattern, flags)
    except EvaluationError:
        return None
    text = _slashes(pattern).replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")
    if not text:
        return None
    if text[0] in "*/ " or text.startswith("\\ "):
        text = f"(?:{text})"
    return f"/{text}/{flags}"


def _slashes(pattern: str) -> str:
    parts: list[str] = []
    position = 0
    while position < len(pattern):
        step = 2 if pattern[position] == "\\" else 1
        part = pattern[position : position + step]
        parts.append("\\/" if part == "/" else part)
        position += step
    return "".join(parts)
