"""Tools that look like a given one and do something else, made from its own name, description and schema.

Place in the pipeline: under the distractors; pure. A look-alike must not solve the task, or calling it would be no
mistake: each says plainly what it works on, and that is never what the original works on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any

from mcpeval_dsl.gateway.catalogue import digest
from mcpeval_dsl.gateway.model import ToolDefinition

# Word of the name -> what the description says first; the argument it adds.
_PLACES: tuple[tuple[str, str, str], ...] = (
    ("archived", "Works on archived {noun} only; current {noun} are not looked at.", "archive"),
    ("deleted", "Works on {noun} in the recycle bin only.", "bin"),
    ("template", "Works on templates of {noun}, not on real {noun}.", "template_set"),
    ("draft", "Works on unpublished drafts of {noun} only.", "draft_owner"),
    ("remote", "Works on {noun} of a paired remote site, not on those here.", "site"),
    ("cached", "Works on a cached copy of {noun} that may be days old.", "cache"),
    ("backup", "Works on {noun} inside a backup set.", "backup_set"),
    ("staging", "Works on {noun} of the staging area, which is separate from the live one.", "stage"),
    ("sample", "Works on made-up sample {noun} for demonstrations.", "sample_set"),
    ("shared", "Works on {noun} that other organisations have shared with this one.", "organisation"),
    ("scheduled", "Works on {noun} that are scheduled and do not exist yet.", "schedule"),
    ("legacy", "Works on {noun} of the retired previous system.", "legacy_system"),
    ("mirrored", "Works on the read replica's {noun}, refreshed once a week.", "replica"),
    ("imported", "Works on {noun} in the import queue, before they are accepted.", "import_job"),
    ("quarantined", "Works on {noun} held back by the content filter.", "quarantine"),
    ("training", "Works on {noun} of the training tenant.", "tenant"),
)
_ABOUT: tuple[tuple[str, str], ...] = (
    ("schema", "Describes the fields that {noun} have; gives no {noun}."),
    ("permissions", "Tells who may use {noun}; gives no {noun}."),
    ("audit_log", "Tells who looked at {noun} and when; gives no {noun}."),
    ("usage", "Tells how much storage and quota {noun} take up."),
    ("settings", "Tells how this system is set up to handle {noun}."),
    ("retention", "Tells the retention rules for {noun}."),
    ("webhooks", "Tells which webhooks are told about changes of {noun}."),
    ("rate_limits", "Tells the rate limits for requests about {noun}."),
    ("export_jobs", "Tells the state of export jobs for {noun}."),
    ("naming_rules", "Tells the rules for naming {noun}."),
    ("subscriptions", "Tells who is subscribed to changes of {noun}."),
    ("help", "Gives the help page about {noun}."),
)
_VERBS: Mapping[str, tuple[str, ...]] = {
    "list": ("enumerate", "browse"),
    "get": ("fetch", "show"),
    "read": ("view", "fetch"),
    "search": ("find", "query"),
    "find": ("search", "lookup"),
    "create": ("add", "register"),
    "update": ("edit", "change"),
    "delete": ("remove", "discard"),
    "write": ("store", "save"),
    "add": ("create", "attach"),
}
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_MAX_NAME = 60


def look_alikes(tool: ToolDefinition) -> Iterator[ToolDefinition]:
    """Look-alikes of a tool, the nearest first, none with the original's name and no two alike; several hundred."""
    words = _WORDS.findall(tool.name) or [tool.name]
    verb, rest = words[0], words[1:]
    noun = _plural(" ".join(word.lower() for word in rest) or "item")
    verbs = (verb, *(_cased(other, verb) for other in _VERBS.get(verb.lower(), ())))
    seen = {tool.name}
    for name, description, argument in _variants(verbs, rest, noun):
        joined = _joined(tool.name, name)
        if joined not in seen and len(joined) <= _MAX_NAME:
            seen.add(joined)
            yield _made(tool, joined, description, argument)


def _variants(verbs: tuple[str, ...], rest: list[str], noun: str) -> Iterator[tuple[list[str], str, str]]:
    """(words of the name, first sentences, added argument), one change before two."""
    for verb, (word, says, argument) in product(verbs, _PLACES):
        yield [verb, word, *rest], says.format(noun=noun), argument
    for verb, (word, says) in product(verbs, _ABOUT):
        yield [verb, *rest, *word.split("_")], says.format(noun=noun), ""
    for verb, (word, says, argument), (about, tells) in product(verbs, _PLACES, _ABOUT):
        both = f"{tells.format(noun=noun)} {says.format(noun=noun)}"
        yield [verb, word, *rest, *about.split("_")], both, argument


def _plural(noun: str) -> str:
    if noun.endswith("s"):
        return noun
    return noun[:-1] + "ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else noun + "s"


def _cased(word: str, like: str) -> str:
    return word.upper() if like.isupper() and len(like) > 1 else word.title() if like[:1].isupper() else word


def _joined(original: str, words: list[str]) -> str:
    """The words in the original's own style: snake, kebab, dotted, camel."""
    separator = next((mark for mark in ("_", "-", ".", "/") if mark in original), "")
    if not separator and any(letter.isupper() for letter in original[1:]):
        head, *tail = words
        return head + "".join(word[:1].upper() + word[1:] for word in tail)
    return (separator or "_").join(words)


def _made(tool: ToolDefinition, name: str, description: str, argument: str) -> ToolDefinition:
    text = f"{description} Otherwise like {tool.name}: {_first_sentence(tool.description)}".strip()
    schema = _with_argument(tool.input_schema, argument)
    title = None if tool.title is None else name.replace("_", " ").title()
    entry = {"name": name, "title": title, "description": text, "inputSchema": schema, "annotations": tool.annotations}
    return ToolDefinition(
        tool.server,
        name,
        title,
        text,
        schema,
        tool.output_schema,
        tool.annotations,
        sha256=digest([entry, tool.output_schema]),
        distractor=True,
    )


def _first_sentence(description: str) -> str:
    head = description.strip().split("\n")[0]
    return head.split(". ")[0].rstrip(".")[:200] + "." if head else "the same arguments."


def _with_argument(schema: Mapping[str, Any], argument: str) -> Mapping[str, Any]:
    """The original's schema with one more argument that need not be given."""
    properties = schema.get("properties")
    if not argument or (properties is not None and not isinstance(properties, Mapping)):
        return schema
    added = {"type": "string", "description": f"Which {argument.replace('_', ' ')}; the latest where it is left out."}
    return {**schema, "properties": {**(properties or {}), argument: added}}
