"""Inside a host, after the last turn: finds the final answer in what the model said.

The system prompt asks for one JSON object, `{"answer": …, "reasoning": "…", "feedback": "…"}`, alone or in a ```json fence, or
`{"refusal": "why"}`. Models do not always obey, so reading is lenient: the last object with one of these keys counts, and
without any the whole text is the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from mcpeval_dsl.agents.model import Answer
from mcpeval_dsl.values.nesting import json_within

AnswerForm = Literal["text", "none", "json", "schema"]

MAX_ENVELOPE_CHARS = 1_000_000
_FENCE = re.compile(r"^[ \t]*```[ \t]*(?:json|JSON)?[ \t]*\n(.*?)^[ \t]*```[ \t]*$", re.MULTILINE | re.DOTALL)
_OPENING = r"(?:(?:i'?m |i am )?(?:very |so )?sorry[,.!]? |unfortunately,? |apologies,? )?(?:but )?"
_REFUSALS = re.compile(
    _OPENING
    + r"i (?:must |have to |respectfully )?(?:"
    + r"decline|refuse|won'?t|will not"
    + r"|(?:can(?:no|')t|can not|am unable to|am not able to|am not allowed to|am not going to) "
    + r"(?:help|assist|comply|proceed|do (?:that|this|so)|fulfil|carry out|perform|honou?r|agree)"
    + r")\b",
)


def is_refusal(text: str) -> bool:
    """True where a text opens with a refusal in plain English ("I won't …", "I can't help …", "I must decline …").

    Deliberately narrow: "I cannot find the issue" is an answer, not a refusal; only the first 120 characters are read.
    """
    opening = text[:120].strip().lower().replace("\u2019", "'")
    return bool(_REFUSALS.match(opening))


def extract(text: str, form: AnswerForm, schema: Mapping[str, Any] | None = None) -> Answer:
    """The final answer in the last turn's `text`. `parsed` is True where the form asked for was met (text always is)."""
    if not text.strip():
        return Answer("none")
    envelope = find_envelope(text)
    if envelope is None:
        return _bare(text, form, schema)
    reasoning, feedback = _words(envelope.get("reasoning")), _words(envelope.get("feedback"))
    declined = envelope.get("refusal")
    if declined or (declined == "" and "answer" not in envelope):
        return Answer("refusal", _words(declined), None, False, reasoning, feedback)
    if "answer" not in envelope:
        return Answer("none", "", None, False, reasoning, feedback)
    value = envelope["answer"]
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, str) and is_refusal(value):
        return Answer("refusal", value, None, False, reasoning, feedback)
    if form in ("text", "none"):
        structured = None if isinstance(value, str) else value
        return Answer("given", said, structured, True, reasoning, feedback)
    structured = _decoded(value) if isinstance(value, str) else value
    return Answer("given", said, structured, _fits(structured, schema, value), reasoning, feedback)


def find_envelope(text: str) -> dict[str, Any] | None:
    """The last JSON object of the text that has `answer` or `refusal`: the whole text, a fence, or an object at its end."""
    if len(text) > MAX_ENVELOPE_CHARS:
        text = text[-MAX_ENVELOPE_CHARS:]
    whole = _object(text.strip())
    if whole is not None:
        return whole
    for block in reversed(_FENCE.findall(text)):
        found = _object(block.strip())
        if found is not None:
            return found
    return _trailing(text)


def _trailing(text: str) -> dict[str, Any] | None:
    """An object that starts a line and runs to the end of the text (prose first, then bare JSON). At most 20 tries."""
    stripped = text.rstrip().removesuffix("```").rstrip()
    if not stripped.endswith("}"):
        return None
    starts = [match.start(1) for match in re.finditer(r"^[ \t]*(\{)", stripped, re.MULTILINE)]
    for start in starts[:20]:
        found = _object(stripped[start:])
        if found is not None:
            return found
    return None


def _object(text: str) -> dict[str, Any] | None:
    if not (text.startswith("{") and text.endswith("}")):
        return None
    try:
        value = json_within(text, strict=False)
    except ValueError:
        return None
    return value if isinstance(value, dict) and ("answer" in value or "refusal" in value) else None


def _bare(text: str, form: AnswerForm, schema: Mapping[str, Any] | None) -> Answer:
    said = text.strip()
    if is_refusal(said):
        return Answer("refusal", said)
    if form in ("text", "none"):
        return Answer("given", said, None, True)
    candidate = _decoded(_FENCE.findall(text)[-1].strip()) if _FENCE.search(text) else _decoded(said)
    return Answer("given", said, candidate, _fits(candidate, schema, said))


def _decoded(text: str) -> Any:
    """The JSON value of a text, or None where it is none."""
    try:
        return json_within(text, strict=False)
    except ValueError:
        return None


def _fits(value: Any, schema: Mapping[str, Any] | None, said: Any) -> bool:
    """Whether a value meets the schema. None counts only where the model said null."""
    if value is None and said is not None and said != "null":
        return False
    if schema is None:
        return True
    from jsonschema import SchemaError, validators
    from jsonschema.exceptions import UnknownType
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    kind = validators.validator_for(schema)
    try:
        # An empty registry: a schema can never make us fetch anything.
        return bool(kind(schema, registry=Registry()).is_valid(value))
    except (SchemaError, UnknownType, Unresolvable, RecursionError, TypeError, ValueError):
        return False


def _words(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
