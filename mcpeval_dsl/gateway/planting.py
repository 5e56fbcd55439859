"""A text put into what the agent is given of a result; what was on the wire stays as it was.

Place in the pipeline: after the server has answered, before the agent reads; pure.
"""

from __future__ import annotations

import json
from typing import Any

from mcpeval_dsl.gateway.model import CallRecord
from mcpeval_dsl.gateway.results import compact
from mcpeval_dsl.values.jsonpath import locations
from mcpeval_dsl.values.regex import compiled


def added(text: str, planted: str) -> str:
    """At the end, on a line of its own."""
    return f"{text}\n{planted}" if text else planted


def replaced(text: str, pattern: str, flags: str, planted: str) -> str | None:
    """In place of the first match; None where there is none. Raises EvaluationError for a pattern that cannot be used."""
    match = compiled(pattern, flags).search(text)
    return None if match is None else text[: match.start()] + planted + text[match.end() :]


def into(record: CallRecord, path: str, planted: str) -> str | None:
    """At a JSONPath of the result, which is its text as JSON, else its structured content; None where nothing is there."""
    documents: list[Any] = []
    try:
        document = json.loads(record.text)
        documents += [document] if isinstance(document, dict | list) else []
    except (ValueError, RecursionError):
        pass
    if record.has_structured:
        documents.append(json.loads(compact(record.structured)))
    for document in documents:
        places = locations(path, document)
        if places and all(_set(document, place, planted) for place in places):
            return json.dumps(document, ensure_ascii=False)
    return None


def _set(document: Any, place: tuple[str | int, ...], planted: str) -> bool:
    if not place:
        return False
    holder = document
    for step in place[:-1]:
        holder = holder[step]
    if isinstance(holder[place[-1]], list):
        holder[place[-1]].append(planted)
    else:
        holder[place[-1]] = planted
    return True
