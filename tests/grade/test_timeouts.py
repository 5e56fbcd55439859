"""A grader that asks something outside takes the time limit its block names."""

from __future__ import annotations

from mcpeval_dsl.pipeline import check

SPEC = b"""
suite s "x" { trials 1; judge m }
server t { stdio "x" }
model m { anthropic "claude" }
host loop { instructions include }
task a "A" {
  prompt "p"
  servers t
  grade command "python" "verify.py" { timeout 20s }
  grade python "a:b" { timeout 500ms }
  grade judge { claim "x"; timeout 1m }
  grade command "true"
}
matrix { model = [m]; host = [loop] }
"""


def test_the_limit_reaches_the_grader() -> None:
    checked = check("a.mcpe", lambda path: SPEC)
    assert checked.value is not None and not [d for d in checked.diagnostics if d.severity == "error"]
    limits = {grader.common.id: grader.common.timeout for grader in checked.value.tasks[0].graders}
    assert limits == {"g1": 20.0, "g2": 0.5, "g3": 60.0, "g4": None}
