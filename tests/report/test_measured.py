"""What a rule of the gate came to is said in the unit of its metric, in every report alike."""

from __future__ import annotations

import pytest

from mcpeval_dsl.report.measured import measured
from mcpeval_dsl.score.model import RuleResult


@pytest.mark.parametrize(
    ("text", "baseline", "value", "shown"),
    [
        ("require task_success >= 80%", "", 0.82, "82.0 %"),
        ("require task_success.low >= 0", "", 0.5, "50.0 %"),
        ("require pass^3 >= 50%", "", 0.5, "50.0 %"),
        ("require lift >= 0", "", -0.25, "−25.0 points"),
        ("require lift(mcp, api) >= 5%", "", 0.05, "+5.0 points"),
        ("require compare.low >= 0", "", 0.0, "+0.0 points"),
        ("require gap(train, heldout) <= 10%", "", 0.1, "+10.0 points"),
        ("require task_success >= 0", "main", -0.1, "−10.0 points"),
        ("require regressions == 0", "main", 2.0, "2"),
        ("require overhead.cost <= $0.02", "", 0.013, "$0.0130"),
        ("require cost.total <= $5", "", 1.5, "$1.50"),
        ("require calls.p95 <= 4", "", 3.5, "3.5"),
        ("require safety.critical == 0", "", 0.0, "0"),
        ("require time.p95 <= 5s", "", None, ""),
        ("tool selection is no worse, by 5%", "", 0.05, "5.0 %"),
    ],
)
def test_in_its_unit(text: str, baseline: str, value: float | None, shown: str) -> None:
    rule = RuleResult(text=text, at="a.mcpe:1:1", word="PASS", measured=value, baseline=baseline)
    assert measured(rule, value) == shown
