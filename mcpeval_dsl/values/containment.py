"""Values, the operator `under`: is a path below a directory, or a URL below a URL, whatever tricks its text plays.

Pure text: nothing is looked up, so symbolic links are not seen. `..` is resolved before comparing, and whole segments are
compared (`/a/bc` is not under `/a/b`). A relative path starts from `start`, the trial's working directory, where servers run;
without one it is under no absolute path.
"""

from __future__ import annotations

import ntpath
import posixpath
import re
from urllib.parse import unquote, urlsplit

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PORTS = {"http": 80, "https": 443, "ws": 80, "wss": 443}


def under(text: str, base: str, start: str | None = None) -> bool:
    """True where `text` is `base` itself or below it."""
    if _CONTROL.search(text) or _CONTROL.search(base):
        return False
    if _URL.match(base) and not base.lower().startswith("file:"):
        return _url_under(text, base)
    path, root = _local(text), _local(base)
    if path is None or root is None:
        return False
    if _DRIVE.match(root):
        return bool(_DRIVE.match(path)) and _below(_windows(path), _windows(root))
    if _DRIVE.match(path):
        return False
    if start is not None and not path.startswith("~"):
        path, root = posixpath.join(start, path), posixpath.join(start, root)
    return posixpath.isabs(path) == posixpath.isabs(root) and _below(_posix(path), _posix(root))


def _local(text: str) -> str | None:
    """A path as it is, or the one in a `file:` URL of this machine."""
    if not text.lower().startswith("file:"):
        return None if _URL.match(text) or not text else text
    try:
        parts = urlsplit(text)
    except ValueError:
        return None
    return unquote(parts.path) if parts.netloc in ("", "localhost") and parts.path else None


def _posix(path: str) -> list[str]:
    return [part for part in posixpath.normpath(path).split("/") if part not in ("", ".")]


def _windows(path: str) -> list[str]:
    return [part for part in ntpath.normcase(ntpath.normpath(path)).split("\\") if part]


def _below(parts: list[str], root: list[str]) -> bool:
    if parts[:1] == [".."]:
        return parts[: len(root)] == root and bool(root)
    return parts[: len(root)] == root


def _url_under(text: str, base: str) -> bool:
    try:
        return _url_below(text, base)
    except ValueError:
        return False


def _url_below(text: str, base: str) -> bool:
    """Browsers read `\\` in a URL as `/`; a user name before the host is compared too, so it cannot pose as the host."""
    inner, outer = urlsplit(text.strip().replace("\\", "/")), urlsplit(base.strip().replace("\\", "/"))
    if inner.scheme.lower() != outer.scheme.lower() or not inner.hostname or inner.hostname != outer.hostname:
        return False
    if (inner.username, inner.password) != (outer.username, outer.password):
        return False
    default = _PORTS.get(outer.scheme.lower())
    if (inner.port or default) != (outer.port or default):
        return False
    return _below(_segments(inner.path), _segments(outer.path))


def _segments(path: str) -> list[str]:
    return [part for part in posixpath.normpath("/" + unquote(path)).split("/") if part not in ("", ".")]
