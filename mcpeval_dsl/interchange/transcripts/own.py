"""Interchange: a trial of this project as a session: by `RUN:TRIAL`, or the JSON of `mcpe view --format json`."""

from __future__ import annotations

from mcpeval_dsl.interchange.transcripts.session import Called, Session
from mcpeval_dsl.records.model import TrialRecord

RECORDER = "mcpe"


def read(record: TrialRecord, session: Session) -> None:
    hints = {(tool.server, tool.name): tool.annotations.get("readOnlyHint") for tool in record.tools}
    turns = [(exchange.said, exchange.first, exchange.answer.text) for exchange in record.exchanges]
    if not turns:
        turns = [(record.prompt, 0, record.answer.text)]
    if record.agent.driver not in ("script", "replay"):  # those are files of the spec, and no model that answers again
        session.model = record.agent.provider_model or record.agent.model
    session.other = len(record.native_calls)
    agent = [call for call in record.calls if call.actor == "agent" and not call.distractor]
    for number, (said, first, answer) in enumerate(turns):
        session.begin(said, 1)
        until = turns[number + 1][1] if number + 1 < len(turns) else None
        for call in agent:
            turn = call.turn or 0
            if (number == 0 or turn >= first) and (until is None or turn < until):
                hint = hints.get((call.server, call.tool))
                read_only = True if call.permission.effect == "readonly" else hint if isinstance(hint, bool) else None
                failed = call.is_error or call.error is not None
                session.call(
                    Called(
                        call.server,
                        call.tool,
                        dict(call.arguments),
                        1,
                        turn * 2,
                        turn * 2 + 1,
                        call.text,
                        call.structured,
                        failed,
                        True,
                        read_only,
                    )
                )
        session.answer(answer)
