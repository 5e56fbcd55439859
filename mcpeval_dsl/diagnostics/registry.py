"""Diagnostics, beside the value: every code with its rule, a bad and a good example, from `codes/<area>.toml`.

Loaded when first asked; `mcpe explain` prints an entry, tests compile its examples.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from mcpeval_dsl.frozen import dataclass

AREAS = {"1": "syntax", "2": "names", "3": "meaning", "4": "lock", "5": "run", "6": "interchange"}
_CODE = re.compile(r"(?:MCPE)?-?(\d{3})", re.IGNORECASE)
_TITLED = re.compile(r'^\[(MCPE\d{3})\]\s+title = ["\'](.*)["\']$', re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """`bad` and `good` are a whole spec each, or a command line that begins with `$ `."""

    code: str
    area: str
    title: str
    explanation: str
    bad: str
    good: str

    @property
    def is_command(self) -> bool:
        return self.bad.lstrip().startswith("$ ")


@cache
def _area(name: str) -> dict[str, CodeInfo]:
    path = Path(__file__).parent / "codes" / f"{name}.toml"
    if not path.exists():
        return {}
    import tomllib

    entries = tomllib.loads(path.read_text("utf-8"))
    return {
        code: CodeInfo(code, name, entry["title"], entry["explanation"].strip(), entry["bad"], entry["good"])
        for code, entry in entries.items()
    }


@cache
def titles() -> dict[str, str]:
    """Every code with its title, without reading the rest: the entries are long, and most commands need none of them."""
    found: dict[str, str] = {}
    for name in AREAS.values():
        path = Path(__file__).parent / "codes" / f"{name}.toml"
        if path.exists():
            found.update(_TITLED.findall(path.read_text("utf-8")))
    return dict(sorted(found.items()))


def normal(code: str) -> str | None:
    """The code as it is registered; None where it is none. `MCPE101`, `mcpe101` and `101` are the same."""
    written = _CODE.fullmatch(code.strip())
    full = f"MCPE{written[1]}" if written is not None else ""
    return full if full in titles() else None


def info(code: str) -> CodeInfo | None:
    """The entry of a code; `MCPE101`, `mcpe101` and `101` are the same."""
    written = _CODE.fullmatch(code.strip())
    if written is None:
        return None
    area = AREAS.get(written[1][0])
    return _area(area).get(f"MCPE{written[1]}") if area else None


def all_codes() -> list[CodeInfo]:
    """All entries, by code."""
    return sorted((entry for area in AREAS.values() for entry in _area(area).values()), key=lambda e: e.code)
