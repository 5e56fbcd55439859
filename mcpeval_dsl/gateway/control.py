"""The control file of a trial whose host is outside: where its door listens, and the word that opens it.

Place in the pipeline: written by the run (readable by its owner only), read by `mcpe gateway`. It holds no secret of a server and
no rule: those stay with the run, so that a host that changes the file gains nothing.
"""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

from mcpeval_dsl.values.regular import regular_text

CONTROL_FORMAT = "mcpe-gateway/2"
LONGEST = 65536
"""Bytes of such a file; it has a few hundred."""


class BadControl(ValueError):
    """The file is no control file; the text is a sentence for people."""


@dataclass(frozen=True, slots=True)
class Control:
    """`socket` is a path on this machine, `token` what a connection says first."""

    socket: str
    token: str
    trial: str = ""


def write_control(path: Path, control: Control) -> None:
    """Write it, for its owner only. Raises OSError, FileExistsError too."""
    data = {"format": CONTROL_FORMAT, "trial": control.trial, "socket": control.socket, "token": control.token}
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        json.dump(data, stream)


def read_control(path: Path) -> Control:
    """Raises OSError where it cannot be read, BadControl where it is none."""
    try:
        data = json.loads(regular_text(path, LONGEST))
    except UnicodeDecodeError as problem:
        raise BadControl("it is no text") from problem
    except ValueError as problem:
        raise BadControl(f"it is no JSON ({problem})") from problem
    if not isinstance(data, dict) or data.get("format") != CONTROL_FORMAT:
        raise BadControl(f"its format is not {CONTROL_FORMAT}")
    place, token = data.get("socket"), data.get("token")
    if not isinstance(place, str) or not isinstance(token, str):
        raise BadControl("it does not say where the door of the trial is")
    return Control(place, token, str(data.get("trial", "")))
