"""From a model of the spec to the driver that speaks to it. Each SDK is imported in its own driver, when one is opened."""

from __future__ import annotations

from collections.abc import Callable

from mcpeval_dsl.agents.drivers.settings import DriverSettings, DriverUnavailable
from mcpeval_dsl.agents.model import Driver
from mcpeval_dsl.semantics.model import Model

DRIVERS = ("anthropic", "litellm", "script", "replay")


def open_driver(model: Model, settings: DriverSettings) -> Driver:
    """A driver for one model. Connects nowhere and reads no file until asked. Raises DriverUnavailable."""
    openers: dict[str, Callable[[Model, DriverSettings], Driver]] = {
        "script": _script,
        "replay": _replay,
        "anthropic": _anthropic,
        "litellm": _litellm,
    }
    opener = openers.get(model.driver)
    if opener is None:
        raise DriverUnavailable(f"model {model.name}: the driver {model.driver!r} is not available in this version")
    return opener(model, settings)


def _script(model: Model, settings: DriverSettings) -> Driver:
    from mcpeval_dsl.agents.drivers.script import ScriptDriver

    return ScriptDriver(settings.project_root / model.target, model.target)


def _replay(model: Model, settings: DriverSettings) -> Driver:
    from mcpeval_dsl.agents.drivers.replay import ReplayDriver

    return ReplayDriver(settings.project_root / model.target, model.target)


def _anthropic(model: Model, settings: DriverSettings) -> Driver:
    from mcpeval_dsl.agents.drivers.anthropic import AnthropicDriver

    return AnthropicDriver(model, settings)


def _litellm(model: Model, settings: DriverSettings) -> Driver:
    from mcpeval_dsl.agents.drivers.litellm import LiteLLMDriver

    return LiteLLMDriver(model, settings)
