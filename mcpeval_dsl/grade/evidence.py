"""Grader `evidence`: the answer's facts came from tool results, not from memory.

- yes: every fact of the answer (`grade.facts`) that the prompt did not already give is in a result that the agent was given;
- yes, flagged `no_facts`: the answer states nothing that could be looked up;
- no: a fact is in no result, or there is no answer;
- missing: a fact was not found, but a result was cut before it was kept, so it may have been there.

A number may be a rounded one, or the length of a list in a result. Failed calls tell facts too: the agent read their text.
What a distractor answers is made up and no evidence; neither is a text that the task planted, in a result, a file or the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from mcpeval_dsl.agents.hosts.offer import SEARCH
from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.gateway.results import model_text
from mcpeval_dsl.grade.facts import Told, facts_of
from mcpeval_dsl.grade.model import Verdict
from mcpeval_dsl.grade.observe import agent_calls
from mcpeval_dsl.grade.results import result_of
from mcpeval_dsl.grade.saying import answer_value, missing, no_answer, verdict
from mcpeval_dsl.grade.services import GradeServices
from mcpeval_dsl.records.model import TrialRecord
from mcpeval_dsl.semantics.graders import Evidence
from mcpeval_dsl.values.text import as_text, short

EXPECTED = "every fact in a tool result"
SHORTEST_PLANT = 4
"""A shorter text that was planted in a file or a slot cannot be told from what stands there by right."""


def grade(grader: Evidence, record: TrialRecord, services: GradeServices) -> Verdict:
    del services
    without = no_answer(grader, record, EXPECTED)
    if without is not None:
        return without
    planted = [one.text for one in record.injections if one.planted and len(one.text) >= SHORTEST_PLANT]
    asked = [record.prompt, *(exchange.said for exchange in record.exchanges)]
    prompt = Told([_without(text, planted) for text in asked])
    facts = [fact for fact in facts_of(answer_value(record, grader.common.normalisation)) if not prompt.has(fact)]
    if not facts:
        return verdict(
            grader, True, "answer", actual="no facts beyond the prompt's", expected=EXPECTED, flags=("no_facts",)
        )
    calls = [call for call in agent_calls(record) if call.permission.decision != "denied" and not call.distractor]
    calls = [_own(call, planted) for call in calls]
    data = [result_of(call) for call in calls]
    texts = [call.text for call in calls] + [as_text(call.structured) for call in calls if call.has_structured]
    # What an agent's own programs or an API told it is as good as what a server did; names of tools are no facts.
    texts += [call.text for call in record.native_calls if call.tool != SEARCH and not call.refused]
    told = Told(texts, data)
    lacking = [fact for fact in facts if not told.has(fact)]
    if not lacking:
        return verdict(grader, True, "answer", actual=f"{len(facts)} facts, all found", expected=EXPECTED)
    said = f"in no tool result: {', '.join(short(fact.shown, 60) for fact in lacking[:5])}"
    if any(call.truncated for call in calls):
        return missing(grader, "no_evidence", f"{said}; but a result was cut before it was kept")
    evidence = tuple(call.id for call in calls[-3:])
    return verdict(grader, False, "answer", actual=said, expected=EXPECTED, reason=said, evidence=evidence)


def _own(call: CallRecord, planted: Iterable[str]) -> CallRecord:
    """The call with what its server itself answered, without what the task had planted there or in its files."""
    text = model_text({"content": list(call.content)}) if call.planted else call.text
    found = _without(text, planted)
    return replace(call, text=found, structured=_leaves_without(call.structured, planted))


def _leaves_without(value: Any, planted: Iterable[str]) -> Any:
    if isinstance(value, str):
        return _without(value, planted)
    if isinstance(value, Mapping):
        return {key: _leaves_without(item, planted) for key, item in value.items()}
    return [_leaves_without(item, planted) for item in value] if isinstance(value, list | tuple) else value


def _without(text: str, planted: Iterable[str]) -> str:
    """A text without the planted ones, as they are and as they stand within JSON."""
    for each in planted:
        for form in dict.fromkeys((each, json.dumps(each, ensure_ascii=False)[1:-1], json.dumps(each)[1:-1])):
            text = text.replace(form, " ")
    return text
