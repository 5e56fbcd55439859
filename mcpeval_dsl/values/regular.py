"""Values, beside the sources: files that a spec or a person names, read only where reading them comes to an end."""

from __future__ import annotations

import errno
import stat
from pathlib import Path

MOST_BYTES = 256 * 1024 * 1024


def regular_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a regular file. Raises OSError, also for a pipe, a device, a file above `most` bytes, or no name."""
    try:
        status = path.stat()
    except ValueError:  # a zero byte, or half a character
        raise FileNotFoundError(errno.ENOENT, "no file can have this name") from None
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, "it is a directory")
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "it is no regular file")
    if status.st_size > most:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes")
    return path.read_bytes()


def regular_text(path: Path, most: int = MOST_BYTES) -> str:
    """The same as text. Raises OSError, and UnicodeDecodeError for what is not UTF-8."""
    return regular_bytes(path, most).decode("utf-8")
