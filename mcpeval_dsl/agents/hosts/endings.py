"""Inside a host: what each way of stopping means for the trial. Words and causes as in the table of outcomes."""

from __future__ import annotations

from mcpeval_dsl.agents.model import ApiTrouble, ModelApiError, Termination, Turn

SCRIPT_KINDS = ("exhausted", "unexpected")


def termination_of(turn: Turn) -> tuple[Termination, ApiTrouble | None]:
    """How a trial ends that ends with this turn."""
    if turn.stop == "max_tokens":
        return "max_tokens", None
    if turn.stop == "refusal":
        return "refused", None
    if turn.stop == "content_filter":
        return "refused", ApiTrouble("content_filter", "before_answer", ("content_filter",), turn.detail)
    if turn.stop == "context_overflow":
        return "host_error", ApiTrouble("context_overflow", "before_answer", ("context_overflow",), turn.detail)
    return "answered", None


def api_trouble(error: ModelApiError, turns: int) -> tuple[Termination, ApiTrouble]:
    """How a trial ends whose model API failed after `turns` completed turns; the first cause comes first in the chain."""
    if error.kind in SCRIPT_KINDS:
        return "model_api", script_trouble(error.kind, error.message)
    if error.kind == "schema_refused":
        chain = ("capability:tool_schema_refused",)
        return "model_api", ApiTrouble(
            "schema_refused", "before_answer" if turns else "before_agent", chain, error.message
        )
    cause = f"model_api:{error.status if error.status is not None else error.kind}"
    if error.deadline:
        return "deadline", ApiTrouble("model_api", "before_answer", (cause, "deadline"), error.message)
    return "model_api", ApiTrouble("model_api", "before_answer", (cause,), error.message)


def script_trouble(kind: str, message: str) -> ApiTrouble:
    """A script that did not fit its trial: a fault of the test, so the trial says nothing about server or agent."""
    return ApiTrouble("script", "before_answer", (f"script:{kind}",), message)
