"""Command line, shared: exit codes, in order of precedence. Infrastructure never gives 1."""

from __future__ import annotations

SPEC = 2  # spec, configuration or arguments are wrong; nothing selected; not trusted and nobody to ask
INTERRUPTED = 130  # resumable
INTERNAL = 70  # our fault
DISK = 74
FINDINGS = 1  # findings, or a gate failed on completed evidence
INCOMPLETE = 3  # infrastructure, authentication, connection
UNDECIDED = 4  # a gate is not decided, or nothing testable was left
CLEAN = 0

PRECEDENCE = (SPEC, INTERRUPTED, INTERNAL, DISK, FINDINGS, INCOMPLETE, UNDECIDED, CLEAN)


def worst(*codes: int) -> int:
    """The code that takes precedence."""
    return min(codes, key=PRECEDENCE.index, default=CLEAN)
