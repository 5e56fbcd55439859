"""CPU time of whole processes: `mcpe --version` (limit 30 ms) and `mcpe lint` of a 1,000-line spec (limit 200 ms).

    python benchmarks/lint.py [RUNS]

The least of several runs counts: what else the machine does only adds. Exit code 1 when a limit is passed.
"""

from __future__ import annotations

import compileall
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "tests" / "cases" / "examples"
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


def spec_of(lines: int) -> str:
    """The spec of the language page with made tasks, exactly `lines` lines."""
    text = (EXAMPLES / "tracker_language.mcpe").read_text("utf-8").rstrip("\n") + "\n"
    number = 0
    while text.count("\n") + TASK.count("\n") < lines:
        number += 1
        text += TASK.format(n=number)
    return text + "# filled up\n" * (lines - text.count("\n"))


def cpu_ms(arguments: list[str], folder: Path, runs: int) -> tuple[float, int]:
    """Least user and system time of the process in milliseconds, and its exit code."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH")}
    environment["PYTHONPATH"] = str(ROOT)
    best, code = float("inf"), 0
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [
            sys.executable,
            "-c",
            "import sys; from mcpeval_dsl.cli.main import main; sys.exit(main())",
            *arguments,
        ]
        code = subprocess.run(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, check=False).returncode
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        best = min(best, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return best * 1000, code


def main() -> int:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 7
    compileall.compile_dir(ROOT / "mcpeval_dsl", quiet=2)
    late = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "mcpe.toml").write_text('specs = ["."]\n')
        for file in ("fixtures/tracker.db", "scripts/tracker.yaml"):
            (folder / file).parent.mkdir(exist_ok=True)
            (folder / file).write_text("")
        (folder / "spec.mcpe").write_text(spec_of(1000), encoding="utf-8")
        for arguments, limit in ((["--version"], 30), (["lint", "spec.mcpe"], 200)):
            spent, code = cpu_ms(arguments, folder, runs)
            late = late or spent > limit
            print(f"mcpe {' '.join(arguments):16} {spent:6.1f} ms of {limit} ms CPU (exit {code})")
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
