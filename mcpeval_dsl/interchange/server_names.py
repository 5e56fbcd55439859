"""Interchange: a name for a server of which only the address or the command is known."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from mcpeval_dsl.interchange import words

PROGRAMS = (".js", ".mjs", ".cjs", ".ts", ".py", ".sh", ".rb", ".php", ".jar", ".exe", ".ps1", ".lua", ".pl")
"""Endings of files that are started, and not data."""
_STARTERS = frozenset(
    (
        *(
            "node",
            "python",
            "python3",
            "npx",
            "uvx",
            "uv",
            "run",
            "docker",
            "bun",
            "bunx",
            "deno",
            "tsx",
            "java",
            "ruby",
        ),
        *("php", "go", "start"),
    )
)
_ANY = frozenset({"index", "main", "server", "__main__", "cli", "app"})
_PLACES = frozenset({"build", "dist", "src", "lib", "bin", ".", "..", "/"})


def of_url(url: str, fallback: str) -> str:
    """The first label of its host that says something."""
    host = re.sub(r"(?i)^https?://|[:/?#].*$", "", url)
    labels = [label for label in host.split(".") if label not in ("www", "mcp", "api", "localhost")]
    return _told(labels[0] if labels and not labels[0].isdigit() else "", fallback)


def of_command(argv: Sequence[str], fallback: str) -> str:
    """The last word of its package or program; of a program that is called as all are, its folder."""
    word = next((each for each in argv if each not in _STARTERS and not each.startswith("-")), argv[0] if argv else "")
    path = Path(re.sub(r"^@[^/]+/", "", word))
    name = path.name if path.suffix.lower() not in PROGRAMS else path.stem
    if name in _ANY:
        folders = [part for part in path.parts[:-1] if part not in _PLACES]
        name = folders[-1] if folders else Path.cwd().name
    return _told(re.sub(r"@[\d.]+$|@latest$", "", name), fallback)


def _told(word: str, fallback: str) -> str:
    """Without what all of them say."""
    word = re.sub(r"(?i)(^|[-_.])(mcp|server)(?=$|[-_.])", r"\1", word).strip("-_.")
    return words.slug(word, fallback) if word else fallback
