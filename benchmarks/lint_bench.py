"""CPU time of whole processes: `mcpe --version` (limit 30 ms) and `mcpe lint` of a 1,000-line spec (limit 200 ms).

With a lock of 40 tools beside it, lint also compares each call with its schema, and tools with each other (limit 300 ms).

Run: `python benchmarks/lint_bench.py [RUNS]`. The peer is a Python that does nothing. Exit code 1 when a limit is passed.
"""

from __future__ import annotations

import compileall
import os
import sys
import tempfile
from pathlib import Path

from figures import heading, process_ms, show

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "tests" / "cases" / "examples"
ENTRY = "import sys; from mcpeval_dsl.cli.main import main; sys.exit(main())"
TASK = """
task made_{n} "Made number {n}" {{
  prompt "Which open issue in the Billing project has waited longest, and who has it? ({n})"
  tags   search, read
  kind   single_step
  budget calls <= 6 hard 15, tokens <= 40k, cost <= $0.05
  expect list_issues(status: "open"), optional(get_issue)
  never  purge, delete_*
  grade  contains billing.key, billing.assignee {{ ignore case, whitespace }}
  grade  state tracker.get_issue(key: billing.key) $.labels has "needs-review"
}}
"""

SCRIPT = "tasks:\n  oldest:\n    - reply: B-1\n"


def spec_of(lines: int) -> str:
    """The spec of the language page with made tasks, exactly `lines` lines."""
    text = (EXAMPLES / "tracker_language.mcpe").read_text("utf-8").rstrip("\n") + "\n"
    number = 0
    while text.count("\n") + TASK.count("\n") < lines:
        number += 1
        text += TASK.format(n=number)
    return text + "# filled up\n" * (lines - text.count("\n"))


def lock() -> bytes:
    """A lock of the spec's server with 40 tools, those that the spec calls among them."""
    from mcpeval_dsl.plan import lock as locks
    from mcpeval_dsl.plan.model import Lock, LockedServer, LockedTool

    text = {"type": "string", "description": "a text"}
    labels = {"type": "array", "items": text}
    arguments = {
        "key": text,
        "project": text,
        "status": {"enum": ["open", "closed"]},
        "state": text,
        "sort": text,
        "labels": labels,
    }
    issue = {
        "type": "object",
        "properties": dict.fromkeys(("key", "title", "assignee", "updated_at"), text) | {"labels": labels},
    }
    result = {"type": "object", "properties": issue["properties"] | {"issues": {"type": "array", "items": issue}}}
    called = ["list_issues", "get_issue", "update_issue", "add_comment", "purge", "delete_project", "search_pages"]
    made = [
        f"{verb}_{noun}"
        for verb in ("get", "list", "export")
        for noun in ["teams", "sprints", "boards", "users", "files", "tags", "links"]
    ]
    tools = tuple(
        LockedTool(
            name=name,
            description=f"Does {name.replace('_', ' of the ')} for whoever asks.",
            input_schema={"type": "object", "properties": arguments},
            output_schema=result,
            annotations={"readOnlyHint": True},
            sha256=name,
        )
        for name in (*called, *made, *(f"report_{n}" for n in range(12)))
    )
    server = LockedServer(
        server="tracker", revision="2026-07-28", era="discover", transport="stdio", tools=tools, catalogue_sha256="x"
    )
    return locks.write(Lock(servers=(server,)))


def main() -> int:
    heading(__file__)
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    compileall.compile_dir(ROOT / "mcpeval_dsl", quiet=2)
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")}
    environment["PYTHONPATH"] = str(ROOT)
    within = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "mcpe.toml").write_text('specs = ["."]\n')
        for file in ("fixtures/tracker.db", "scripts/tracker.yaml"):
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text(SCRIPT if file.endswith(".yaml") else "")
        (folder / "spec.mcpe").write_text(spec_of(1000), encoding="utf-8")
        bare, _ = process_ms([sys.executable, "-c", "pass"], folder, environment, runs)
        (folder / "locked/fixtures").mkdir(parents=True)
        (folder / "locked/scripts").mkdir()
        for file in ("fixtures/tracker.db", "scripts/tracker.yaml", "spec.mcpe"):
            (folder / "locked" / file).write_bytes((folder / file).read_bytes())
        (folder / "locked/mcpe.lock").write_bytes(lock())
        for title, arguments, limit in (
            ("mcpe --version", ["--version"], 30),
            ("mcpe lint, 1,000 lines", ["lint", "spec.mcpe"], 200),
            ("mcpe lint, with a lock", ["lint", "locked/spec.mcpe"], 300),
        ):
            spent, code = process_ms([sys.executable, "-c", ENTRY, *arguments], folder, environment, runs)
            if code != 0:
                print(f"  {title} ended with exit code {code}")
                return 1
            within &= show(title, spent, "ms", limit, ("python -c pass", bare))
    return int(not within)


if __name__ == "__main__":
    sys.exit(main())
