"""Grader `evidence`: the answer's facts came from tool results, not from memory.

- yes: every fact of the answer (`grade.facts`) that the prompt did not already give is in a result that the agent was given;
- yes, flagged `no_facts`: the answer states nothing that could be looked up;
- no: a fact is in no result, or there is no answer;
- missing: a fact was not found, but a result was cut before it was kept, so it may have been there.

A number may be a rounded one, or the length of a list in a result. Failed calls tell facts too: the agent read their text.
What a distractor answers is made up and no evidence.
"""

from __future__ import annotations

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


def grade(grader: Evidence, record: TrialRecord, services: GradeServices) -> Verdict:
    del services
    without = no_answer(grader, record, EXPECTED)
    if without is not None:
        return without
    prompt = Told([record.prompt])
    facts = [fact for fact in facts_of(answer_value(record, grader.common.normalisation)) if not prompt.has(fact)]
    if not facts:
        return verdict(
            grader, True, "answer", actual="no facts beyond the prompt's", expected=EXPECTED, flags=("no_facts",)
        )
    calls = [call for call in agent_calls(record) if call.permission.decision != "denied" and not call.distractor]
    data = [result_of(call) for call in calls]
    texts = [call.text for call in calls] + [as_text(call.structured) for call in calls if call.has_structured]
    told = Told(texts, data)
    lacking = [fact for fact in facts if not told.has(fact)]
    if not lacking:
        return verdict(grader, True, "answer", actual=f"{len(facts)} facts, all found", expected=EXPECTED)
    said = f"in no tool result: {', '.join(short(fact.shown, 60) for fact in lacking[:5])}"
    if any(call.truncated for call in calls):
        return missing(grader, "no_evidence", f"{said}; but a result was cut before it was kept")
    evidence = tuple(call.id for call in calls[-3:])
    return verdict(grader, False, "answer", actual=said, expected=EXPECTED, reason=said, evidence=evidence)
