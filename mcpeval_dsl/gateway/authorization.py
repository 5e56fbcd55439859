"""What a server behind a URL says of its authorisation: refusals without a token, and the metadata they lead to.

Place in the pipeline: over `asking` and `talking`, for `auth` and `oauth` in a check. Sources: RFC 9728 (metadata of a protected
resource), RFC 8414 (of an authorisation server), RFC 7636 (PKCE), RFC 8707 (audience). Only hosts that the spec names are asked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import urlsplit

from mcpeval_dsl.gateway.asking import Got, HttpAsker, origin_of
from mcpeval_dsl.gateway.conformance import PASS, Kept
from mcpeval_dsl.gateway.model import Launch, Pin, ServerStartError
from mcpeval_dsl.gateway.talking import ANSWER_SECONDS, Reply, talk

CREDENTIALS = frozenset({"authorization", "x-api-key", "api-key", "cookie", "private-token"})
MADE_UP = "mcpe-made-up-token"
_METADATA = re.compile(r'resource_metadata\s*=\s*"?([^",\s]+)', re.IGNORECASE)
_PIPES = "the server is reached over pipes, where there is no token"


async def first_answer(launch: Launch, pin: Pin | None, headers: Mapping[str, str] | None) -> Reply:
    """The answer to the first request of a session. `headers` replace those that hold a credential; None leaves them out.

    Raises ServerStartError.
    """
    return await _begun(with_identity(launch, headers), pin)


def with_identity(launch: Launch, headers: Mapping[str, str] | None) -> Launch:
    """The same server, asked as somebody else: with these credentials, or without any."""
    kept = {name: value for name, value in launch.headers.items() if name.lower() not in CREDENTIALS}
    return replace(launch, headers={**kept, **(headers or {})})


async def _begun(launch: Launch, pin: Pin | None) -> Reply:
    async with talk(launch, pin) as conversation:
        return await conversation.begin()


@dataclass(frozen=True, slots=True)
class _Resource:
    """Metadata of the protected resource, and where it was found."""

    url: str
    body: Mapping[str, Any]


async def holds(launch: Launch, pin: Pin | None, rule: str, foreign: Mapping[str, str] | None) -> Kept:
    """Whether one rule of `oauth` is kept. `foreign` are headers with a token for another audience. Raises ServerStartError."""
    if launch.url is None:
        return Kept("unsupported", reason=_PIPES)
    refusal = await first_answer(launch, pin, None)
    if refusal.result is not None:
        return Kept("unsupported", reason="the server asks for no authorisation")
    if refusal.status != 401:
        return Kept("fail", f"without a token: {refusal.said()}", "HTTP status 401")
    async with HttpAsker(launch, {}).open() as asker:
        found = await _resource(asker, launch.url, refusal)
        if isinstance(found, Kept):
            return found
        if rule == "audience":
            return await _audience(launch, pin, found, foreign)
        server = await _authorisation_server(asker, launch.url, found)
    if isinstance(server, Kept):
        return server
    return _pkce(server) if rule == "pkce" else _complete(server)


async def _resource(asker: HttpAsker, url: str, refusal: Reply) -> _Resource | Kept:
    """By the address in WWW-Authenticate, else at the two well-known places."""
    named = _METADATA.search(refusal.headers.get("www-authenticate", ""))
    own, path = origin_of(url), urlsplit(url).path.rstrip("/")
    well_known = f"{own}/.well-known/oauth-protected-resource"
    if named is not None and origin_of(named.group(1)) != own:
        return Kept("fail", f"resource_metadata is at {origin_of(named.group(1))}", f"an address of {own}")
    places = [named.group(1)] if named is not None else [well_known + path, well_known]
    for place in dict.fromkeys(places):
        got = await asker.get(place, {}, ANSWER_SECONDS)
        if got.status == 200 and isinstance(got.body, Mapping):
            return _Resource(place, got.body)
    return Kept("fail", f"no metadata at {' or '.join(places)}", "a JSON document about the protected resource")


async def _authorisation_server(asker: HttpAsker, url: str, found: _Resource) -> Mapping[str, Any] | Kept:
    listed = found.body.get("authorization_servers")
    if not isinstance(found.body.get("resource"), str):
        return Kept("fail", "the metadata names no resource", "the server's URL in `resource`")
    if not isinstance(listed, list) or not listed or not all(isinstance(item, str) for item in listed):
        return Kept("fail", "the metadata names no authorization_servers", "at least one")
    issuer = str(listed[0])
    if _host(issuer) != _host(url):
        return Kept("partial", reason=f"the authorisation server {issuer} was not asked: the spec names no such host")
    own, path = origin_of(issuer), urlsplit(issuer).path.rstrip("/")
    places = [
        f"{own}/.well-known/oauth-authorization-server{path}",
        f"{own}/.well-known/openid-configuration{path}",
        f"{own}{path}/.well-known/openid-configuration",
    ]
    for place in dict.fromkeys(places):
        got = await _got(asker, place)
        if got.status == 200 and isinstance(got.body, Mapping):
            said = got.body.get("issuer")
            if isinstance(said, str) and said.rstrip("/") == issuer.rstrip("/"):
                return got.body
            return Kept("fail", f"its metadata says issuer {said!r}", issuer)
    return Kept("fail", f"the authorisation server has no metadata at {places[0]}", "a JSON document")


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:
        return None


async def _got(asker: HttpAsker, place: str) -> Got:
    """A host that does not answer has no document."""
    try:
        return await asker.get(place, {}, ANSWER_SECONDS)
    except ServerStartError:
        return Got(0)


def _complete(server: Mapping[str, Any]) -> Kept:
    for name in ("authorization_endpoint", "token_endpoint"):
        if not isinstance(server.get(name), str):
            return Kept("fail", f"the authorisation server's metadata has no {name}", "a URL")
    if not isinstance(server.get("response_types_supported"), list):
        return Kept("fail", "the authorisation server's metadata has no response_types_supported", "a list")
    return PASS


def _pkce(server: Mapping[str, Any]) -> Kept:
    methods = server.get("code_challenge_methods_supported")
    if isinstance(methods, list) and "S256" in methods:
        return PASS
    said = "nothing" if methods is None else str(methods)
    return Kept("fail", f"code_challenge_methods_supported: {said}", "S256 among them")


async def _audience(launch: Launch, pin: Pin | None, found: _Resource, foreign: Mapping[str, str] | None) -> Kept:
    url, resource = launch.url or "", str(found.body.get("resource", ""))
    if not (url.rstrip("/") + "/").startswith(resource.rstrip("/") + "/"):
        return Kept("fail", f"its metadata is about {resource or 'nothing'}", f"{url}, or what it lies below")
    given = foreign or {"Authorization": f"Bearer {MADE_UP}"}
    reply = await first_answer(launch, pin, given)
    what = "a token for another audience" if foreign else "a made-up token"
    if reply.result is not None:
        return Kept("fail", f"{what} is accepted", "HTTP status 401")
    if reply.status != 401:
        return Kept("fail", f"{what} gets {reply.said()}", "HTTP status 401")
    if foreign:
        return PASS
    return Kept("partial", reason="no token for another audience was at hand, only a made-up one was tried")


async def speaks_sse(launch: Launch) -> bool | None:
    """Whether the URL, or `sse` beside it, opens the older transport of an event stream; None where there is no URL.

    Raises ServerStartError.
    """
    if launch.url is None:
        return None
    beside = launch.url.rstrip("/").rpartition("/")[0] + "/sse"
    async with HttpAsker(launch, launch.headers).open() as asker:
        for url in dict.fromkeys((launch.url, beside)):
            status, event = await asker.first_event(url, SSE_SECONDS)
            if status == 200 and event == "endpoint":
                return True
    return False


SSE_SECONDS = 2.0
"""How long the first event of an event stream is waited for."""

__all__ = ["CREDENTIALS", "first_answer", "holds", "speaks_sse", "with_identity"]
