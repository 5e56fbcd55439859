"""Third room: tree -> TypedSuite. The table of directives, names, types, templates and rules."""

from __future__ import annotations

from mcpeval_dsl.diagnostics.model import Diagnostic


class _Memory:
    """Files of a text that stands alone: everything it names exists, and is empty."""

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text

    def read(self, path: str) -> bytes:
        if path == self.path:
            return self.text.encode()
        raise FileNotFoundError(path)

    def exists(self, path: str) -> bool:
        return True


def check_text(text: str, path: str = "spec.mcpe") -> tuple[Diagnostic, ...]:
    """All diagnostics of one text; fixtures it names are taken to exist."""
    from mcpeval_dsl.semantics import front

    loaded = front.load(front.Request(path, _Memory(path, text), {}))
    found = list(loaded.diagnostics)
    if loaded.value is not None:
        shaped = front.check_shape(loaded.value)
        lowered = front.lower(loaded.value)
        found.extend((*shaped.diagnostics, *lowered.diagnostics))
        if lowered.value is not None:
            found.extend(front.apply_rules(lowered.value).diagnostics)
    return tuple(found)
