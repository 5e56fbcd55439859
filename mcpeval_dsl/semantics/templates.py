"""Semantics: what stands in `{{ … }}` inside a text. A strict subset of Jinja2, read without it.

`expression = operand {"|" function ["(" arguments ")"]}`, an operand being a text, a number, a function call, or a
name with `.field` and `[index]`. Offsets are into the text; the caller knows where the text stands in the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_TOKEN = re.compile(
    r"\s*(?:(?P<name>[A-Za-z_]\w*(?:-[A-Za-z]\w*)*)|(?P<number>-?\d+(?:\.\d+)?(?![\w.]))"
    r"|(?P<text>'(?:[^'\\\n]|\\.)*'|\"(?:[^\"\\\n]|\\.)*\")|(?P<end>\}\})|(?P<mark>[.\[\]|(),]))"
)
_LONGEST_NUMBER = 40
_DEEPEST = 32
_OPEN = re.compile(r"\{\{|\{%|\{#")


@dataclass(frozen=True, slots=True)
class Step:
    """`.name`, `[index]`; key is None for an index that is computed."""

    key: str | int | None
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A name with its static steps."""

    root: Step
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Applied:
    """A function, as `x | f(a)` or `f(x, a)`, with its number of arguments (the piped value included)."""

    name: str
    arguments: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Fault:
    """What is not allowed in a template, with one edit as a hint."""

    title: str
    hint: str
    start: int
    end: int


@dataclass(slots=True)
class Found:
    """All that the templates of one text refer to."""

    mentions: list[Mention] = field(default_factory=list)
    functions: list[Applied] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)


class _Stop(Exception):
    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.title)
        self.fault = fault


def read(text: str) -> Found:
    """Everything in the templates of a text; after a fault reading goes on behind the next `}}`."""
    found = Found()
    position = 0
    while (opening := _OPEN.search(text, position)) is not None:
        start = opening.start()
        if opening.group() != "{{":
            found.faults.append(_statement(opening.group(), start))
            position = start + 2
            continue
        reader = _Reader(text, start + 2, found)
        before = (len(found.mentions), len(found.functions))
        try:
            reader.expression()
            reader.close(start)
            position = reader.position
            _no_hyphens(found, *before)
        except _Stop as stop:
            found.faults.append(stop.fault)
            close = text.find("}}", start)
            position = len(text) if close < 0 else close + 2
    return found


def _no_hyphens(found: Found, mentions: int, functions: int) -> None:
    """Next to a function or a second name, Jinja2 reads `a-b` as a difference."""
    if len(found.functions) == functions and len(found.mentions) == mentions + 1:
        return
    for mention in found.mentions[mentions:]:
        for step in (mention.root, *mention.steps):
            if isinstance(step.key, str) and "-" in step.key and step.end - step.start == len(step.key):
                title = f"`{step.key}` cannot stand beside a function in a template"
                hint = "bind it first: `let name = …`"
                found.faults.append(Fault(title, hint, step.start, step.end))


def _statement(mark: str, start: int) -> Fault:
    what = "statements `{% … %}`" if mark == "{%" else "comments `{# … #}`"
    return Fault(
        f"{what} do not exist in texts",
        f"only `{{{{ value }}}}` is rendered; for the characters themselves write `{{{{ '{mark}' }}}}`",
        start,
        start + 2,
    )


class _Reader:
    __slots__ = ("depth", "found", "position", "text")

    def __init__(self, text: str, position: int, found: Found) -> None:
        self.text = text
        self.position = position
        self.found = found
        self.depth = 0

    def _peek(self) -> re.Match[str] | None:
        return _TOKEN.match(self.text, self.position)

    def _mark(self, mark: str) -> bool:
        token = self._peek()
        if token is not None and token.group("mark") == mark:
            self.position = token.end()
            return True
        return False

    def _stop(self, title: str, hint: str) -> _Stop:
        start = self.position
        while start < len(self.text) and self.text[start].isspace():
            start += 1
        return _Stop(Fault(title, hint, start, min(start + 1, len(self.text))))

    def expression(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._stop("this template is nested too deeply", "bind a part of it first: `let name = …`")
        self._operand()
        while self._mark("|"):
            token = self._peek()
            if token is None or token.group("name") is None:
                raise self._stop("a function is missing after `|`", "for example `{{ names | first }}`")
            self.position = token.end()
            count = 1 + (self._arguments() if self._mark("(") else 0)
            start, end = token.span("name")
            self.found.functions.append(Applied(token.group("name"), count, start, end))
        self.depth -= 1

    def _operand(self) -> None:
        token = self._peek()
        if token is None or token.group("mark") or token.group("end"):
            raise self._stop("a name is missing in this template", "write `{{ name }}`")
        self.position = token.end()
        if (name := token.group("name")) is None:
            if token.group("number") and len(token.group("number")) > _LONGEST_NUMBER:
                raise self._stop("a number in this template has too many digits", "for example `{{ rows[0] }}`")
            return
        start, end = token.span("name")
        if self._mark("("):
            self.found.functions.append(Applied(name, self._arguments(), start, end))
            self._steps([])
            return
        steps: list[Step] = []
        self._steps(steps)
        self.found.mentions.append(Mention(Step(name, start, end), tuple(steps)))

    def _steps(self, steps: list[Step]) -> None:
        while True:
            if self._mark("."):
                token = self._peek()
                if token is None or token.group("name") is None:
                    raise self._stop("a field's name is missing after `.`", "for example `{{ issue.title }}`")
                self.position = token.end()
                start, end = token.span("name")
                steps.append(Step(token.group("name"), start, end))
            elif self._mark("["):
                steps.append(self._index())
            else:
                return

    def _index(self) -> Step:
        token = self._peek()
        start = self.position
        number = None if token is None else token.group("number")
        text = None if token is None else token.group("text")
        key: str | int | None = None
        if token is not None and number is not None and "." not in number and len(number) <= _LONGEST_NUMBER:
            key = int(number)
            self.position = token.end()
        elif token is not None and text is not None:
            key = text[1:-1]
            self.position = token.end()
        else:
            self.expression()
        end = self.position
        if not self._mark("]"):
            raise self._stop("a `]` is missing in this template", "close the index: `{{ rows[0] }}`")
        return Step(key, start, end)

    def _arguments(self) -> int:
        if self._mark(")"):
            return 0
        count = 0
        while True:
            self.expression()
            count += 1
            if self._mark(")"):
                return count
            if not self._mark(","):
                raise self._stop("a `)` is missing in this template", "close the brackets")

    def close(self, start: int) -> None:
        token = self._peek()
        if token is not None and token.group("end"):
            self.position = token.end()
            return
        if "}}" not in self.text[self.position :]:
            raise _Stop(Fault("this template is not closed", "write `}}` after the value", start, start + 2))
        raise self._stop(
            "templates take names, fields, indexes and functions only",
            "compute the value in a harvest, with `sql(…)` or a function of the language",
        )
