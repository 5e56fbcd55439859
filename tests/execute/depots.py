"""Suites over the depot: an agent that reads, and whose calls meet bugs that its script does not know of."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.execute.bench import Bench, Ended

DEPOT = Path(__file__).parent / "servers" / "depot.py"
HEAD = """suite depot "Depot" { trials TRIALS; seed 5; defaults { environment yard } }
server depot { stdio "python" "depot.py"OPTIONS; timeout 5s }
environment yard { SCOPE }
annotations depot { readonly list_*, get_*; additive add_order, issue_pass; destructive remove_order }
model canned { script "canned.yaml" }
"""

ORDERS = "results[0].structured.orders"


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    return {"call": {"tool": tool, "arguments": arguments}}


def suite(
    bench: Bench, steps: list[dict[str, Any]], options: str = "", *, trials: int = 1, scope: str = "", task: str = ""
) -> None:
    """One task, whose agent takes these steps and answers `done`."""
    bench.write("specs/depot.py", DEPOT.read_text(encoding="utf-8"))
    words = "".join(f" {json.dumps(word)}" for word in options.split())
    head = HEAD.replace("TRIALS", str(trials)).replace("OPTIONS", words).replace("SCOPE", scope)
    body = f'task look {{ prompt "Look at the orders."; {task} grade contains "done" }}\n'
    bench.spec("", {"*": [*steps, {"reply": "done"}]}, head=head)
    path = bench.root / "specs/bench.mcpe"
    path.write_text(head + body, encoding="utf-8")


def confirmed(bench: Bench, *arguments: str, run: bool = True) -> tuple[Ended, list[dict[str, Any]]]:
    """The run, then every lead of it replayed; the leads as JSON."""
    if run:
        done = bench.run()
        assert done.code in (0, 1, 3), done.err
    ended = bench.mcpe("defects", "--confirm", "--format", "json", *arguments)
    assert "Traceback" not in ended.err and "internal error" not in ended.err, ended.err
    lines = [json.loads(line) for line in ended.out.splitlines()]
    return ended, [line for line in lines if line["type"] == "lead"]
