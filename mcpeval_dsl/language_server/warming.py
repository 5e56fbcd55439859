"""Language server, between requests: what features need to know of all parts of a file is found in small slices.

After a file is opened that is done before anybody asks. A request that comes earlier waits until its share of it is done,
and those behind it do not wait for that.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from mcpeval_dsl.language_server.features.folding import folds_of
from mcpeval_dsl.language_server.features.formatting import laying_out, to_lay_out
from mcpeval_dsl.language_server.features.semantic_tokens import encode
from mcpeval_dsl.language_server.features.symbols import outline
from mcpeval_dsl.language_server.index.part import index
from mcpeval_dsl.language_server.index.project import too_large
from mcpeval_dsl.language_server.parts import Body
from mcpeval_dsl.language_server.positions import Encoding
from mcpeval_dsl.language_server.snapshot import Snapshot

SLICE, PAUSE = 0.004, 0.002  # seconds of work, and until the next slice where nobody waits for it
AT_ONCE = 20_000  # characters of which a request finds out by itself what it needs: about 20 ms

Need = Literal["names", "shapes", "form"]
"""What a request looks at in all parts: what they say and name; outline, folds and colours too; how they are laid out."""
Later = Callable[[float, Callable[[], None]], None]
_NAMED, _SHAPED = "named", "shaped"


def missing(files: Iterable[Snapshot], need: Need) -> int:
    """Characters of which it is not known yet."""
    return sum(_missing(file, need) for file in files if not too_large(file))


def _missing(file: Snapshot, need: Need) -> int:
    if need == "form":
        unread = sum(len(part.body.text) for part in file.parts if not part.body.is_read)
        return unread or to_lay_out(file)
    mark = _NAMED if need == "names" else _SHAPED
    return sum(len(part.body.text) for part in file.parts if mark not in part.body.kept)


def finding(files: Iterable[Snapshot], need: Need) -> Iterator[None]:
    """Find it, in steps of a few milliseconds."""
    for file in files:
        if too_large(file):
            continue
        for part in file.parts:
            if need == "form":
                part.body.problems  # noqa: B018  # reads it
                yield
            else:
                yield from _names(part.body)
        if need == "shapes":
            for part in file.parts:
                yield from _shapes(part.body, file.encoding)
        if need == "form":
            yield from laying_out(file)


def _names(body: Body) -> Iterator[None]:
    if _NAMED in body.kept:
        return
    body.problems  # noqa: B018  # reads it
    yield
    body.statements  # noqa: B018
    yield
    index(body).by_key  # noqa: B018
    body.kept[_NAMED] = True
    yield


def _shapes(body: Body, encoding: Encoding) -> Iterator[None]:
    if _SHAPED in body.kept:
        return
    outline(body)
    folds_of(body)
    yield
    encode(body, encoding)
    body.kept[_SHAPED] = True
    yield


class Warming:
    """Does such work in the loop's thread, each time `later`."""

    def __init__(self, later: Later) -> None:
        self._later = later
        self._under_way = 0
        self._waited = 0  # for how many of them somebody waits
        self._warmed: set[str] = set()

    def find(self, files: list[Snapshot], need: Need, then: Callable[[], None]) -> None:
        """As soon as possible, between other requests; `then` is called in any case."""

        def done() -> None:
            self._waited -= 1
            then()

        self._waited += 1
        self._begin(finding(files, need), 0.0, done)

    def warm(self, uri: str, look: Callable[[], Snapshot | None]) -> None:
        """Everything about a file as `look` gives it, with pauses; it ends where that gives None."""
        if uri not in self._warmed:
            self._warmed.add(uri)
            self._begin(self._all(look), PAUSE, lambda: self._warmed.discard(uri))

    def _all(self, look: Callable[[], Snapshot | None]) -> Iterator[None]:
        while (file := look()) is not None and missing([file], "shapes") > AT_ONCE:
            yield from _while(finding([file], "shapes"), look)
        if file is not None:
            yield from _while(finding([file], "shapes"), look)
            yield from _while(finding([file], "form"), look)

    def _begin(self, steps: Iterator[None], pause: float, then: Callable[[], None]) -> None:
        self._under_way += 1
        gc.disable()  # all that is made now stays; going through it again and again takes longer than the work
        self._later(0.0, lambda: self._slice(steps, pause, then))

    def _slice(self, steps: Iterator[None], pause: float, then: Callable[[], None]) -> None:
        if pause and self._waited:  # what somebody waits for comes first
            self._later(pause, lambda: self._slice(steps, pause, then))
            return
        end = time.monotonic() + SLICE
        try:
            for _ in steps:
                if time.monotonic() > end:
                    self._later(pause, lambda: self._slice(steps, pause, then))
                    return
        except BaseException:
            self._done(then)
            raise
        self._done(then)

    def _done(self, then: Callable[[], None]) -> None:
        self._under_way -= 1
        if not self._under_way:
            gc.freeze()  # what is dropped of it later is freed all the same: nothing in it refers to itself
            gc.enable()
        then()


def _while(steps: Iterator[None], look: Callable[[], Snapshot | None]) -> Iterator[None]:
    for _ in steps:
        if look() is None:
            return
        yield
