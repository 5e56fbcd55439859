"""Interchange: a recorded session -> a task: the user's words, the calls that were made, harvests for the values in between."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from mcpeval_dsl.interchange import graders, words
from mcpeval_dsl.interchange.model import Harvest, Suite, Task, Turn
from mcpeval_dsl.interchange.transcripts.effects import effect
from mcpeval_dsl.interchange.transcripts.provenance import traced
from mcpeval_dsl.interchange.transcripts.session import Called, Said, Session
from mcpeval_dsl.interchange.transcripts.values import by_what_was_said, field_name, json_path, leaves, parsed, places
from mcpeval_dsl.provenance.arguments import Argument
from mcpeval_dsl.provenance.forms import bits, exact
from mcpeval_dsl.provenance.origin import Origin

_TELLS = 10.0
_MOST_FACTS = 8
_LONGEST = 200


@dataclass
class _Source:
    """A call whose result later values came from, as a harvest. `value` is the result; `fields` are names by form."""

    name: str
    call: Called
    value: Any
    lines: list[str]
    fields: dict[str, str] = field(default_factory=dict)

    @cached_property
    def places(self) -> dict[str, tuple[str | int, ...]]:
        return places(self.value)


class Deriving:
    """Makes one task. Harvests are of calls that only read, and whose own arguments are known."""

    def __init__(self, suite: Suite, session: Session) -> None:
        self.suite, self.session = suite, session
        self.origins = traced(session)
        self.by_id = {call.id: call for call in session.calls}
        self.sources: dict[str, _Source | None] = {}
        self.said = "\n".join(each.text for each in session.said)

    def task(self, name: str) -> Task:
        said = [each for each in self.session.said if each.text.strip()]
        first = said[0] if said else Said("", 1)
        task = self.suite.task("", name, self.session.path, first.line)
        task.comments.append(f"recorded by {self.session.recorder}")
        if len(said) <= 1:
            task.prompt = first.text
        else:
            task.turns = [Turn(each.text) for each in said]
        for number, each in enumerate(said):
            patterns = [self._pattern(call) for call in each.calls if not call.is_error]
            if patterns and task.turns:
                task.turns[number].statements += [f"expect {pattern}" for pattern in dict.fromkeys(patterns)]
            elif patterns:
                task.add("expect", ", ".join(dict.fromkeys(patterns)))
        self._writes(task)
        self._answer(task, said[-1] if said else first)
        self.suite.harvests += [
            Harvest(source.name, source.lines)
            for source in self.sources.values()
            if source is not None and source.fields
        ]
        return task

    def _pattern(self, call: Called) -> str:
        """The call with the arguments that name something; free text and paging say nothing that must be so."""
        arguments = [
            f"{words.argument(str(argument.names[-1]))}: {self._value(argument, origin)}"
            for argument, origin in self.origins.get(call.id, ())
            if len(argument.names) == 1 and argument.pointer.count("/") == 1 and self._tells(argument, origin)
        ]
        pattern = self.suite.tool(call.tool, call.server)
        return f"{pattern}({', '.join(arguments)})" if arguments else pattern

    @staticmethod
    def _tells(argument: Argument, origin: Origin) -> bool:
        if argument.program or argument.worked_out or argument.form is None or len(argument.form) > _LONGEST:
            return False
        return not argument.free_text or (origin.verdict == "known" and origin.origin == "result")

    def _value(self, argument: Argument, origin: Origin) -> str:
        """The name of a harvested value, else the value itself."""
        if origin.verdict == "known" and origin.origin == "result" and argument.form is not None:
            reference = self._reference(origin.source, argument.form)
            if reference is not None:
                return reference
            said = f"where `{argument.form[:60]}` came from: the result has it in no place that a path names"
            self.suite.note("lost", said, self.session.path, self.by_id[origin.source].line)
        return words.value(argument.value)

    def _reference(self, call_id: str, form: str) -> str | None:
        source = self._source(call_id)
        if source is None:
            return None
        if form not in source.fields:
            path = source.places.get(form)
            if path is None:
                return None
            self._bind(source, form, path)
        return f"{source.name}.{source.fields[form]}"

    def _bind(self, source: _Source, form: str, path: tuple[str | int, ...]) -> None:
        base = words.slug(field_name(path), "value")
        if base in words.words_of_the_language():
            base = f"{base}_value"
        taken, name, number = set(source.fields.values()), base, 2
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        source.fields[form] = name
        told = by_what_was_said(source.value, path, self.said)
        source.lines.insert(-1, f"  {name} = {told or json_path(path)}")
        if told is None and any(isinstance(step, int) for step in path):
            said = f"`{source.name}.{name}` is told by its place in a list; say what tells it apart, if the order moves"
            self.suite.note("look", said, self.session.path, source.call.line)

    def _source(self, call_id: str) -> _Source | None:
        """The call as a harvest; None where it may write, failed, or rests on what cannot be harvested."""
        if call_id in self.sources:
            return self.sources[call_id]
        self.sources[call_id] = None
        call = self.by_id.get(call_id)
        if call is None or call.is_error or effect(call) != "readonly":
            return None
        value = parsed(call.structured, call.text)
        if value is None:
            return None
        arguments = self._arguments(call)
        if arguments is None:
            return None
        name = self.suite.names.new(words.slug(call.tool, "values"), "values")
        server = next(
            (each.name for each in self.suite.servers if each.name == call.server), self.suite.servers[0].name
        )
        head = f"harvest {name} = {words.tool(server, call.tool)}({arguments}) {{"
        # A harvest rests on others, which stand before it: dictionaries keep the order in which they are entered.
        del self.sources[call_id]
        source = _Source(name, call, value, [head, "}"])
        self.sources[call_id] = source
        return source

    def _arguments(self, call: Called) -> str | None:
        """As they were, with values of earlier harvests by name, where they stand at the top."""
        known = {argument.pointer: (argument, origin) for argument, origin in self.origins.get(call.id, ())}
        written: list[str] = []
        for key, value in call.arguments.items():
            found = known.get("/" + str(key).replace("~", "~0").replace("/", "~1"))
            if isinstance(value, str) and "[redacted" in value:
                return None
            reference = None
            if found is not None and found[1].verdict == "known" and found[1].origin == "result" and found[0].form:
                reference = self._reference(found[1].source, found[0].form)
            written.append(f"{words.argument(str(key))}: {reference or words.value(value)}")
        return ", ".join(written)

    def _writes(self, task: Task) -> None:
        writes = [call for call in self.session.calls if effect(call) != "readonly" and not call.is_error]
        if not writes:
            return
        patterns = list(dict.fromkeys(self._pattern(call) for call in writes))
        task.add("kind", "write")
        task.add("may", ", ".join(patterns))
        task.add("grade", f"calls {', '.join(patterns)}")
        said = "what the calls left behind is not looked at: say it with `grade state`"
        self.suite.note("look", said, self.session.path, writes[0].line, task.name)

    def _answer(self, task: Task, said: Said) -> None:
        """Values of results that the answer tells are what it is graded by; else a judge compares."""
        answer = said.answer
        facts = self._facts(answer) if answer else []
        if facts:
            task.add("grade", f"contains {', '.join(facts)}")
            return
        if any(statement.text.startswith("grade") for statement in task.statements):
            return
        if not answer.strip():
            graders.judge_alone(self.suite, task, said.line, "the session has no answer")
            return
        text = " ".join(answer.split())
        graders.judged_by(self.suite, task, [f"The answer agrees with this one: {text[:1500]}"])
        why = "no value of a result stands in the answer: a judge compares it with the recorded one"
        self.suite.note("look", why, self.session.path, said.line, task.name)

    def _facts(self, answer: str) -> list[str]:
        from mcpeval_dsl.provenance.occurrences import Needles, Place

        found: list[str] = []
        for call in reversed(self.session.calls):
            source = self._source(call.id)
            if source is None:
                continue
            forms = _telling(source.value)
            told, asked = Needles(forms).places(answer), Needles(forms).places(self.said)
            for form in forms:
                if told.get(form, Place.INSIDE) >= Place.WHOLE and form not in asked and len(found) < _MOST_FACTS:
                    reference = self._reference(call.id, form)
                    if reference is not None and reference not in found:
                        found.append(reference)
        return found


def _telling(value: Any) -> list[str]:
    forms = (exact(each) for _, each in leaves(value))
    kept = dict.fromkeys(form for form in forms if form and len(form) <= _LONGEST and bits(form) >= _TELLS)
    return list(kept)[:5000]


def annotate(suite: Suite, calls: Mapping[tuple[str, str], Called]) -> None:
    """Effect classes of the tools that were called, for a person to look at."""
    for (server, tool), call in calls.items():
        suite.annotations.setdefault(server, {}).setdefault(effect(call), []).append(tool)
