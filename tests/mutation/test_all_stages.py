"""How many single mistakes in the example suites are caught, by which stage, and with exactly one error."""

from __future__ import annotations

from collections import Counter

from mcpeval_dsl.diagnostics.model import Diagnostic
from mcpeval_dsl.semantics import front
from tests.mutation.mistakes import mistakes
from tests.semantics.memory import Memory, examples

PER_KIND = 7


def stages(path: str, text: str) -> dict[str, list[Diagnostic]]:
    """Errors by the stage that found them."""
    files = {**examples(), path: text}
    loaded = front.load(front.Request(path, Memory(files, anything=True), {}))
    found = {"grammar": list(loaded.diagnostics)}
    if loaded.value is not None:
        found["table"] = list(front.check_shape(loaded.value).diagnostics)
        lowered = front.lower(loaded.value)
        assert lowered.value is not None
        found["names"] = [*lowered.diagnostics, *front.apply_rules(lowered.value).diagnostics]
    return {stage: [d for d in diagnostics if d.severity == "error"] for stage, diagnostics in found.items()}


def test_single_mistakes() -> None:
    caught: dict[str, Counter[str]] = {}
    for number, (path, text) in enumerate(examples().items()):
        for mistake in mistakes(text, number, PER_KIND) if "/" not in path else ():
            errors = stages(path, mistake.text)
            first = next((stage for stage, found in errors.items() if found), "nobody")
            row = caught.setdefault(mistake.kind, Counter())
            row[first] += 1
            row["one error"] += sum(map(len, errors.values())) == 1
    table = "\n".join(f"{kind:28} {dict(row)}" for kind, row in caught.items())
    total = sum(caught.values(), Counter())
    everything = sum(count for stage, count in total.items() if stage != "one error")
    print(f"\n{table}\nall: {dict(total)} of {everything}")
    assert total["one error"] >= 0.90 * everything, table
    assert total["nobody"] <= 0.06 * everything, table
    assert total["one error"] >= 0.97 * (everything - total["nobody"]), table
