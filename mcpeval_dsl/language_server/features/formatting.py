"""Language server, formatting: the edits that give a file, or a range of it, its canonical form."""

from __future__ import annotations

from mcpeval_dsl.language_server.snapshot import Snapshot
from mcpeval_dsl.syntax.formatting import Replacement, format_edits


def formatting(snapshot: Snapshot, within: tuple[int, int] | None = None) -> tuple[Replacement, ...]:
    """Replacements in order; none where the file has syntax errors, which its diagnostics tell."""
    return format_edits(snapshot.text, snapshot.path, within).value or ()
