"""Provenance: a server that could not be started, as a suspicion against it.

A program that says what it lacks (a key, a folder) and ends is the operator's to set up; one that ends by a signal or with
an error nobody caught is broken. No call shows it, so that nothing replays it: the run's own record is the evidence.
"""

from __future__ import annotations

import re

from mcpeval_dsl.records.model import ConnectRecord, Lead

CRASH_AT_START = "crash_at_start"
_UNCAUGHT = re.compile(
    r"^Traceback \(most recent call last\)|^panic: |^thread '.*' panicked|^Exception in thread |^\s+at \S.*:\d+:\d+\)?$|"
    r"^Unhandled exception|^Segmentation fault|^fatal error: ",
    re.MULTILINE,
)
_LACKING = re.compile(
    r"(?:not set|is required|must be set|missing|no such file|not found|permission denied|already in use)",
    re.IGNORECASE,
)


def start_lead(record: ConnectRecord) -> Lead | None:
    """The lead of a server that died at its start of itself; None where it was reached, or said what it lacks."""
    code = record.exit_code
    if record.status != "failed" or code is None or code == 0:
        return None
    last = next((line.strip() for line in reversed(record.stderr_tail.splitlines()) if line.strip()), "")
    uncaught = _UNCAUGHT.search(record.stderr_tail) is not None and _LACKING.search(last) is None
    if code > 0 and not uncaught:
        return None
    message = last or f"ended by signal {-code}"
    return Lead(kind=CRASH_AT_START, server=record.server, tool="", call="", message=message)
