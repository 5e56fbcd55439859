"""Calls of a foreign host that are under way, and a server's questions in their course, carried to the host's person.

Place in the pipeline: beside the proxy. In the older era the person is asked on the wire while the call waits; in the newer
the host is told that input is required, and repeats its call with the answer. What no host can be asked, the task answers.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from mcpeval_dsl.gateway.model import CallRecord

Context = ServerRequestContext[Any]
Said = Mapping[str, Any]
KEY = "question"


@dataclass(slots=True, eq=False)
class UnderWay:
    """One call. `context` is that of the host's last request for it; `task` ends with its record."""

    server: str
    context: Context
    task: asyncio.Task[CallRecord] = field(init=False)
    questions: asyncio.Queue[tuple[Said, asyncio.Future[Said | None]]] = field(default_factory=asyncio.Queue)


class CallsUnderWay:
    """Those of one trial. `ask` is for the door's guard; the rest for the proxy."""

    def __init__(self) -> None:
        self._open: list[UnderWay] = []
        self._interrupted: dict[str, tuple[UnderWay, asyncio.Future[Said | None]]] = {}

    def begin(self, call: UnderWay, work: Coroutine[Any, Any, CallRecord]) -> None:
        call.task = asyncio.create_task(work, name="call of a host")
        self._open.append(call)
        call.task.add_done_callback(lambda _: self._ended(call))

    def _ended(self, call: UnderWay) -> None:
        self._open.remove(call)
        while not call.questions.empty():
            _settle(call.questions.get_nowait()[1], None)

    async def end(self) -> None:
        """Cancel what is still under way, and wait until it is on record."""
        tasks = [call.task for call in self._open]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def ask(self, server: str, question: Said) -> Said | None:
        """The answer of the host's person to a server's question; None where no host can be asked.

        A server does not say on which call's behalf it asks: the latest one to it that is under way is taken.
        """
        call = next((each for each in reversed(self._open) if each.server == server), None)
        if call is None:
            return None
        answer: asyncio.Future[Said | None] = asyncio.get_running_loop().create_future()
        call.questions.put_nowait((question, answer))
        return await answer

    def resumed(self, context: Context, state: str, responses: Mapping[str, Any] | None) -> UnderWay | None:
        """The call that a host repeats with an answer; None where there is none."""
        found = self._interrupted.pop(state, None)
        if found is None:
            return None
        call, answer = found
        call.context = context
        given = (responses or {}).get(KEY)
        _settle(answer, _plain(given) if isinstance(given, types.ElicitResult) else {"action": "cancel"})
        return call

    async def until_told(self, call: UnderWay) -> types.InputRequiredResult | None:
        """Wait for the end of a call (None), asking the person on the way. Cancels the call when it is cancelled itself."""
        try:
            while True:
                asking = asyncio.create_task(call.questions.get())
                try:
                    await asyncio.wait({call.task, asking}, return_when=asyncio.FIRST_COMPLETED)
                finally:
                    asking.cancel()
                if not asking.done() or asking.cancelled():
                    return None
                question, answer = asking.result()
                request = _request(call.context, question)
                if request is None or call.task.done():
                    _settle(answer, None)
                elif call.context.session.can_send_request:
                    _settle(answer, await _asked(call.context, request))
                else:
                    state = uuid.uuid4().hex
                    self._interrupted[state] = (call, answer)
                    return types.InputRequiredResult(input_requests={KEY: request}, request_state=state)
        except asyncio.CancelledError:
            call.task.cancel()
            raise


def _settle(answer: asyncio.Future[Said | None], said: Said | None) -> None:
    if not answer.done():
        answer.set_result(said)


def _request(context: Context, question: Said) -> types.ElicitRequest | None:
    """The question as the host is asked it; None where it did not say that it can be."""
    known = context.session.client_capabilities
    able = known.elicitation if known is not None else None
    if able is None:
        return None
    url = question.get("mode") == "url"
    # A host that names no mode can show forms.
    if (able.url if url else able.form if able.url is not None else True) is None:
        return None
    try:
        return types.ElicitRequest.model_validate({"method": "elicitation/create", "params": dict(question)})
    except ValidationError:
        return None


async def _asked(context: Context, request: types.ElicitRequest) -> Said | None:
    from mcp.shared.message import ServerMessageMetadata

    beside = ServerMessageMetadata(related_request_id=context.request_id)
    try:
        return _plain(await context.session.send_request(request, types.ElicitResult, metadata=beside))
    except (MCPError, ValidationError):
        return None


def _plain(result: types.ElicitResult) -> Said:
    content = result.content
    return {"action": result.action} if content is None else {"action": result.action, "content": dict(content)}
