"""The bounds of a trial: whether the arguments of a call name a path or a host outside of what the task is about.

Place in the pipeline: beside permission, before the server sees anything. What cannot be told stays within bounds: a text
that only looks like a path (`/issues/12`), prose that mentions one, a URL that is data.
"""

from __future__ import annotations

import ipaddress
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mcpeval_dsl.gateway.model import ToolDefinition

PATH_WORDS = frozenset(
    {"path", "paths", "file", "files", "filename", "filepath", "dir", "directory", "folder", "cwd", "root"}
)
HOST_WORDS = frozenset({"url", "uri", "urls", "uris", "host", "hostname", "endpoint", "webhook", "callback", "address"})
PROGRAM_WORDS = frozenset({"sql", "query", "command", "cmd", "script", "code", "statement"})
LONGEST = 4096
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_QUOTED = re.compile(r"'(~?/[^'\n]{1,1024})'|\"(~?/[^\"\n]{1,1024})\"|(?<!\S)(~?/[^\s'\"`;|&<>()]{2,1024})")
_URL = re.compile(r"https?://[^\s'\"<>]{3,2048}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bounds:
    """`roots` are directories (and files) of the trial, `hosts` names without port. Both as the author of the spec gave them.

    `local` names the servers that run on this machine: only theirs are paths of it. `hosts` None: they are not looked at.
    """

    roots: tuple[str, ...] = ()
    hosts: frozenset[str] | None = None
    local: frozenset[str] = frozenset()
    workdir: str = ""
    home: str = ""

    def outside(
        self,
        server: str,
        arguments: Mapping[str, Any],
        definition: ToolDefinition | None = None,
        met: Callable[[str], bool] = lambda host: False,
    ) -> str | None:
        """What lies outside, in words; None where everything is within bounds or nothing can be told.

        `met`: whether the agent met a host in what a server really answered; a link may be followed.
        """
        reaches = definition is None or definition.annotations.get("openWorldHint") is not False
        for name, text in _leaves(arguments):
            words = {word.lower() for word in _WORDS.findall(name)}
            if server in self.local and (path := self._path_outside(text, words)) is not None:
                return f"the path {path}"
            if reaches and (host := self._host_outside(text, words)) is not None and not met(host):
                return f"the host {host}"
        return None

    def _path_outside(self, text: str, words: set[str]) -> str | None:
        if text.startswith("file://"):
            try:
                return self._escapes(unquote(urlsplit(text).path))
            except ValueError:
                return None
        if words & PROGRAM_WORDS:
            found = (next(part for part in match if part) for match in _QUOTED.findall(text))
            return next((path for each in found if (path := self._escapes(each)) is not None), None)
        if "\n" in text or "\0" in text:
            return None
        if text.startswith(("/", "~/")):
            return self._escapes(text)
        if words & PATH_WORDS and ".." in text.split("/") and "://" not in text:
            climbed = os.path.normpath(f"{self.workdir}/{text}")
            try:
                return None if self._within(os.path.realpath(climbed)) else text
            except ValueError:  # a zero byte, or half a character: no file has this name
                return None
        return None

    def _escapes(self, text: str) -> str | None:
        """The path, if it is none of the trial's and there is something there, or a directory to put something into."""
        path = f"{self.home}/{text[2:]}" if text.startswith("~/") else text
        try:
            real = os.path.realpath(path)
        except ValueError:
            return None
        if real == "/" or self._within(real):
            return None
        # A link out of the trial's folder leads out of it, whatever the path says.
        parent = Path(real).parent
        there = os.path.lexists(real) or (parent != Path("/") and parent.is_dir())
        climbs = text.startswith("~/") and ".." in text.split("/")
        return text if there or climbs or self._within(os.path.normpath(path)) else None

    def _within(self, path: str) -> bool:
        return any(path == root or path.startswith(root.rstrip("/") + "/") for root in self.roots)

    def _host_outside(self, text: str, words: set[str]) -> str | None:
        if self.hosts is None:
            return None
        if words & PROGRAM_WORDS:
            urls = _URL.findall(text)
        elif text.lower().startswith(("http://", "https://", "ftp://", "ws://", "wss://")) and " " not in text:
            urls = [text] if words & HOST_WORDS else []
        else:
            return None
        for url in urls:
            try:
                host = (urlsplit(url).hostname or "").rstrip(".").lower()
            except ValueError:
                continue
            if host and host not in self.hosts and not any(host.endswith(f".{known}") for known in self.hosts):
                return host
        return None


def hosts_in(texts: Iterable[str]) -> frozenset[str]:
    """Hosts of the URLs that texts of the author mention, addresses of this machine with all their names."""
    found: set[str] = set()
    for text in texts:
        for url in _URL.findall(text):
            try:
                host = (urlsplit(url).hostname or "").rstrip(".").lower()
            except ValueError:
                continue
            found |= {"localhost", "127.0.0.1", "::1"} if _loopback(host) else {host}
    return frozenset(found - {""})


def paths_in(texts: Iterable[str]) -> tuple[str, ...]:
    """Absolute paths that texts of the author mention."""
    found: dict[str, None] = {}
    for text in texts:
        for match in re.findall(r"(?<![\w:/.~])(/[\w.@+~-]+(?:/[\w.@+~-]+)*)", text):
            path = os.path.normpath(match.rstrip("."))
            if path.count("/") > 1 or Path(path).is_dir():
                found[path] = None
    return tuple(found)


def _loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _leaves(arguments: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Texts of the arguments with the name of the argument (or field) they stand in."""
    waiting: list[tuple[str, Any]] = [(str(name), value) for name, value in arguments.items()]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, str):
            if len(value) <= LONGEST:
                yield name, value
        elif isinstance(value, Mapping):
            waiting.extend((str(key), item) for key, item in value.items())
        elif isinstance(value, list | tuple):
            waiting.extend((name, item) for item in value)
