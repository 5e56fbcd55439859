"""Hosts as a spec lists them in `network`: `name`, `*.name`, an address, each with a port or without.

Place in the pipeline: read while lowering, asked again by the sandbox for each connection.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable

from mcpeval_dsl.frozen import dataclass

EVERYTHING = "all"
"""Stands alone in a list: the network is open."""
USUAL_PORTS = (443, 80)
"""Of a host that is written without a port."""

_LABEL = r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?"
_NAME = re.compile(rf"(?:\*\.)?{_LABEL}(?:\.{_LABEL})*", re.IGNORECASE)
_WRITTEN = re.compile(r"(?P<host>\[[^\[\]]+\]|[^:\[\]]+)(?::(?P<port>[0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class HostRule:
    """`name` in lower case, an address without brackets; `*.` before it means the hosts below. `port` None: 443 and 80."""

    name: str
    port: int | None = None

    @property
    def ports(self) -> tuple[int, ...]:
        return USUAL_PORTS if self.port is None else (self.port,)

    @property
    def exact(self) -> bool:
        return not self.name.startswith("*.")

    @property
    def named(self) -> bool:
        """A whole name, not of this machine."""
        return self.exact and not self.loopback and _address(self.name) is None

    @property
    def loopback(self) -> bool:
        return is_loopback(self.name)

    def admits(self, host: str, port: int) -> bool:
        """`host` as a program asks for it."""
        host = plain(host)
        same = host == self.name if self.exact else host.endswith(self.name[1:])
        return same and port in self.ports


def rule_of(text: str) -> HostRule | None:
    """None where the text is no host: a URL, a path, a mask that does not stand first, a port that there is not."""
    match = _WRITTEN.fullmatch(text)
    if match is None:
        return None
    name, port = plain(match["host"]), None if match["port"] is None else int(match["port"])
    if port is not None and not 0 < port < 65536:
        return None
    address = _address(name)
    if match["host"].startswith("[") != (address is not None and address.version == 6):
        return None
    if address is None and (_NAME.fullmatch(name) is None or re.fullmatch(r"[0-9.]+", name)):
        return None
    return HostRule(name if address is None else address.compressed, port)


def rules_of(texts: Iterable[str]) -> tuple[HostRule, ...]:
    """Of texts that were checked before; `all` is no rule."""
    return tuple(dict.fromkeys(rule for text in texts if text != EVERYTHING and (rule := rule_of(text)) is not None))


def plain(host: str) -> str:
    """As it is compared: lower case, no brackets, no final dot."""
    return host.strip("[]").rstrip(".").lower()


def is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    address = _address(host)
    return address is not None and address.is_loopback


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        return None
