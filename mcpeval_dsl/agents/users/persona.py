"""Before a simulated user's first message: who it is, as data, and the system prompt that its model is given."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

GREETING = "Hello! How can I help you?"
"""What the model that plays the user hears first: providers want the other side to begin."""

_PART = """\
You play a user who talks to an assistant. You are not the assistant and do none of its work.
Write only what this user would say next: one short message in the user's own words, without quotes or stage directions.
Do not tell everything at once, and say nothing that you are not told here: where you do not know something, say so."""


@dataclass(frozen=True, slots=True)
class Persona:
    """`stop_says`: when the user says one of these texts, the conversation is over."""

    goal: str
    persona: str = ""
    rules: str = ""
    knows: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    stop_says: tuple[str, ...] = ()


def user_prompt(persona: Persona, tools: bool) -> str:
    """The whole system prompt of the model that plays the user."""
    parts = [_PART]
    if persona.persona:
        parts.append(f"Who you are: {persona.persona}")
    parts.append(f"What you want: {persona.goal}")
    parts += _list("What you know and may tell when it is asked for:", persona.knows)
    parts += _list("What you do not know:", persona.unknown)
    parts += _list("What you never do:", persona.never)
    if persona.rules:
        parts.append(f"How you behave: {persona.rules}")
    if tools:
        parts.append("You have tools of your own. Use them when the assistant asks you to do or look up something.")
    parts.append(
        "When you have what you want, or it is clear that you will not get it, end the conversation: "
        f"write {' or '.join(persona.stop_says)}. Never write that before."
    )
    return "\n\n".join(parts)


def _list(title: str, items: Iterable[str]) -> list[str]:
    listed = [f"- {item}" for item in items]
    return ["\n".join([title, *listed])] if listed else []


def ends_with(text: str, stop_says: Iterable[str]) -> tuple[bool, str]:
    """Whether the user said one of the texts (case apart, as whole words), and the message without marks like `###STOP###`."""
    over = False
    for stop in stop_says:
        pattern = re.compile(rf"(?<!\w){re.escape(stop)}(?!\w)", re.IGNORECASE)
        if pattern.search(text):
            over = True
            if not any(character.isalpha() and character.islower() for character in stop):
                text = pattern.sub("", text)
    return over, text.strip()
