"""Execution: is a server one that no trial starts, so that what is written there stays written?"""

from __future__ import annotations

import re

from mcpeval_dsl.semantics.expressions import Literal, Template
from mcpeval_dsl.semantics.model import Server

_THIS_MACHINE = re.compile(r"https?://(?:127\.\d+\.\d+\.\d+|localhost|\[::1\])(?=[:/]|$)", re.IGNORECASE)


def is_remote(server: Server) -> bool:
    """True for a URL whose host is not written out as this machine."""
    url = server.url
    if url is None:
        return False
    text = url.text if isinstance(url, Template) else str(url.value) if isinstance(url, Literal) else ""
    return _THIS_MACHINE.match(text) is None
