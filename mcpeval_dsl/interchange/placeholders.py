"""Interchange: answers that are none yet. Templates of evaluation files leave them for whoever knows the instance."""

from __future__ import annotations

import re

_WORDS = r"placeholder|to ?do|tbd|tba|fix ?me|fill[ _-]?(?:me|this)?[ _-]?in|replace|verify|change[ _-]?me|your|insert|enter|add"
_THING = r"(?:the |your |actual |expected |correct |real )*(?:answer|value|result|response|output)s?(?: here)?"
_CAPITALS = re.compile(  # one word in capitals, as a template shouts it; `INSERT_ROW` and `__init__` are none
    r"__[A-Z][A-Z0-9_]*__"
    r"|(?:REPLACE|UPDATE)[_-](?:WITH|ME|THIS|BY)\w*|FILL[_-](?:IN|ME|THIS|OUT)\w*|CHANGE_?(?:ME|THIS)\w*"
    r"|VERIFY[_-](?:ON|WITH|ME|THIS|LATER|AGAINST|MANUALLY|LIVE|IN)\w*|(?:TO[_ -]?DO|TBD|TBA|PLACEHOLDER)[_-]\w+"
    r"|[A-Z0-9_]*(?:ANSWER|VALUE|RESULT)_(?:HERE|PLACEHOLDER)|(?:INSERT|ENTER|YOUR|ADD)_[A-Z0-9_]*(?:ANSWER|VALUE|HERE)"
)
_WHOLE = re.compile(
    rf"[\[<{{(]+\s*(?:(?:{_WORDS})\b[^\]>}})]*|{_THING})\s*[\]>}})]+"  # [fill in: …], <your answer>, {{REPLACE}}
    r"|(?:TO[_ -]?DO|TBD|TBA|FIX[_ -]?ME|X{3,}|PLACEHOLDER|\?{3,}|\.{3,}|…|_{3,})(?:\s*[:(–-].*)?"
    r"|(?:to be|needs to be|must be) (?:determined|verified|filled in|confirmed|completed|replaced)\b.*"
    r"|(?:varies|depends)(?: (?:on|by|per|with) .*)?|(?:dynamic|instance[- ]specific|placeholder)(?: (?:answer|value|result))?",
    re.IGNORECASE | re.DOTALL,
)
_WITHIN = re.compile(
    r"__(?:VERIFY|REPLACE|FILL|TO_?DO|PLACEHOLDER|CHANGE|UPDATE)[A-Z0-9_]*__|\bREPLACE_WITH_\w+|\bVERIFY_ON_\w+"
    r"|[\[<{(]\s*(?:TO ?DO|TBD|PLACEHOLDER|REPLACE|FILL IN)\b"
)


def is_placeholder(answer: str) -> bool:
    """Whether an answer only says that somebody has to fill it in. An empty one does too."""
    text = answer.strip()
    if not text:
        return True
    if len(text) > 300:
        return False
    return bool(_CAPITALS.fullmatch(text) or _WHOLE.fullmatch(text) or _WITHIN.search(text))
