"""A driver: any provider LiteLLM knows, in the chat-completions form. An optional extra; slow to import, so behind this door.

LiteLLM would fetch a price list from the internet when imported: the variables that forbid it are set before. Its own
retries are off, and prices of 0 in its list are taken as unknown.
"""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Mapping
from typing import Any

from mcpeval_dsl.agents.drivers.api import ApiCaller
from mcpeval_dsl.agents.drivers.settings import DriverSettings, DriverUnavailable
from mcpeval_dsl.agents.failures import ApiFailure, TurnEnded, failure_of_status, one_line
from mcpeval_dsl.agents.model import (
    Message,
    ModelApiError,
    Preflight,
    StopReason,
    ToolRequest,
    TrialContext,
    Turn,
    TurnRequest,
    Usage,
)
from mcpeval_dsl.semantics.model import Model
from mcpeval_dsl.values.nesting import json_within

STOPS: Mapping[str | None, StopReason] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
    "length": "max_tokens",
    "content_filter": "content_filter",
    "refusal": "refusal",
}
_NAMES = re.compile(r"\A(?:(?:litellm\.)?\w+(?:Error|Exception|Timeout)\s*[:-]\s*)+")


def load() -> Any:
    """The library, offline. Raises DriverUnavailable where it is not installed."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LITELLM_OFFLINE_MODE"] = "true"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            import litellm
        except ImportError:
            raise DriverUnavailable("the driver litellm is not installed: pip install 'mcpeval_dsl[litellm]'") from None
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    return litellm


class LiteLLMDriver:
    """`agents.model.Driver` for one model named as LiteLLM does (`openai/gpt-5`)."""

    def __init__(self, model: Model, settings: DriverSettings) -> None:
        self._model = model
        self._settings = settings
        self._caller: ApiCaller[Any] = ApiCaller(model, settings)

    @property
    def name(self) -> str:
        family = self._model.target.partition("/")[0] if "/" in self._model.target else "openai"
        return f"litellm:{family}"

    async def preflight(self) -> Preflight:
        """Asks for one token."""
        try:
            litellm = load()
        except DriverUnavailable as problem:
            return Preflight(False, f"model {self._model.name}: {problem.reason}")
        from importlib.metadata import version

        async def attempt() -> str:
            word = [{"role": "user", "content": "hello"}]
            made = await self._ask(litellm, {"messages": word, "max_tokens": 16})
            return str(getattr(made, "model", "") or self._model.target)

        place = self._settings.base_url or self._model.target.partition("/")[0]
        return await self._caller.look(attempt, f"litellm/{version('litellm')}", place)

    async def turn(self, request: TurnRequest) -> Turn:
        """One completion. Raises ModelApiError."""
        try:
            litellm = load()
        except DriverUnavailable as problem:
            raise ModelApiError("bad_request", problem.reason) from None
        fields = request_fields(request)

        async def attempt() -> Any:
            made = await self._ask(litellm, fields)
            if not getattr(made, "choices", None):
                raise ApiFailure("malformed", f"no completion but {one_line(made, 80)!r}", 200, None, True)
            return made

        return await self._caller.turn(attempt, read_completion)

    async def _ask(self, litellm: Any, fields: Mapping[str, Any]) -> Any:
        """The answer, or an ApiFailure (TurnEnded) for whatever the library raises."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return await litellm.acompletion(
                    model=self._model.target,
                    api_key=self._settings.api_key,
                    base_url=self._settings.base_url,
                    timeout=self._settings.request_timeout,
                    max_retries=0,
                    num_retries=0,
                    **fields,
                )
        except litellm.ContextWindowExceededError as error:
            raise TurnEnded("context_overflow", _plain(error)) from None
        except litellm.ContentPolicyViolationError as error:
            raise TurnEnded("content_filter", _plain(error)) from None
        except litellm.Timeout as error:
            raise ApiFailure("timeout", _plain(error), None, None, True) from None
        except litellm.APIConnectionError as error:
            raise _connection_failure(error) from None
        except litellm.exceptions.APIResponseValidationError as error:
            raise ApiFailure("malformed", _plain(error), None, None, True) from None
        except Exception as error:
            raise _failure(error) from None

    async def finish(self, context: TrialContext) -> str | None:
        return None

    async def close(self) -> None:
        """Closes the clients that the library keeps for itself, where it was loaded."""
        import sys

        if "litellm" in sys.modules:
            await sys.modules["litellm"].close_litellm_async_clients()


def _failure(error: Exception) -> ApiFailure | TurnEnded:
    """By status where the error has one. Anything without is the library stumbling over an answer it cannot read."""
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return ApiFailure("malformed", one_line(f"{type(error).__name__}: {error}"), None, None, True)
    if status >= 500 and "Connection error" in str(error):
        # A connection that was never made is filed as an error of the server.
        return ApiFailure("connection", _plain(error), None, None, True)
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or {}
    return failure_of_status(status, _plain(error), headers)


def _plain(error: Exception) -> str:
    """The provider's sentence without the library's class names in front."""
    return one_line(_NAMES.sub("", str(error)))


def _connection_failure(error: Exception) -> ApiFailure | TurnEnded:
    """The library files every surprise under connection errors; those that name a status go by it."""
    text = _plain(error)
    if "JSON" in text or "Expecting value" in text or "NoneType" in text:
        return ApiFailure("malformed", text, None, None, True)
    return ApiFailure("connection", text, None, None, True)


def request_fields(request: TurnRequest) -> dict[str, Any]:
    """Keyword arguments of a completion, apart from model, key and place."""
    settings = request.settings
    messages: list[dict[str, Any]] = [{"role": "system", "content": request.system}] if request.system else []
    for message in request.messages:
        messages += wire_messages(message)
    fields: dict[str, Any] = {"messages": messages, "max_tokens": settings.max_tokens}
    if request.tools:
        fields["tools"] = [
            {
                "type": "function",
                "function": {
                    "name": tool.wire_name,
                    "description": tool.description,
                    "parameters": dict(tool.schema),
                },
            }
            for tool in request.tools
        ]
        if not settings.parallel_tools:
            fields["parallel_tool_calls"] = False
    if settings.temperature is not None:
        fields["temperature"] = settings.temperature
    if settings.thinking is not None:
        fields["thinking"] = {"type": "enabled", "budget_tokens": settings.thinking}
    return fields


def wire_messages(message: Message) -> list[dict[str, Any]]:
    """One of our messages as chat-completions messages: tool answers become one message each."""
    if message.role == "user":
        return [{"role": "user", "content": message.text}]
    if message.role == "tools":
        return [{"role": "tool", "tool_call_id": answer.id, "content": answer.text} for answer in message.answers]
    if isinstance(message.raw, dict):
        return [message.raw]
    made: dict[str, Any] = {"role": "assistant", "content": message.text or None}
    if message.requests:
        made["tool_calls"] = [
            {
                "id": asked.id,
                "type": "function",
                "function": {"name": asked.wire_name, "arguments": json.dumps(dict(asked.arguments))},
            }
            for asked in message.requests
        ]
    return [made]


def read_completion(made: Any) -> Turn:
    """A turn from a completion. Calls in a turn that just "stopped" are wanted: some servers never say `tool_calls`."""
    choice = made.choices[0]
    said = choice.message
    requests = tuple(_request(call) for call in getattr(said, "tool_calls", None) or ())
    reason = choice.finish_reason
    stop = STOPS.get(reason, "other")
    if requests and reason == "stop":
        stop = "tool_use"
    text = said.content if isinstance(said.content, str) else ""
    refusal = getattr(said, "refusal", None)
    if isinstance(refusal, str) and refusal:
        text, stop = text or refusal, "refusal"
    message = Message("assistant", text, requests, raw=said.model_dump(mode="json", exclude_none=True))
    return Turn(message, stop, _usage(made), str(getattr(made, "model", "") or ""))


def _request(call: Any) -> ToolRequest:
    """A call whose arguments are JSON in a text, often enough not quite."""
    name, text = str(call.function.name or ""), call.function.arguments or "{}"
    try:
        arguments = json_within(text) if isinstance(text, str) else text
    except ValueError as error:
        return ToolRequest(str(call.id), name, {}, f"not JSON: {error}")
    if not isinstance(arguments, dict):
        return ToolRequest(str(call.id), name, {}, f"not an object: {str(text)[:80]}")
    return ToolRequest(str(call.id), name, arguments)


def _usage(made: Any) -> Usage:
    usage = getattr(made, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    hidden = getattr(made, "_hidden_params", None) or {}
    cost = hidden.get("response_cost")
    return Usage(
        int(getattr(usage, "prompt_tokens", 0) or 0),
        int(getattr(usage, "completion_tokens", 0) or 0),
        int(getattr(details, "cached_tokens", 0) or 0),
        int(getattr(usage, "cache_creation_input_tokens", 0) or 0),
        float(cost) if isinstance(cost, (int, float)) and cost > 0 else None,
    )
