"""Plan, for content keys: which fixture's digest belongs to which node.

A fixture belongs to what names its path in a text. One whose path no text names (it is put together in a template)
counts for everything, so that a changed file never leaves a stale result.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from mcpeval_dsl.plan.names import uses
from mcpeval_dsl.semantics.model import TypedSuite


@dataclass(slots=True)
class Fixtures:
    """Digests by path, looked up by the texts that name them."""

    digests: Mapping[str, str]
    _by_text: dict[str, list[str]] = field(default_factory=dict)
    _unnamed: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, suite: TypedSuite, digests: Mapping[str, str]) -> Fixtures:
        known = {path: digests[path] for path in suite.fixtures if path in digests}
        found = cls(known)
        for path in known:
            for text in _suffixes(path):
                found._by_text.setdefault(text, []).append(path)
        everything = uses(suite.servers, suite.environments, suite.lets, suite.harvests, suite.tasks, suite.hosts)
        named = found._named(everything.texts | {m.target for m in suite.models})
        found._unnamed = {path: sha for path, sha in known.items() if path not in named}
        return found

    def of_texts(self, texts: set[str]) -> dict[str, str]:
        """Path -> digest of every fixture that these texts name, and of those that nothing names."""
        return {**self._unnamed, **self._named(texts)}

    def _named(self, texts: set[str]) -> dict[str, str]:
        found = (path for text in texts for path in self._by_text.get(_normal(text), ()))
        return {path: self.digests[path] for path in found}


def _suffixes(path: str) -> list[str]:
    parts = _normal(path).split("/")
    return ["/".join(parts[i:]) for i in range(len(parts))]


def _normal(text: str) -> str:
    text = text.replace("\\", "/")
    while text.startswith("./"):
        text = text[2:]
    return text.rstrip("/")
