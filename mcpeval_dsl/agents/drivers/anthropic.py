"""A driver: Anthropic Messages through the official SDK, with our own retries, limits and clock."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mcpeval_dsl.agents.drivers.api import ApiCaller, no_key
from mcpeval_dsl.agents.drivers.settings import DriverSettings
from mcpeval_dsl.agents.failures import ApiFailure, failure_of_status, one_line
from mcpeval_dsl.agents.model import (
    Message,
    Preflight,
    StopReason,
    ToolRequest,
    TrialContext,
    Turn,
    TurnRequest,
    Usage,
)
from mcpeval_dsl.semantics.model import Model
from mcpeval_dsl.values.nesting import shallow

if TYPE_CHECKING:
    import anthropic

DEFAULT_URL = "https://api.anthropic.com"
STOPS: Mapping[str | None, StopReason] = {
    "end_turn": "end_turn",
    "stop_sequence": "end_turn",
    "tool_use": "tool_use",
    "max_tokens": "max_tokens",
    "refusal": "refusal",
    "pause_turn": "pause",
    "compaction": "pause",
    "model_context_window_exceeded": "context_overflow",
}


class AnthropicDriver:
    """`agents.model.Driver` for one Claude model. The SDK is imported at the first request."""

    def __init__(self, model: Model, settings: DriverSettings) -> None:
        self._model = model
        self._settings = settings
        self._url = settings.base_url or DEFAULT_URL
        self._caller: ApiCaller[anthropic.types.Message] = ApiCaller(model, settings)
        self._client: anthropic.AsyncAnthropic | None = None

    @property
    def name(self) -> str:
        return "anthropic"

    def _open(self) -> anthropic.AsyncAnthropic:
        if self._client is None:
            import anthropic

            # That a model will be retired is no news for each of a thousand requests.
            warnings.filterwarnings("ignore", r"The model '|Using Claude with", DeprecationWarning)
            warnings.filterwarnings("ignore", r"Using Claude with", UserWarning)
            # Key and URL are given always: left out, the SDK would look for them in variables and files of its own.
            self._client = anthropic.AsyncAnthropic(
                api_key=self._settings.api_key or "",
                base_url=self._url,
                max_retries=0,
                timeout=self._settings.request_timeout,
                open_telemetry=False,
            )
        return self._client

    async def preflight(self) -> Preflight:
        """Counts the tokens of one word, which costs nothing; where that is not offered, asks for one token."""
        if not self._settings.api_key:
            return no_key(self._model, "ANTHROPIC_API_KEY", "anthropic")
        import anthropic

        return await self._caller.look(self._count_or_ask, f"anthropic/{anthropic.__version__}", self._url)

    async def _count_or_ask(self) -> str:
        client, target = self._open(), self._model.target
        word: Any = [{"role": "user", "content": "hello"}]
        try:
            await self._guarded(client.messages.count_tokens(model=target, messages=word))
        except ApiFailure as failure:
            if failure.kind != "not_found" or "model" in failure.message.lower():
                raise
            made = await self._guarded(client.messages.create(model=target, messages=word, max_tokens=1))
            return str(made.model)
        return target

    async def turn(self, request: TurnRequest) -> Turn:
        """One message. Raises ModelApiError."""
        client = self._open()
        fields = request_fields(self._model, request)

        async def attempt() -> anthropic.types.Message:
            made = await self._guarded(client.messages.create(**fields))
            if not hasattr(made, "stop_reason") or not isinstance(made.content, list):
                # The SDK hands on a body that is no JSON (a proxy's page) as a text, with status 200.
                raise ApiFailure("malformed", f"no message but {one_line(made, 80)!r}", 200, None, True)
            return made  # type: ignore[no-any-return]  # the SDK's overloads are lost behind **fields

        return await self._caller.turn(attempt, read_message)

    async def _guarded(self, asking: Any) -> Any:
        """The answer, or an ApiFailure (TurnEnded) for whatever the SDK raises."""
        import anthropic

        try:
            return await asking
        except anthropic.APITimeoutError as error:
            raise ApiFailure("timeout", one_line(error), None, None, True) from None
        except anthropic.APIStatusError as error:
            raise failure_of_status(error.status_code, _error_text(error), error.response.headers) from None
        except anthropic.APIConnectionError as error:
            cause = error.__cause__ or error
            raise ApiFailure("connection", one_line(f"{error} ({cause})"), None, None, True) from None
        except (anthropic.AnthropicError, ValueError) as error:
            # What is left is a body that could not be read: cut JSON, wrong types.
            raise ApiFailure("malformed", one_line(error), None, None, True) from None

    async def finish(self, context: TrialContext) -> str | None:
        return None

    async def close(self) -> None:
        if self._client is not None:
            client, self._client = self._client, None
            await asyncio.shield(client.close())


def request_fields(model: Model, request: TurnRequest) -> dict[str, Any]:
    """Keyword arguments of `messages.create`. Temperature left the SDK with 2.0; models that take it get it in the body."""
    settings = request.settings
    fields: dict[str, Any] = {
        "model": model.target,
        "max_tokens": settings.max_tokens,
        "messages": [wire_message(message) for message in request.messages],
    }
    if request.system:
        fields["system"] = request.system
    if request.tools:
        fields["tools"] = [
            {"name": tool.wire_name, "description": tool.description, "input_schema": dict(tool.schema)}
            for tool in request.tools
        ]
        if not settings.parallel_tools:
            fields["tool_choice"] = {"type": "auto", "disable_parallel_tool_use": True}
    if settings.thinking is not None:
        fields["thinking"] = {"type": "enabled", "budget_tokens": settings.thinking}
    if settings.temperature is not None:
        fields["extra_body"] = {"temperature": settings.temperature}
    return fields


def wire_message(message: Message) -> dict[str, Any]:
    """One message as the API takes it. The model's own turn goes back unchanged, which keeps signatures of its thinking."""
    if message.role == "assistant":
        if isinstance(message.raw, list):
            return {"role": "assistant", "content": message.raw}
        blocks: list[dict[str, Any]] = [{"type": "text", "text": message.text}] if message.text else []
        blocks += [
            {"type": "tool_use", "id": asked.id, "name": asked.wire_name, "input": dict(asked.arguments)}
            for asked in message.requests
        ]
        return {"role": "assistant", "content": blocks}
    if message.role == "user":
        return {"role": "user", "content": message.text}
    results = [
        {"type": "tool_result", "tool_use_id": answer.id, "content": answer.text, "is_error": answer.is_error}
        for answer in message.answers
    ]
    return {"role": "user", "content": results}


def read_message(made: anthropic.types.Message) -> Turn:
    """A turn from the SDK's message, leniently: blocks that are not known are kept in `raw` only."""
    texts: list[str] = []
    requests: list[ToolRequest] = []
    for block in made.content:
        if block.type == "text":
            texts.append(block.text)
        elif block.type == "tool_use":
            arguments: Any = block.input
            problem = None if isinstance(arguments, Mapping) else f"not an object: {json.dumps(arguments)[:80]}"
            problem = problem if shallow(arguments) else "nested too deeply"
            requests.append(ToolRequest(block.id, block.name, {} if problem else dict(arguments), problem))
    raw: Any = [block.model_dump(mode="json", exclude_none=True) for block in made.content]
    raw = raw if shallow(raw) else None  # told again from the turn itself
    usage = made.usage
    reads, writes = usage.cache_read_input_tokens or 0, usage.cache_creation_input_tokens or 0
    counted = Usage(usage.input_tokens + reads + writes, usage.output_tokens, reads, writes)
    details = getattr(made, "stop_details", None)
    detail = one_line(getattr(details, "category", "") or "") if details is not None else ""
    message = Message("assistant", "\n".join(texts), tuple(requests), raw=raw)
    return Turn(message, STOPS.get(made.stop_reason, "other"), counted, made.model, detail=detail)


def _error_text(error: anthropic.APIStatusError) -> str:
    """The provider's own sentence where the body has one."""
    body = error.body
    inner = body.get("error") if isinstance(body, dict) else None
    if isinstance(inner, dict) and isinstance(inner.get("message"), str):
        return str(inner["message"])
    return str(error)
