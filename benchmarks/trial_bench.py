"""What a scripted trial costs the harness: CPU milliseconds of its own process a trial, beside the server's own start.

Run: `python benchmarks/trial_bench.py`. Whole runs of two sizes are made, with folder, set-up, server process, session,
two calls, evidence, grading, ledger and scorecard; the difference is divided by the trials that it has more.
"""

from __future__ import annotations

import contextlib
import io
import os
import resource
import sys
import tempfile
import time
from pathlib import Path

from figures import heading, show

from mcpeval_dsl.cli.main import main as mcpe

LIMIT_MS = 20.0
FEW, MANY, ROUNDS = 10, 60, 3
SPEC = """suite bench "Bench" {{ trials {trials}; seed 1; defaults {{ environment desk }} }}
server shelf {{ stdio "python" "-S" "-E" "server.py"; protocol "2025-11-25"; timeout 20s }}
annotations shelf {{ readonly get_* }}
environment desk {{ write "{{{{ workdir }}}}/thing.txt" "lamp" }}
model canned {{ script "script.yaml" }}
harvest now = shelf.get_thing() {{ name = $.name }}
task one {{
  prompt "What is {{{{ now.name }}}}?"
  expect get_thing
  grade  contains now.name
  grade  state file("{{{{ workdir }}}}/thing.txt") == "lamp"
}}
"""
SCRIPT = """tasks:
  one:
    - call: get_thing
    - call: {tool: get_thing, arguments: {name: "{{ last.structured.name }}"}}
    - reply: "{{ last.structured.name }}"
"""
SERVER = """import json, sys
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}}
TOOLS = [{"name": f"get_{n}", "description": "Gets.", "inputSchema": SCHEMA} for n in ("thing", *range(19))]
ANSWERS = {
    "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}},
    "tools/list": {"tools": TOOLS},
    "tools/call": {"content": [{"type": "text", "text": '{"name": "lamp"}'}]},
}
for line in sys.stdin:
    message = json.loads(line)
    if "id" in message:
        known = ANSWERS.get(message["method"])
        body = {"result": known} if known else {"error": {"code": -32601, "message": "no"}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **body}), flush=True)
"""


def cost(folder: Path, trials: int) -> tuple[float, float]:
    """CPU seconds of this process and of its children for a whole run."""
    (folder / "specs" / "bench.mcpe").write_text(SPEC.format(trials=trials), encoding="utf-8")
    own, children = time.process_time(), resource.getrusage(resource.RUSAGE_CHILDREN)
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = mcpe(["run", "specs", "--fresh", "--jobs", "4"])
    if code != 0:
        raise SystemExit(said.getvalue())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - children.ru_utime - children.ru_stime
    return time.process_time() - own, spent


def main() -> int:
    heading(__file__)
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        os.environ["MCPE_STATE_DIR"] = f"{name}/state"
        folder = Path(name) / "project"
        (folder / "specs").mkdir(parents=True)
        os.chdir(folder)
        for path, text in (
            ("mcpe.toml", 'specs = ["specs"]\n'),
            ("specs/script.yaml", SCRIPT),
            ("specs/server.py", SERVER),
        ):
            (folder / path).write_text(text, encoding="utf-8")
        (folder / "specs" / "bench.mcpe").write_text(SPEC.format(trials=1), encoding="utf-8")
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            mcpe(["trust", "specs", "--yes"])
        cost(folder, 1)
        few = min(cost(folder, FEW) for _ in range(ROUNDS))
        many = min(cost(folder, MANY) for _ in range(ROUNDS))
    more = MANY - FEW
    own, servers = ((many[index] - few[index]) / more * 1000 for index in (0, 1))
    return int(not show("harness, one trial of two calls", own, "ms", LIMIT_MS, ("the server's own process", servers)))


if __name__ == "__main__":
    sys.exit(main())
