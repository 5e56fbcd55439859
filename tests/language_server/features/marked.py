"""Specs with a cursor `⟦⟧` or a range `⟦…⟧` in them, and the files around them, as snapshots that no disk stands behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcpeval_dsl.language_server.parts import parts_of
from mcpeval_dsl.language_server.positions import Encoding
from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.semantics.catalogue import KnownServer, KnownTool

ISSUE = {
    "type": "object",
    "properties": {"key": {"type": "string"}, "title": {"type": "string"}, "labels": {"type": "array"}},
}
TRACKER = KnownServer(
    "tracker",
    {
        tool.name: tool
        for tool in (
            KnownTool(
                "list_issues",
                "Lists issues. ```\n![x](http://evil.example/x.png)",
                {
                    "type": "object",
                    "properties": {
                        "project": {"type": "string", "description": "Name of the project."},
                        "status": {"enum": ["open", "closed"]},
                        "sort": {"$ref": "#/$defs/order"},
                        "filter": {
                            "type": "object",
                            "properties": {"team": {"type": "string"}, "age": {"type": "integer"}},
                        },
                        "mine": {"type": "boolean"},
                    },
                    "required": ["project"],
                    "$defs": {"order": {"enum": ["created", "updated"]}},
                },
                {
                    "type": "object",
                    "properties": {"issues": {"type": "array", "items": ISSUE}, "total": {"type": "integer"}},
                },
                True,
            ),
            KnownTool(
                "get_issue", "One issue.", {"type": "object", "properties": {"key": {"type": "string"}}}, ISSUE, True
            ),
            KnownTool(
                "update_issue",
                "Changes an issue.",
                {
                    "type": "object",
                    "properties": {
                        "key": {"type": "string"},
                        "labels": {"type": "array", "items": {"enum": ["bug", "needs-review"]}},
                    },
                    "required": ["key"],
                },
                None,
                False,
                True,
            ),
            KnownTool("issues/purge", "Removes all.", {"type": "object", "properties": {}}, None, False, True),
        )
    },
)


@dataclass
class Memory:
    """The files of a project, by path."""

    texts: dict[str, str]
    known: Mapping[str, KnownServer] = field(default_factory=lambda: {"tracker": TRACKER})
    encoding: Encoding = "utf-16"
    made: dict[str, Snapshot] = field(default_factory=dict)

    def snapshot(self, path: str) -> Snapshot | None:
        text = self.texts.get(path)
        if text is None:
            return None
        if path not in self.made or self.made[path].text != text:
            parts = parts_of(path, text).items
            self.made[path] = Snapshot(self.uri(path), path, text, 1, self.encoding, parts, self.known, self)
        return self.made[path]

    def paths(self) -> tuple[str, ...]:
        return tuple(self.texts)

    def exists(self, path: str) -> bool:
        return path in self.texts

    def importers(self, path: str) -> tuple[str, ...]:
        files = [found for name in self.texts if (found := self.snapshot(name)) is not None]
        return tuple(file.path for file in files if any(entry.path == path for entry in file.imports))

    def entries(self, folder: str) -> list[str]:
        below = "" if folder == "." else f"{folder}/"
        names = (path[len(below) :].partition("/") for path in self.texts if path.startswith(below))
        return sorted({name + slash for name, slash, _ in names})

    def text(self, path: str) -> str | None:
        return self.texts.get(path)

    def uri(self, path: str) -> str:
        return f"file:///project/{path}"


def marked(
    text: str, others: Mapping[str, str] | None = None, path: str = "specs/main.mcpe"
) -> tuple[Snapshot, int, int]:
    """The snapshot of a text without its marks, and the offsets at which they stood."""
    start = text.index("⟦")
    end = text.index("⟧") - 1
    plain = text.replace("⟦", "").replace("⟧", "")
    snapshot = Memory({path: plain, **(others or {})}).snapshot(path)
    assert snapshot is not None
    return snapshot, start, end


def plain(text: str, others: Mapping[str, str] | None = None, path: str = "specs/main.mcpe") -> Snapshot:
    """The snapshot of a text without marks."""
    snapshot = Memory({path: text, **(others or {})}).snapshot(path)
    assert snapshot is not None
    return snapshot
