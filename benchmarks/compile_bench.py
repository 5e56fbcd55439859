"""Time to plan 10,000 trials (500 tasks × 4 cells × 5 trials), and how it grows; the limit is 2 s in all.

Run: `python benchmarks/compile_bench.py [TASKS …]`. With a front end, the spec is a generated text of one task each.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

LIMIT_SECONDS = 2.0
CELLS, TRIALS = 4, 5

HEAD = """suite many "Many tasks" {{
  trials {trials}
  seed 1
  defaults {{ environment desk; budget calls <= 6 hard 15, tokens <= 40k hard 80k, time <= 60s hard 120s }}
}}
server tracker {{ stdio "python" "-m" "tracker_server" "--db" "{{{{ workdir }}}}/tracker.db" }}
environment desk {{ write "{{{{ workdir }}}}/seed.txt" "seed" }}
annotations tracker {{ readonly list_*, get_*; additive update_issue }}
{models}
harvest billing = tracker.list_issues(project: "Billing") {{ key = $.issues[0].key }}
harvest oldest = tracker.get_issue(key: billing.key) {{ title = $.title }}
matrix {{ model = [{names}] }}
"""
TASK = """task t{i} "Task {i}" {{
  prompt "Label '{{{{ oldest.title }}}}' with mark-{i}."
  tags   write, group_{g}
  kind   write
  may    update_issue(key == billing.key)
  expect update_issue(key: billing.key)
  grade  state tracker.get_issue(key: billing.key) $.labels has "mark-{i}"
  grade  contains billing.key
}}
"""


def spec(tasks: int) -> str:
    """A suite with `tasks` tasks in four cells."""
    names = [f"m{i}" for i in range(CELLS)]
    models = "\n".join(
        f'model {n} {{ anthropic "claude-sonnet-4-5"; max_tokens {1000 + i} }}' for i, n in enumerate(names)
    )
    head = HEAD.format(trials=TRIALS, models=models, names=", ".join(names))
    return head + "".join(TASK.format(i=i, g=i % 10) for i in range(tasks))


def measure(tasks: int, folder: Path) -> dict[str, float]:
    """CPU seconds of each stage; imports are paid before."""
    from mcpeval_dsl import pipeline
    from mcpeval_dsl.cli.project import FileReader
    from mcpeval_dsl.plan import files
    from mcpeval_dsl.plan.build import build

    (folder / "many.mcpe").write_text(spec(tasks))
    times: dict[str, float] = {}
    start = time.process_time()
    checked = pipeline.check("many.mcpe", FileReader(folder))
    assert checked.value is not None, [(d.code, d.title, str(d.at)) for d in checked.diagnostics][:5]
    times["check"] = time.process_time() - start
    start = time.process_time()
    made = build(checked.value, None, {})
    assert made.value is not None, made.diagnostics
    times["plan"] = time.process_time() - start
    start = time.process_time()
    data = files.write(made.value)
    times["write"] = time.process_time() - start
    times["trials"] = made.value.counts.trials
    times["bytes"] = len(data)
    return times


def main(sizes: list[int]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        measure(2, Path(folder))
        found = {size: measure(size, Path(folder)) for size in sizes}
    stages = ("check", "plan", "write")
    before = None
    for size, times in found.items():
        total = sum(times[s] for s in stages)
        parts = "  ".join(f"{s} {times[s]:.2f}" for s in stages)
        ratio = f"  ×{total / before[1]:.1f} for ×{size / before[0]:.0f}" if before else ""
        print(
            f"{size:6d} tasks {int(times['trials']):8d} trials  {parts}  = {total:.2f} s{ratio}  {times['bytes'] / 1e6:.1f} MB"
        )
        before = (size, total)
        if times["trials"] <= 10_000 and total > LIMIT_SECONDS:
            print(f"over the limit of {LIMIT_SECONDS} s")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main([int(a) for a in sys.argv[1:]] or [50, 500]))
