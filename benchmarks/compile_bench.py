"""CPU time to plan 10,000 trials (500 tasks × 4 cells × 5 trials), and how it grows; the limit is 2 s in all.

Run: `python benchmarks/compile_bench.py [TASKS …]`. The peer only reads and writes the finished plan with `json`.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path

from figures import heading, show

LIMIT_SECONDS = 2.0
CELLS, TRIALS = 4, 5
STAGES = ("check", "plan", "write")

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
    from mcpeval_dsl.plan import files
    from mcpeval_dsl.plan.build import build
    from mcpeval_dsl.project.files import FileReader

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
    start = time.process_time()
    json.dumps(json.loads(data), indent=2, sort_keys=True)
    times["peer"] = time.process_time() - start
    times["trials"] = made.value.counts.trials
    return times


def main(sizes: list[int]) -> int:
    heading(__file__)
    within = True
    with tempfile.TemporaryDirectory() as folder:
        measure(2, Path(folder))
        for size in sizes:
            times = measure(size, Path(folder))
            total, trials = sum(times[stage] for stage in STAGES), int(times["trials"])
            limit = LIMIT_SECONDS if trials == 10_000 else None
            within &= show(f"compile {trials:,} trials", total, "s", limit, ("json alone", times["peer"]))
            for stage in STAGES:
                show(f"  {stage}", times[stage], "s")
    return int(not within)


if __name__ == "__main__":
    sys.exit(main([int(a) for a in sys.argv[1:]] or [50, 500]))
