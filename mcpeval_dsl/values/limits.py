"""Limits of what one process of a trial may take from the machine, set from outside once it runs.

Place in the pipeline: under whatever starts a process. They are set with `prlimit` right after the start and not between
fork and exec, which is unsafe in a process with threads; children started later inherit them. The number of processes is
limited inside of a sandbox only: elsewhere all processes of the user count. Systems other than Linux set none.
"""

from __future__ import annotations

import contextlib
import re
import signal
import sys
from collections.abc import Iterable
from dataclasses import dataclass

GIB = 1024**3


@dataclass(frozen=True, slots=True)
class Limits:
    """Bytes of writable private memory, of addresses and of one file; open files; bytes of a core dump. None: no limit.

    `memory` is RLIMIT_DATA: what a program reserves and never writes does not count, so engines that reserve terabytes
    run. `addresses` (RLIMIT_AS) is only there against mappings that `memory` does not see.
    """

    memory: int | None = 4 * GIB
    addresses: int | None = 512 * GIB
    file: int | None = 4 * GIB
    open_files: int | None = 8_192
    core: int | None = 0


GENEROUS = Limits()

_NO_MEMORY = re.compile(
    r"MemoryError|out of memory|cannot allocate memory|bad_alloc|OutOfMemoryError|ENOMEM|allocation failed",
    re.IGNORECASE,
)
_NO_FILES = re.compile(r"too many open files|EMFILE", re.IGNORECASE)
_FILE_SIZE = re.compile(r"file too large|EFBIG|file size limit exceeded", re.IGNORECASE)
WORDS_END = 4_000
"""Characters of a process's last words in which a reason is looked for."""


def set_limits(pids: Iterable[int], limits: Limits = GENEROUS) -> tuple[str, ...]:
    """Limit running processes; the names of the limits set on the first of them. A process that ended is no error."""
    if sys.platform != "linux":
        return ()
    import resource

    wanted = {
        "memory": (resource.RLIMIT_DATA, limits.memory),
        "addresses": (resource.RLIMIT_AS, limits.addresses),
        "file": (resource.RLIMIT_FSIZE, limits.file),
        "open_files": (resource.RLIMIT_NOFILE, limits.open_files),
        "core": (resource.RLIMIT_CORE, limits.core),
    }
    applied: list[str] = []
    for number, pid in enumerate(pids):
        for name, (kind, value) in wanted.items():
            with contextlib.suppress(OSError, ValueError):
                if value is not None:
                    hard = resource.prlimit(pid, kind)[1]
                    lowest = value if hard == resource.RLIM_INFINITY else min(value, hard)
                    resource.prlimit(pid, kind, (lowest, lowest))
                    applied += [name] if number == 0 else []
    return tuple(applied)


def limit_reached(exit_code: int | None, last_words: str, limits: Limits = GENEROUS) -> str | None:
    """Which of our limits ended a process, judged by its signal or its last words; None where nothing says so."""
    words = last_words[-WORDS_END:]
    if limits.file is not None and (exit_code == -signal.SIGXFSZ or _FILE_SIZE.search(words)):
        return f"the limit of {_size(limits.file)} for one file"
    if limits.memory is not None and _NO_MEMORY.search(words):
        return f"the limit of {_size(limits.memory)} of memory"
    if limits.open_files is not None and _NO_FILES.search(words):
        return f"the limit of {limits.open_files} open files"
    return None


def _size(size: int) -> str:
    return f"{size / GIB:g} GiB" if size >= GIB else f"{size / 1024**2:g} MiB"
