"""Syntax, beside the builder: the text of a NUMBER -> its value and unit, and what people write instead."""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from mcpeval_dsl.syntax.tables import terminal

Unit: TypeAlias = Literal["", "time", "bytes", "count", "money", "percent"]

UNITS: dict[str, tuple[Unit, int]] = {
    "s": ("time", 1),
    "m": ("time", 60),
    "h": ("time", 3_600),
    "d": ("time", 86_400),
    "k": ("count", 1_000),
    "M": ("count", 1_000_000),
    "KB": ("bytes", 1_000),
    "MB": ("bytes", 1_000_000),
    "GB": ("bytes", 1_000_000_000),
}
_PARTS = re.compile(r"(-?)(\$?)([\d_.]+)([A-Za-z%]*)")
_ALIASES = {
    "ms": ("msec", "msecs", "millis", "millisecond", "milliseconds"),
    "s": ("sec", "secs", "second", "seconds"),
    "m": ("min", "mins", "minute", "minutes"),
    "h": ("hr", "hrs", "hour", "hours"),
    "d": ("day", "days"),
    "k": ("K", "tok", "ktok"),
    "KB": ("kb", "kB", "Kb", "KiB"),
    "MB": ("mb", "mB", "Mb", "MiB"),
    "GB": ("gb", "gB", "Gb", "GiB"),
    "%": ("pct", "percent", "%%"),
    "": ("x", "times", "calls", "tokens"),
}
_UNIT_OF = {alias: unit for unit, aliases in _ALIASES.items() for alias in aliases}
_EXPONENT = re.compile(r"(-?\$?\d+(?:\.\d+)?)[eE]([+-]?\d{1,2})")


def number_value(text: str) -> tuple[int | float, Unit]:
    """Value in base units (seconds, bytes with KB = 1,000, plain counts, dollars, a fraction for %) and the unit."""
    parts = _PARTS.fullmatch(text)
    if parts is None:
        raise ValueError(f"not a NUMBER of the grammar: {text!r}")
    sign, dollar, digits, suffix = parts.groups()
    digits = digits.replace("_", "")
    value: int | float = float(digits) if "." in digits else int(digits)
    unit: Unit = "money" if dollar else ""
    if suffix == "%":
        value, unit = value / 100, "percent"
    elif suffix == "ms":
        value, unit = value / 1_000, "time"
    elif suffix:
        named, factor = UNITS[suffix]
        value, unit = value * factor, unit or named
        if isinstance(value, float) and value.is_integer():
            value = int(value)
    return (-value if sign else value), unit


def mended_number(text: str) -> str | None:
    """The number that `text` was meant to be, in the language's own writing; None where no number was meant."""
    if exponent := _EXPONENT.fullmatch(text):
        return _written_out(exponent[1], int(exponent[2]))
    if re.fullmatch(r"-?\d{1,3}(?:'\d{3})+", text):
        return text.replace("'", "_")
    if text.endswith("$") and terminal("NUMBER").fullmatch("$" + text[:-1]):
        return "$" + text[:-1]
    found = re.fullmatch(r"(-?\$?\d[\d_]*(?:\.\d+)?)-?([A-Za-z%]+)", text)
    if found is None or found[2] not in _UNIT_OF:
        return None
    return found[1] + _UNIT_OF[found[2]]


def _written_out(mantissa: str, exponent: int) -> str:
    dollar = "$" if "$" in mantissa else ""
    value = float(f"{mantissa.replace('$', '')}e{exponent}")
    return dollar + (str(int(value)) if value.is_integer() else f"{value:f}".rstrip("0"))
