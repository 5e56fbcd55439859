"""Language server, between requests: parts that nobody asked for yet are read in small slices, so that the first request
for a whole file need not read it all."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from mcpeval_dsl.language_server.features.folding import folds_of
from mcpeval_dsl.language_server.features.semantic_tokens import encode
from mcpeval_dsl.language_server.features.symbols import outline
from mcpeval_dsl.language_server.index.part import index
from mcpeval_dsl.language_server.parts import Body, Part
from mcpeval_dsl.language_server.positions import Encoding

SLICE, PAUSE = 0.004, 0.002  # seconds of reading, and until the next slice

Later = Callable[[float, Callable[[], None]], None]


def warm(parts: tuple[Part, ...], encoding: Encoding, later: Later, wanted: Callable[[], bool]) -> None:
    """Read all parts, a slice now and the rest `later`, for as long as they are `wanted`."""
    _slice(_steps([part.body for part in parts if not part.body.is_read], encoding), later, wanted)


def _slice(steps: Iterator[None], later: Later, wanted: Callable[[], bool]) -> None:
    end = time.monotonic() + SLICE
    while wanted():
        try:
            next(steps)
        except StopIteration:
            return
        if time.monotonic() > end:
            later(PAUSE, lambda: _slice(steps, later, wanted))
            return


def _steps(bodies: list[Body], encoding: Encoding) -> Iterator[None]:
    for body in bodies:
        body.problems  # noqa: B018  # reads it
        yield
        body.statements  # noqa: B018
        yield
        index(body)
        yield
        outline(body)
        folds_of(body)
        yield
        encode(body, encoding)
        yield
