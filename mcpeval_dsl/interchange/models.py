"""Interchange: names of models as other tools write them -> drivers of the language."""

from __future__ import annotations

import re

from mcpeval_dsl.interchange import words
from mcpeval_dsl.interchange.model import Suite

_ANTHROPIC = re.compile(r"^(?:anthropic[:/](?:messages:)?)?(claude-[\w.@-]+)$")
_PROVIDERS = {"google": "gemini", "vertex": "vertex_ai", "azureopenai": "azure", "openai-chat": "openai"}


def driver(name: str, provider: str = "") -> str:
    """`claude-…` goes to Anthropic, everything else through LiteLLM with its provider; empty for what names no model."""
    name = name.strip()
    if not name or "{" in name or "$" in name or len(name) > 100:
        return ""
    found = _ANTHROPIC.match(name)
    if found is not None and provider in ("", "anthropic", "claude"):
        return f"anthropic {words.quoted(found[1])}"
    if ":" in name and "/" not in name.split(":")[0]:
        head, _, rest = name.partition(":")
        provider, name = head, rest.removeprefix("chat:").removeprefix("responses:")
    provider = _PROVIDERS.get(provider.lower(), provider.lower())
    if not provider and "/" not in name and re.match(r"(?:gpt|o\d|chatgpt)", name):
        provider = "openai"
    return f"litellm {words.quoted(f'{provider}/{name}' if provider and not name.startswith(f'{provider}/') else name)}"


def use(suite: Suite, name: str, provider: str = "") -> None:
    """A model that the source runs its tasks with."""
    written = driver(name, provider)
    if written:
        suite.models.append(written)


def judge(suite: Suite, name: str, provider: str = "") -> None:
    """A model that the source judges with."""
    suite.judge = suite.judge or driver(name, provider)
