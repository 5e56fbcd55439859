"""Semantics, the table: scenarios of `conformance`, each with what it asks of a server.

Names that the official suite has too mean the same rule; what is asked is ours, and needs no tool of its own in the server.
"""

from __future__ import annotations

SCENARIOS: dict[str, str] = {
    "server-initialize": "`initialize` is answered with a revision, capabilities and a name; an unknown one is not agreed to.",
    "server-discover": "`server/discover` lists revisions and capabilities (newest era).",
    "server-stateless": "A request that names no revision is refused, and one with an unknown revision too (newest era).",
    "server-session-lifecycle": "A session id that was never given is refused (HTTP, older era).",
    "ping": "`ping` is answered with an empty result (older era).",
    "tools-list": "Every listed tool has a name of its own, an object as its schema, and a description.",
    "resources-list": "Resources, where they are declared, have a URI and a name.",
    "prompts-list": "Prompts, where they are declared, have a name.",
    "pagination": "Pages end, give nothing twice, and a cursor that was never given is refused.",
    "caching": "Lists say how long they hold and for whom (newest era).",
    "unknown-method": "A method that does not exist is refused with -32601.",
    "unknown-tool": "A call of a tool that does not exist is refused with -32602.",
    "invalid-params": "A call that names no tool is refused with -32602.",
    "unknown-notification": "A notification that nobody knows is ignored.",
    "malformed-message": "A line that is no message does not end the server.",
    "cancellation": "A cancelled request does not disturb those behind it.",
    "http-header-validation": "Headers that contradict the request are refused (HTTP, newest era).",
    "dns-rebinding-protection": "Requests with a foreign Host or Origin are refused (HTTP).",
}

__all__ = ["SCENARIOS"]
