"""Interchange: an imported spec goes through the compiler before it is written; what would not compile is taken out, and said."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.interchange.model import Suite
from mcpeval_dsl.interchange.spec_text import write

_ROUNDS = 3  # errors of one stage hide those of the next


@dataclass(slots=True)
class Compiled:
    """`text` compiles unless `errors` has something, which is a fault of the importer."""

    text: str
    errors: list[Diagnostic] = field(default_factory=list)
    advice: list[Diagnostic] = field(default_factory=list)


class _Files:
    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = files

    def read(self, path: str) -> bytes:
        try:
            return self.files[path]
        except KeyError:
            raise FileNotFoundError(path) from None

    def exists(self, path: str) -> bool:
        return path in self.files or any(name.startswith(f"{path.rstrip('/')}/") for name in self.files)


def compile_suite(suite: Suite, source: str) -> Compiled:
    """The text of the suite, without tasks in which the compiler finds an error."""
    for _ in range(_ROUNDS):
        found = _check(suite, formatted(write(suite, source)))
        bad = _tasks_at(suite, found.text, found.errors)
        if not bad:
            return found
        for task in [each for each in suite.tasks if each.name in bad]:
            problem = bad[task.name]
            suite.drop(task, f"it would not compile ({problem.code}: {problem.title})")
    return _check(suite, formatted(write(suite, source)))


def _check(suite: Suite, text: str) -> Compiled:
    from mcpeval_dsl.pipeline import check

    checked = check("imported.mcpe", _Files({**suite.files, "imported.mcpe": text.encode()}))
    errors = [each for each in checked.diagnostics if each.severity == "error"]
    return Compiled(text, errors, [each for each in checked.diagnostics if each.severity != "error"])


def _tasks_at(suite: Suite, text: str, errors: list[Diagnostic]) -> dict[str, Diagnostic]:
    """Tasks with an error, by name, each with its first."""
    if not errors:
        return {}
    owner: list[str] = [""]
    current, names = "", {task.name: task.name for task in suite.tasks}
    names |= {task.answer_name: task.name for task in suite.tasks if task.answer_name}
    for line in text.split("\n"):
        if line.startswith(("task ", "let ")):
            current = names.get(line.split()[1], "")
        elif line and not line[0].isspace() and line[0] not in '}#"':
            current = ""
        owner.append(current)
    found: dict[str, Diagnostic] = {}
    for each in errors:
        if each.at is not None and each.at.line < len(owner) and owner[each.at.line]:
            found.setdefault(owner[each.at.line], each)
    return found


def formatted(text: str) -> str:
    """The text in the canonical form, as `mcpe fmt` would write it."""
    from mcpeval_dsl.syntax.formatting import format_text

    found = format_text(text)
    return found.value if found.value is not None else text
