"""A project around the odd library server, run as a user runs it; and what its run left on record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from tests.execute.bench import Bench

SERVER = Path(__file__).parent / "servers" / "odd.py"

SUITE = """suite library "Library" {{ trials {trials}; seed 3 }}
server library {{ stdio "python" "odd.py" "--mode" "{mode}" "--log" "{log}"; timeout {timeout} }}
annotations library {{ readonly get_* }}
model canned {{ script "canned.yaml" }}
"""
DONE = [{"reply": "done"}]


@dataclass(slots=True)
class Library:
    """`write` lays the project out; `bench` runs commands in it and reads what they left."""

    bench: Bench

    @property
    def log(self) -> Path:
        return self.bench.root / "asked.txt"

    def write(
        self,
        body: str,
        scripts: Mapping[str, Any] | None = None,
        *,
        mode: str = "good",
        trials: int = 1,
        timeout: str = "10s",
        head: str = SUITE,
    ) -> None:
        bench = self.bench
        bench.write("mcpe.toml", 'specs = ["specs"]\n')
        bench.write("specs/odd.py", SERVER.read_text(encoding="utf-8"))
        bench.write("specs/canned.yaml", yaml.safe_dump({"tasks": dict(scripts or {"*": DONE})}))
        start = head.format(trials=trials, mode=mode, timeout=timeout, log=self.log)
        bench.write("specs/library.mcpe", start + body)

    @property
    def asked(self) -> list[str]:
        """What all processes of the server were asked, in order, without the process ids."""
        return [line.partition(" ")[2] for line in self.log.read_text().splitlines()]


def calls(*tools: Any, reply: Any = "done") -> list[dict[str, Any]]:
    """A script of calls, one a turn, and the reply."""
    return [*({"call": tool} for tool in tools), {"reply": reply}]
