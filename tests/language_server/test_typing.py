"""However a text came about, what is shown of it in the end is what `mcpe lint` says of it."""

from __future__ import annotations

import random
import re
from pathlib import Path
from typing import Any

from mcpeval_dsl import pipeline
from mcpeval_dsl.language_server.positions import TextLines
from mcpeval_dsl.project.files import FileReader, Project, find
from mcpeval_dsl.project.loading import Specs, read_lock
from tests.language_server.client import Client, session
from tests.language_server.conftest import MAIN, SHARED

TYPED = [
    "{",
    "}",
    '"',
    '"""',
    "zz",
    "\n",
    "\r\n",
    "#",
    "(",
    ")",
    "[",
    "𝔘",
    "$.",
    "{{ ",
    " }}",
    "\n\n",
    "tracker.",
    "task t { }\n",
    "grade ",
]


def lint(project: Path, texts: dict[str, str]) -> dict[str, list[tuple[str, int]]]:
    """Code and line (from 0) of all findings, by file. What `main.mcpe` does not import is looked at by itself."""
    from mcpeval_dsl.plan import lock as locks

    found = find(project).value
    assert found is not None
    reader = FileReader(project, overlay={path: text.encode() for path, text in texts.items()})
    known = locks.known(read_lock(Specs(Project(project), reader), "main.mcpe"))
    told: dict[str, set[tuple[str, int]]] = {}
    for main in ("main.mcpe",) if re.search('^import[ \t]+"shared.mcpe"', texts["main.mcpe"], re.M) else tuple(texts):
        for diagnostic in found.lint.apply(pipeline.check(main, reader, known, design=True).diagnostics):
            at = diagnostic.at
            path, line = (main, 0) if at is None else (at.path, at.line - 1)
            told.setdefault(path, set()).add((diagnostic.code, line))
    return {path: sorted(items) for path, items in told.items()}


def shown(client: Client, path: str) -> list[tuple[str, int]]:
    found = client.diagnostics(client.uri(path)) or []
    return sorted({(str(d["code"]), int(d["range"]["start"]["line"])) for d in found})


def test_after_any_edits_the_findings_are_those_of_the_text(project: Path) -> None:
    chance = random.Random(5)
    texts = {"main.mcpe": MAIN, "shared.mcpe": SHARED}
    versions = dict.fromkeys(texts, 1)
    with session(project) as client:
        client.initialize()
        for path in texts:
            client.open(path)
        for _ in range(40):
            for _ in range(chance.randint(1, 5)):
                path = chance.choice(list(texts))
                changes = []
                if chance.random() < 0.15:
                    texts[path] = {"main.mcpe": MAIN, "shared.mcpe": SHARED}[path]
                    changes.append({"text": texts[path]})
                for _ in range(chance.randint(1, 3)):
                    change, texts[path] = edit(chance, texts[path])
                    changes.append(change)
                versions[path] += 1
                client.change(client.uri(path), versions[path], *changes)
            wanted = lint(project, texts)
            while (seen := {path: found for path in texts if (found := shown(client, path))}) != wanted:
                try:
                    client.wait_for_more(20)
                except TimeoutError:
                    raise AssertionError(f"{seen}\n{wanted}\n{texts}") from None


def edit(chance: random.Random, text: str) -> tuple[dict[str, Any], str]:
    """A change as an editor sends it, and the text after it."""
    lines = TextLines(text)
    start = chance.randrange(len(text) + 1)
    end = min(len(text), start + chance.choice([0, 0, 0, 1, 3, 20]))
    typed = chance.choice(TYPED) if chance.random() < 0.7 else ""
    places = [lines.position(offset, "utf-16") for offset in (start, end)]
    first, last = (lines.offset(place, "utf-16") for place in places)
    where = [{"line": line, "character": character} for line, character in places]
    return {"range": {"start": where[0], "end": where[1]}, "text": typed}, text[:first] + typed + text[last:]
