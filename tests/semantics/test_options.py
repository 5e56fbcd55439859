"""What may follow a statement in any order means the same in each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mcpeval_dsl import pipeline
from mcpeval_dsl.plan.keys import digest
from tests.semantics.memory import Memory

SPEC = """suite s { trials 1 }
server s { stdio "x" }
annotations s { readonly get }
model canned { script "x.yaml" }
let rows = [{k: "a", v: 1}]
for r in rows where r.v == 1 key r.k limit 3 {
  task t { prompt "{{ r.k }}?"; tags a; grade number 3 within 1 weight 2; grade state s.get() $.n == 1 within 2 weight 3 }
}
task u { prompt "x"; grade unchanged s.get() except [$.x] weight 2 }
gate { require task_success >= 10% where tag == a because "x" }
"""


def meaning(spec: str) -> str:
    checked = pipeline.check("s.mcpe", Memory({"s.mcpe": spec, "x.yaml": "tasks: {}"}), {})
    assert checked.value is not None and checked.ok, [d.title for d in checked.diagnostics]
    rules = [replace(rule, text="") for rule in checked.value.gate.rules]
    return digest([checked.value.tasks, rules, [rule.because for rule in rules]])


@pytest.mark.parametrize(
    ("written", "otherwise"),
    [
        ("where r.v == 1 key r.k limit 3", "limit 3 key r.k where r.v == 1"),
        ("where r.v == 1 key r.k limit 3", "key r.k limit 3 where r.v == 1"),
        ("within 1 weight 2", "weight 2 within 1"),
        ("within 2 weight 3", "weight 3 within 2"),
        ("except [$.x] weight 2", "weight 2 except [$.x]"),
        ('where tag == a because "x"', 'because "x" where tag == a'),
    ],
)
def test_options_stand_in_any_order(written: str, otherwise: str) -> None:
    assert SPEC.count(written) == 1
    assert meaning(SPEC.replace(written, otherwise)) == meaning(SPEC)


@pytest.mark.parametrize("gone", [" weight 2 }", " limit 3", " key r.k", ' because "x"'])
def test_what_is_left_out_is_seen(gone: str) -> None:
    assert meaning(SPEC.replace(gone, " }" if gone.endswith("}") else "")) != meaning(SPEC)
