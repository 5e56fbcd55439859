"""Plan: `--select` and `--exclude`. Spaces and repeats add, commas intersect, `+x` takes what x needs and `x+` what needs x.

A term is `METHOD:NAME` with globs, or a bare name: a task, else a trial group, a harvest, a server.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from mcpeval_dsl.diagnostics.model import Diagnostic, Severity
from mcpeval_dsl.diagnostics.suggestions import closest
from mcpeval_dsl.plan.drafts import Draft, Outline
from mcpeval_dsl.plan.model import Selection

Names = Callable[[Draft], Iterable[str]]


def _trial(read: Callable[[Draft], Iterable[str | None]]) -> Names:
    """Names that only trials have."""
    return lambda draft: [n for n in read(draft) if n] if draft.kind == "trial" else []


def _task(draft: Draft, field_name: str) -> str | None:
    value = getattr(draft.instance.task, field_name) if draft.instance is not None else None
    return str(value) if value else None


METHODS: dict[str, Names] = {
    "task": _trial(lambda d: [d.name, d.instance.name if d.instance is not None else None]),
    "trial": _trial(lambda d: [d.id]),
    "tag": _trial(lambda d: d.instance.task.tags if d.instance is not None else ()),
    "split": _trial(lambda d: [_task(d, "split")]),
    "kind": _trial(lambda d: [_task(d, "kind")]),
    "purpose": _trial(lambda d: [_task(d, "purpose")]),
    "cluster": _trial(lambda d: [_task(d, "cluster")]),
    "difficulty": _trial(lambda d: [_task(d, "difficulty")]),
    "cell": _trial(lambda d: [d.cell.id if d.cell is not None else None]),
    "model": _trial(lambda d: [d.cell.model if d.cell is not None else None]),
    "host": _trial(lambda d: [d.cell.host if d.cell is not None else None]),
    "arm": _trial(lambda d: [d.cell.arm if d.cell is not None else None]),
    "harvest": lambda d: [d.name, d.id.removeprefix("harvest:")] if d.kind == "harvest" else [],
    "connect": lambda d: [d.name] if d.kind == "connect" else [],
    "server": lambda d: [d.name] if d.kind == "connect" else [],
    "check": lambda d: [d.name] if d.kind == "check" else [],
}
_BARE = ("task", "trial", "harvest", "server")
_SPLITS = ("train", "heldout")


@dataclass(frozen=True, slots=True)
class Term:
    text: str
    before: bool
    after: bool
    methods: tuple[str, ...]
    pattern: str


@dataclass(slots=True)
class Selector:
    """Chooses drafts of one outline; the index of names is made once for each method used."""

    outline: Outline
    severity: Severity = "error"
    diagnostics: list[Diagnostic] = field(default_factory=list)
    _index: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    _after: dict[str, list[str]] = field(default_factory=dict)

    def choose(self, selection: Selection) -> set[str]:
        """Ids chosen by name; what they need comes later."""
        everything = {*self.outline.trials, *self.outline.checks}
        chosen = self._union(selection.select, "--select") if selection.select else everything
        return chosen - self._union(selection.exclude, "--exclude")

    def _union(self, expressions: tuple[str, ...], option: str) -> set[str]:
        found: set[str] = set()
        for expression in expressions:
            for part in expression.split():
                sets = [self._term(term, option) for term in parse(part, option, self.diagnostics)]
                found |= set.intersection(*sets) if sets else set()
        return found

    def _term(self, term: Term, option: str) -> set[str]:
        found: set[str] = set()
        for method in term.methods:
            found = self._named(method, term.pattern)
            if found:
                break
        if not found and not (term.methods == ("split",) and term.pattern in _SPLITS):
            self.diagnostics.append(self._unknown(term, option))
        result = set(found)
        if term.before:
            result |= self.outline.closure(found)
        if term.after:
            result |= self._dependants(found)
        return result

    def _named(self, method: str, pattern: str) -> set[str]:
        index = self._names(method)
        if pattern in index:
            return set(index[pattern])
        if not re.search(r"[*?\[]", pattern):
            return set()
        return {i for name, ids in index.items() if fnmatchcase(name, pattern) for i in ids}

    def _names(self, method: str) -> dict[str, list[str]]:
        if method not in self._index:
            index: dict[str, list[str]] = defaultdict(list)
            for draft in self.outline:
                for name in METHODS[method](draft):
                    index[name].append(draft.id)
            self._index[method] = index
        return self._index[method]

    def _dependants(self, ids: set[str]) -> set[str]:
        if not self._after:
            for draft in self.outline:
                for need in draft.needs:
                    self._after.setdefault(need, []).append(draft.id)
        found: set[str] = set()
        todo = list(ids)
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo.extend(self._after.get(name, ()))
        return found

    def _unknown(self, term: Term, option: str) -> Diagnostic:
        candidates = {name: method for method in reversed(term.methods) for name in self._names(method)}
        noun = term.methods[0] if len(term.methods) == 1 else "task, harvest or server"
        near = closest(term.pattern, list(candidates))
        other = next((m for m in ("tag", "cell", "model", "kind") if term.pattern in self._names(m)), None)
        if len(term.methods) > 1 and other is not None:
            hint = f"write `{other}:{term.pattern}`"
        elif near is not None:
            prefix = f"{term.methods[0]}:" if len(term.methods) == 1 else ""
            hint = f"did you mean `{prefix}{near}`?"
        else:
            known = sorted(candidates)[:8]
            hint = f"there is: {', '.join(known)}" if known else f"this suite has no {noun}"
        return Diagnostic(
            code="MCPE571",
            title=f"{option} {term.text}: there is no {noun} called `{term.pattern}`",
            body="A name that matches nothing is an error: a run of less than was meant would look like a pass.",
            hint=hint,
            severity=self.severity,
        )


def wants_heldout(selection: Selection) -> bool:
    """Held-out tasks take part when asked for, by `--heldout` or `--select split:heldout`."""
    return selection.heldout or any(
        re.fullmatch(r"\+?split:heldout\+?", term) for text in selection.select for term in re.split(r"[\s,]+", text)
    )


def parse(text: str, option: str, diagnostics: list[Diagnostic]) -> list[Term]:
    """The terms that one comma-separated part intersects."""
    found: list[Term] = []
    for item in text.split(","):
        bare = item.removeprefix("+").removesuffix("+")
        method, colon, pattern = bare.partition(":")
        if not bare or (colon and not pattern):
            diagnostics.append(_malformed(item or text, option, "a name is missing"))
        elif colon and method not in METHODS:
            near = closest(method, list(METHODS))
            hint = f"did you mean `{near}:{pattern}`?" if near else f"one of {', '.join(METHODS)}"
            diagnostics.append(_malformed(item, option, f"there is no method `{method}:`", hint))
        else:
            methods = (method,) if colon else _BARE
            found.append(Term(item, item.startswith("+"), item.endswith("+"), methods, pattern if colon else bare))
    return found


def _malformed(item: str, option: str, what: str, hint: str = "") -> Diagnostic:
    return Diagnostic(
        code="MCPE572",
        title=f"{option} {item}: {what}",
        body="A selector is a name or METHOD:NAME, with `+` before for what it needs and after for what needs it;"
        " spaces add and commas intersect.",
        hint=hint or "write for example `task:label_it` or `tag:search,cell:canned`",
    )
