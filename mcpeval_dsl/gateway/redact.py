"""Secrets out of everything that will be written, told by place and never by value.

Place in the pipeline: the last step before a record; used again by whoever writes prompts, turns and answers.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, quote, quote_plus, unquote, urlsplit

from mcpeval_dsl.gateway.surrogates import whole

SHORTEST = 4
SHORTEST_BASE64 = 8
_SECRET_WORDS = re.compile(r"key|token|secret|pass|auth|sig", re.IGNORECASE)

# Shapes that only credentials have, with the word that stands in their place.
SHAPES: tuple[tuple[str, str], ...] = (
    ("anthropic key", r"sk-ant-[A-Za-z0-9_-]{16,}"),
    ("api key", r"\bsk-(?:proj-|live-|test-)?[A-Za-z0-9_-]{20,}"),
    ("stripe key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("github token", r"\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_[A-Za-z0-9_]{40,}"),
    ("gitlab token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("aws key id", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("slack token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("google key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("npm token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("hugging face token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("pypi token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("json web token", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    ("private key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)"),
    ("password in a URL", r"\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@\"']{0,100}:[^\s/:@\"']{1,200}@"),
)

HINT = r"sk-|k_(?:live|test)_|gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|xox|AIza|npm_|hf_|pypi-|eyJ|PRIVATE KEY|://"
"""What every text with one of the shapes holds: nearly all texts have none of it, and are looked at once, not 14 times."""


class Redactor:
    """Replaces the values of named secrets, in their usual encodings too, and whatever has a credential's shape.

    `values` are the secrets by name.
    """

    def __init__(self, secrets: Mapping[str, str] | Iterable[str] = (), shapes: bool = True) -> None:
        named = secrets if isinstance(secrets, Mapping) else {f"secret {n}": v for n, v in enumerate(secrets, start=1)}
        self.values = dict(named)
        self._names: dict[str, str] = {}
        for name, value in named.items():
            for form in forms(value):
                self._names.setdefault(form, name)
        self._known = _alternation(self._names) if self._names else None
        self._shapes = _shape_patterns() if shapes else ()

    def text(self, text: str) -> tuple[str, tuple[str, ...]]:
        """The text without secrets, and the names of what was replaced."""
        found: list[str] = []
        text = whole(text)

        def known(match: Any) -> str:
            found.append(self._names[match.group(0)])
            return f"[redacted: {found[-1]}]"

        if self._known is not None:
            text = self._known.sub(known, text)
        if not self._shapes or _hint().search(text) is None:
            return text, tuple(found)
        for name, shape in self._shapes:
            if shape.search(text):
                found.append(name)
                text = shape.sub(f"[redacted: {name}]", text)
        return text, tuple(found)

    def value(self, value: Any, place: str = "") -> tuple[Any, tuple[str, ...]]:
        """Any JSON value without secrets, and where something was replaced: `place` and a JSON pointer, with the name."""
        if self._nothing_in(value):
            return value, ()
        places: list[str] = []
        return self._value(value, place, places), tuple(places)

    def _nothing_in(self, value: Any) -> bool:
        """Whether one look at all texts at once shows that there is nothing to replace: so it is nearly always."""
        text = "\0".join(dict.fromkeys(_texts(value)))
        if whole(text) is not text or (self._known is not None and self._known.search(text) is not None):
            return False
        return not self._shapes or _hint().search(text) is None

    def names_in(self, value: Any) -> tuple[str, ...]:
        """Names of the named secrets found anywhere in a JSON value, in order."""
        if self._known is None:
            return ()
        found = [self._names[hit] for text in _texts(value) for hit in self._known.findall(whole(text))]
        return tuple(dict.fromkeys(found))

    def _value(self, value: Any, place: str, places: list[str]) -> Any:
        if isinstance(value, str):
            clean, found = self.text(value)
            places.extend(f"{place or '/'} ({name})" for name in dict.fromkeys(found))
            return clean if found else value
        if isinstance(value, Mapping):
            return {
                self._value(key, f"{place}/(a key)", places): self._value(item, f"{place}/{_step(key)}", places)
                for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            items = [self._value(item, f"{place}/{number}", places) for number, item in enumerate(value)]
            return tuple(items) if isinstance(value, tuple) else items
        return value


def forms(secret: str) -> Iterator[str]:
    """A secret as it may be written: itself, in JSON, in URLs, in hexadecimal digits, and inside base64 at any alignment."""
    if len(secret) < SHORTEST:
        return
    for part in _within_url(secret) if "://" in secret else ():
        yield from forms(part)
    yield secret
    yield json.dumps(secret)[1:-1]
    yield quote(secret, safe="")
    yield quote_plus(secret)
    data = secret.encode()
    yield data.hex()
    yield data.hex().upper()
    for shift in range(3):
        encoded = base64.b64encode(b"\0" * shift + data).decode()
        # The first and last symbols depend on the neighbours of the secret, so only what is certain is looked for.
        start = (0, 2, 3)[shift]
        end = len(encoded) if (shift + len(data)) % 3 == 0 else len(encoded.rstrip("=")) - 1
        core = encoded[start:end]
        if len(core) >= SHORTEST_BASE64:
            yield core
            yield core.replace("+", "-").replace("/", "_")


def _within_url(secret: str) -> Iterator[str]:
    """What is secret by itself in a URL that is: its password, and what its query calls a key or the like."""
    try:
        url = urlsplit(secret)
        given = [unquote(url.password or ""), *(v for k, v in parse_qsl(url.query) if _SECRET_WORDS.search(k))]
    except ValueError:
        return
    yield from (part for part in given if len(part) >= SHORTEST_BASE64 and "://" not in part)


def _texts(value: Any) -> Iterator[str]:
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if item is None or isinstance(item, bool | int | float):
            continue
        if isinstance(item, str):
            yield item
        elif type(item) is dict:  # nearly all of them are, and to ask for a Mapping takes ten times as long
            waiting += item
            waiting += item.values()
        elif isinstance(item, Mapping):
            waiting.extend(item.keys())
            waiting.extend(item.values())
        elif isinstance(item, list | tuple):
            waiting.extend(item)


def _step(key: Any) -> str:
    return str(key).replace("~", "~0").replace("/", "~1")


def _alternation(names: Mapping[str, str]) -> Any:
    import re2

    longest_first = sorted(names, key=lambda form: (-len(form), form))
    return re2.compile("|".join(re2.escape(form) for form in longest_first))


@lru_cache(maxsize=1)
def _hint() -> Any:
    import re2

    return re2.compile(HINT)


@lru_cache(maxsize=1)
def _shape_patterns() -> tuple[tuple[str, Any], ...]:
    import re2

    return tuple((name, re2.compile(pattern)) for name, pattern in SHAPES)
