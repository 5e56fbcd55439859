"""Language server, at its edge: bytes of standard input and output <-> messages.

A thread reads ahead, so that a request taken back by the editor before its turn is not worked on: on a large file an
editor sends requests with each key, and takes most of them back.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import select
import threading
from collections.abc import Callable, Iterator
from typing import Any

LARGEST = 64_000_000  # bytes of a message
_LENGTH = re.compile(rb"content-length:[ \t]*(\d{1,12})[ \t]*\Z", re.IGNORECASE)
_CHUNK = 65_536
Message = dict[str, Any]


class Framing(Exception):
    """What comes is not of this protocol; where the next message would begin cannot be known."""


def bodies(read: Callable[[int], bytes]) -> Iterator[bytes]:
    """The bodies of all messages until the input ends. Raises Framing."""
    held = bytearray()

    def more() -> bool:
        chunk = read(_CHUNK)
        held.extend(chunk)
        return bool(chunk)

    while True:
        while (end := held.find(b"\r\n\r\n")) < 0:
            if len(held) > _CHUNK:
                raise Framing("a header without an end")
            if not more():
                return
        found = [m for line in bytes(held[:end]).split(b"\r\n") if (m := _LENGTH.match(line.strip()))]
        if not found or (size := int(found[-1][1])) > LARGEST:
            raise Framing("a header without a length that can be")
        del held[: end + 4]
        while len(held) < size:
            if not more():
                return
        yield bytes(held[:size])
        del held[:size]


class Incoming:
    """Messages in their order; `taken_back` are the ids of requests that need no answer any more."""

    def __init__(self, descriptor: int, loop: asyncio.AbstractEventLoop) -> None:
        self.taken_back: set[Any] = set()
        self.fault = ""
        self._descriptor = descriptor
        self._loop = loop
        self._queue: asyncio.Queue[Message | ValueError | None] = asyncio.Queue()
        threading.Thread(target=self._run, name="reader", daemon=True).start()

    async def next(self) -> Message | ValueError | None:
        """The next message, ValueError for one that is no JSON object, None at the end of the input."""
        return await self._queue.get()

    def end(self) -> None:
        """Let `next` give None once what was read is used up."""
        self._queue.put_nowait(None)

    def _run(self) -> None:
        try:
            for body in bodies(self._read):
                self._put(_message(body))
        except (OSError, Framing) as error:
            self.fault = str(error)
        self._put(None)

    def _read(self, size: int) -> bytes:
        while True:
            try:
                return os.read(self._descriptor, size)
            except BlockingIOError:  # whoever made the pipe wants to be told instead of waiting
                select.select([self._descriptor], [], [])

    def _put(self, message: Message | ValueError | None) -> None:
        if isinstance(message, dict) and message.get("method") == "$/cancelRequest":
            wanted = message.get("params")
            number = wanted.get("id") if isinstance(wanted, dict) else None
            if isinstance(number, str | int):
                self.taken_back.add(number)
        try:
            self._loop.call_soon_threadsafe(self._queue.put_nowait, message)
        except RuntimeError:  # the loop has ended meanwhile
            return


def _message(body: bytes) -> Message | ValueError:
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        return ValueError(str(error))
    return found if isinstance(found, dict) else ValueError("a message is an object")


class Outgoing:
    """Writes all of a message at once. Raises BrokenPipeError where nobody reads any more."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def write(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(self._descriptor, view) :]
            except BlockingIOError:
                select.select([], [self._descriptor], [])

    def close(self) -> None:
        """The descriptor is closed with the process."""
