"""Snapshots for tests, without a server: texts in memory, and what a lock knows of servers."""

from __future__ import annotations

from collections.abc import Mapping
from errno import ENOENT

from mcpeval_dsl.language_server.analysis import analyse
from mcpeval_dsl.language_server.parts import parts_of
from mcpeval_dsl.language_server.positions import Encoding
from mcpeval_dsl.language_server.snapshot import Analysis, Snapshot
from mcpeval_dsl.semantics.catalogue import KnownServer


class InMemory:
    """A project of texts by path. Every file a spec names but that is not among them is said to be there."""

    def __init__(
        self,
        texts: Mapping[str, str],
        known: Mapping[str, KnownServer] | None = None,
        encoding: Encoding = "utf-16",
    ) -> None:
        self.texts = dict(texts)
        self.known = known or {}
        self.encoding: Encoding = encoding
        self.analysed: dict[str, Analysis] = {}

    def read(self, path: str) -> bytes:
        if path not in self.texts:
            raise FileNotFoundError(ENOENT, "there is no such file")
        return self.texts[path].encode("utf-8", "surrogatepass")

    def exists(self, path: str) -> bool:
        return path in self.texts or not path.endswith(".mcpe")

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(path for path in self.texts if path.endswith(".mcpe")))

    def uri(self, path: str) -> str:
        return f"file:///project/{path}"

    def importers(self, path: str) -> tuple[str, ...]:
        return tuple(p for p in self.paths() if any(i.path == path for i in self._bare(p).imports))

    def analyses(self, path: str) -> tuple[Analysis, ...]:
        roots, pending = [], [path]
        while pending:
            current = pending.pop(0)
            if current not in roots:
                roots.append(current)
                pending.extend(self.importers(current))
        return tuple(self.analysis(root) for root in roots)

    def analysis(self, path: str) -> Analysis:
        if path not in self.analysed:
            self.analysed[path] = analyse(path, self, self.known)
        return self.analysed[path]

    def snapshot(self, path: str) -> Snapshot | None:
        return self._bare(path, self.analysis(path)) if path in self.texts else None

    def typed(self, path: str, text: str) -> Snapshot:
        """The file after an edit, with the analysis of the text before it."""
        before = self.analysis(path)
        self.texts[path] = text
        return self._bare(path, before)

    def _bare(self, path: str, analysis: Analysis | None = None) -> Snapshot:
        text = self.texts[path]
        return Snapshot(
            self.uri(path), path, text, 1, self.encoding, parts_of(path, text).items, self.known, self, analysis
        )


def snapshot_of(text: str, known: Mapping[str, KnownServer] | None = None, **others: str) -> Snapshot:
    """A spec `spec.mcpe` with its analysis; `others` are further texts, `shared="…"` being `shared.mcpe`."""
    texts = {"spec.mcpe": text, **{f"{name}.mcpe": other for name, other in others.items()}}
    found = InMemory(texts, known).snapshot("spec.mcpe")
    assert found is not None
    return found
