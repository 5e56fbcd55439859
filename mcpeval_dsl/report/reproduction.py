"""Report: a confirmed defect as a minimal check, a `.mcpe` text that fails as long as the defect is there.

It stands alone: the server, the environment and what they refer to are cut from the spec that the run was made from, and
only what the calls need. What was seen is told in comments.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcpeval_dsl.diagnostics.render.safe import visible
from mcpeval_dsl.execute.ladder_places import Place
from mcpeval_dsl.execute.ladder_slice import Bound, Pointer, Step
from mcpeval_dsl.records.defects import DefectRecord
from mcpeval_dsl.report.excerpts import Definition, Spec, excerpt, text_of
from mcpeval_dsl.score.model import LeadRow

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WIDTH = 150


class Unwritable(ValueError):
    """The call has a value that the language cannot write."""


@dataclass(frozen=True, slots=True)
class Setting:
    """Where the reproduction stands: in `folder`, with what of `spec`; `workdir` was the trial's own folder.

    `setup` are the statements of the task's own set-up, where the defect needs them. `shared`: the environment is no
    trial's own, so that calls need the annotations of the spec.
    """

    spec: Spec
    folder: Path
    environment: str | None
    workdir: str
    run: str
    setup: tuple[Definition, ...] = ()
    shared: bool = False


def file_name(defect: str) -> str:
    """From a lead's id to the name of its file."""
    return re.sub(r"[^A-Za-z0-9_-]+", "-", defect).strip("-")[:120] + ".mcpe"


def written(defect: DefectRecord, row: LeadRow, steps: Sequence[Step], setting: Setting) -> str:
    """The whole text. `steps` are the calls to make, the failing one last. Raises Unwritable."""
    environment = setting.environment or ("set_up" if setting.setup else None)
    title = f"{row.server}.{row.tool}: {row.kind}"
    default = f" {{ defaults {{ environment {environment} }} }}" if environment else " {}"
    suite = re.sub(r"[^A-Za-z0-9_]+", "_", file_name(defect.id).removesuffix(".mcpe"))
    lines = [*_comments(defect, row, setting), "", f"suite {suite} {_text(title)}{default}"]
    lines += _definitions(setting, environment, {row.server, *(step.call.server for step in steps)})
    lines += ["", f"check {row.server} {{"]
    lines += [*(f"  {line}" for line in _Calls(steps, setting).lines()), "}"]
    return "\n".join(lines) + "\n"


def _comments(defect: DefectRecord, row: LeadRow, setting: Setting) -> list[str]:
    times = f"{defect.failed} of {defect.counted} replays in fresh environments failed alike"
    trials = f"{row.trials} trial{'' if row.trials == 1 else 's'}"
    found = [
        f"{row.server}.{row.tool}: {row.kind}. {times}.",
        f"Seen in {trials} of run {setting.run}, first in {row.first_trial}.",
        "This check fails as long as the server is so, and passes once it is mended. Evidence:",
    ]
    for call in row.evidence:
        found += [f"  {call.id} {call.tool}({call.arguments})", f"    -> {call.result}"]
    return ["# " + visible(line)[:_WIDTH].rstrip() for line in found]


def _definitions(setting: Setting, environment: str | None, servers: set[str]) -> Iterator[str]:
    """The servers and the environment with all they refer to; the task's set-up behind the environment's."""
    used = {name for step in setting.setup for name in step.names()}
    wanted = {*servers, *used, *([environment] if environment else [])}
    added = [text_of(step, setting.folder) for step in setting.setup]
    for definition in excerpt(setting.spec, wanted, servers if setting.shared else ()):
        text = text_of(definition, setting.folder)
        if definition.kind == "environment" and definition.name == environment and added:
            text = "\n  ".join([text.rstrip().removesuffix("}").rstrip(), *added]) + "\n}"
        yield from ("", text)
    if setting.environment is None and added:
        yield from ("", "\n  ".join(["environment set_up {", *added]) + "\n}")


class _Calls:
    """The steps as lines of a check; a value that a JSONPath can name is taken from the call that gave it."""

    def __init__(self, steps: Sequence[Step], setting: Setting) -> None:
        self.steps, self.setting = steps, setting
        self.names = {step.call.id: f"call_{number}" for number, step in enumerate(steps, start=1)}
        self.places: dict[str, dict[Place, str]] = {}
        for each in (each for step in steps for each in step.bound):
            known = self.places.setdefault(each.source, {})
            known.setdefault(each.place, "value" if not known else f"value_{len(known) + 1}")

    def lines(self) -> Iterator[str]:
        for step in self.steps[:-1]:
            inner = "; ".join(
                f"{name} = {expression(place)}" for place, name in self.places.get(step.call.id, {}).items()
            )
            call = self._call(step)
            yield f"{self.names[step.call.id]} = {call} {{ {inner} }}" if inner else call
        yield f"{self._call(self.steps[-1])} {{ require class == none }}"

    def _call(self, step: Step) -> str:
        bound = {each.argument: each for each in step.bound}
        arguments = ", ".join(
            f"{_key(str(key))}: {self._value(value, (str(key),), bound)}" for key, value in step.call.arguments.items()
        )
        return f"{step.call.server}.{_key(step.call.tool)}({arguments})"

    def _value(self, value: Any, pointer: Pointer, bound: Mapping[Pointer, Bound]) -> str:
        if pointer in bound:
            each = bound[pointer]
            return f"{self.names[each.source]}.{self.places[each.source][each.place]}"
        if isinstance(value, Mapping):
            pairs = (
                f"{_key(str(key))}: {self._value(item, (*pointer, str(key)), bound)}" for key, item in value.items()
            )
            return f"{{{', '.join(pairs)}}}"
        if isinstance(value, list | tuple):
            items = (self._value(item, (*pointer, number), bound) for number, item in enumerate(value))
            return f"[{', '.join(items)}]"
        if isinstance(value, str):
            return _text(value, self.setting.workdir)
        return json.dumps(value, allow_nan=False)


def _key(name: str) -> str:
    return name if _NAME.fullmatch(name) else _text(name)


def expression(place: Place) -> str:
    """What reads a place of `$`: a JSONPath, `json(…)` where it goes on in a text, a regex in prose. Raises Unwritable."""
    if place.line is not None:
        if place.steps:
            raise Unwritable("a value stands in prose within another value")
        return _in_prose(place.line, place.word)
    if place.steps and place.steps[0] is None:
        raise Unwritable("a value stands where no JSONPath leads")
    said = "$"
    for step in place.steps:
        if step is None:
            said = f"json({said})"
        elif isinstance(step, int):
            said += f"[{step}]"
        else:
            said += f".{step}" if _NAME.fullmatch(step) else f"[{json.dumps(step, ensure_ascii=False)}]"
    return said


def _in_prose(line: int, word: int | None) -> str:
    """A line without the blanks around it, or a word of it; both are counted from 0."""
    before = rf"^(?:[^\n]*\n){{{line}}}" if line else "^"
    if word is None:
        return rf"/{before}[ \t]*([^\n]*[^\s])[ \t\r]*(?:\n|$)/"
    between, inside = r"[\s,;()\[\]{}\"'`<>]", r"[^\s,;()\[\]{}\"'`<>]"
    skipped = rf"(?:{inside}+{between}+){{{word}}}" if word else ""
    return f"/{before}{between}*{skipped}({inside}+)/"


def _text(value: str, workdir: str = "") -> str:
    """A text in quotes; the trial's own folder in it becomes a template. Raises Unwritable."""
    quoted = json.dumps(value, ensure_ascii=False).replace("\\b", "\\u0008").replace("\\f", "\\u000c")
    if "{{" in value or "{%" in value or "{#" in value:
        if '"' in value or any(ord(character) < 32 for character in value):
            raise Unwritable("a text holds both template braces and quotes")
        return f'r"{value}"'
    return quoted.replace(workdir, "{{ workdir }}") if workdir else quoted
