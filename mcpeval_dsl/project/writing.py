"""Project: a text of the project replaced whole or not at all."""

from __future__ import annotations

import os
import shutil
from pathlib import Path


def replace(path: Path, old: bytes, new: bytes) -> str | None:
    """Write `new` where `old` stands, through a file beside it that takes its place; rights stay, links are followed.

    None where it is done; else why it is not: the file was changed meanwhile, or may not be written.
    """
    target = path.resolve()
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        if target.read_bytes() != old:
            return "it was changed meanwhile"
        if not os.access(target, os.W_OK):
            return "it may not be written"
        try:
            beside.write_bytes(new)
            shutil.copymode(target, beside)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        return error.strerror or type(error).__name__
    return None
