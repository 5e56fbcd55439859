"""Interchange, the middle: what an importer makes of a foreign file, before it is written as a spec.

Tasks hold statements that are already written in the language (`words`); everything that was kept, changed or lost is a note.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from mcpeval_dsl.interchange import words

What: TypeAlias = Literal["kept", "changed", "lost", "look"]
"""`look`: the spec compiles, but a person has to fill something in before it says what is meant."""


@dataclass(frozen=True, slots=True)
class Note:
    """One line of the report; `path` and `line` are of the foreign file. `task` is a name in the spec, empty for the suite."""

    what: What
    text: str
    path: str
    line: int
    task: str = ""


@dataclass(slots=True)
class Statement:
    """A statement of a task, in one line; `rank` orders those of a task."""

    rank: int
    text: str


RANKS = (
    *("trials", "tags", "source", "kind", "difficulty", "budget", "environment", "needs", "setup", "answer"),
    *("expect", "may", "never", "reference", "grade", "teardown"),
)


TAKEN = ("agent", "referee", "cluster")
"""Names of what the text of every spec may have: its model, its judge, an environment."""
PLACE = "my_server"
"""Name of the block that stands for a server which the source does not name."""


@dataclass(slots=True)
class Turn:
    """What the user says; graders and expectations of this turn."""

    user: str
    statements: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Task:
    """`placeholder` is an answer that is none: the task is written, and untestable until somebody fills it in.

    `comments` stand above the statements. `line` is where the task stands in its file.
    """

    name: str
    title: str
    line: int
    path: str = ""
    prompt: str = ""
    system: str = ""
    turns: list[Turn] = field(default_factory=list)
    statements: list[Statement] = field(default_factory=list)
    permitted: list[str] = field(default_factory=list)
    placeholder: str = ""
    answer_name: str = ""
    comments: list[str] = field(default_factory=list)

    def add(self, word: str, text: str) -> None:
        statement = Statement(RANKS.index(word), f"{word} {text}".rstrip())
        if statement.text not in (each.text for each in self.statements):
            self.statements.append(statement)

    def has(self, word: str) -> bool:
        return any(each.text.startswith(word) for each in self.statements)

    @property
    def graded(self) -> bool:
        """Whether anything decides."""
        return (
            self.has("grade ")
            or self.has("expect refusal")
            or any(line.startswith("grade ") for turn in self.turns for line in turn.statements)
        )


@dataclass(slots=True)
class Server:
    """`env` and `headers` are values as the language writes them. `placeholder`: the source names no server."""

    name: str
    argv: list[str] = field(default_factory=list)
    url: str = ""
    env: dict[str, str] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)
    placeholder: bool = False


@dataclass(slots=True)
class Check:
    """A call of the deterministic layer: no model takes part."""

    server: str
    lines: list[str]


@dataclass(slots=True)
class Harvest:
    """A whole `harvest` statement, with its block."""

    name: str
    lines: list[str]


@dataclass(slots=True)
class Suite:
    """Everything one spec will say. `files` are put beside it, by path relative to the spec."""

    format: str
    name: str = ""
    title: str = ""
    servers: list[Server] = field(default_factory=list)
    secrets: dict[str, str] = field(default_factory=dict)
    models: list[str] = field(default_factory=list)
    judge: str = ""
    judged: bool = False
    trials: int | None = None
    tasks: list[Task] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    harvests: list[Harvest] = field(default_factory=list)
    environments: dict[str, list[str]] = field(default_factory=dict)
    annotations: dict[str, dict[str, list[str]]] = field(default_factory=dict)
    folder: str = "files"
    files: dict[str, bytes] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)
    names: words.Names = field(default_factory=lambda: words.Names(TAKEN))
    found: int = 0
    """Tasks of the source, also those that could not be carried over."""
    told: set[str] = field(default_factory=set)
    """What is said once, however often it is met."""

    def note(self, what: What, text: str, path: str, line: int, task: str = "") -> None:
        self.notes.append(Note(what, " ".join(text.split()), path, line, task))

    def note_once(self, what: What, text: str, path: str, line: int) -> None:
        """Nothing, where the same has been said."""
        if text not in self.told:
            self.told.add(text)
            self.note(what, text, path, line)

    def task(self, title: str, name: str, path: str, line: int) -> Task:
        """A new task under a name of its own."""
        self.found += 1
        task = Task(self.names.new(name or title, "task"), words.clean(" ".join(title.split()))[0][:120], line, path)
        self.tasks.append(task)
        return task

    def forget(self, task: Task) -> None:
        """Without a word. Most often it is the last one."""
        at = next(at for at in range(len(self.tasks) - 1, -1, -1) if self.tasks[at] is task)
        del self.tasks[at]

    def drop(self, task: Task, why: str) -> None:
        """A task that cannot be carried over at all."""
        self.forget(task)
        self.note("lost", f"the task `{task.title or task.name}`: {why}", task.path, task.line)

    def tool(self, name: str, server: str = "") -> str:
        """A tool in a pattern; the server is named where there are several, or the tool's name is no word by itself."""
        known = {each.name for each in self.servers}
        name = words.clean(name)[0].strip() or "*"
        if name.startswith("mcp__") and name.count("__") >= 2:
            server, name = name[5:].split("__", 1)
        if server not in known:
            server = self.servers[0].name if len(self.servers) == 1 else ""
        plain = words.is_glob(name) or (words.is_name(name) and name not in words.words_of_the_language())
        if plain and (len(self.servers) < 2 or not server):
            return name
        return words.tool(server or (self.servers[0].name if self.servers else PLACE), name)
