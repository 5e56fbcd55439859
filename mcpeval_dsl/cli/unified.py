"""Command line, shared by `mcpe fmt --diff` and `mcpe lint --diff`: what would be written, as a unified diff."""

from __future__ import annotations

from collections.abc import Iterator


def unified(before: bytes, after: bytes, old: str, new: str) -> Iterator[str]:
    """Lines that `patch` takes; `old` and `new` are what the file is called in them."""
    from difflib import unified_diff

    was, now = (data.decode("utf-8").splitlines(keepends=True) for data in (before, after))
    for line in unified_diff(was, now, old, new):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"
