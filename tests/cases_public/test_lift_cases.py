"""What a server brings: whether the agent used it at all stands beside the lift."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from tests.cases_public.lending import Library
from tests.cases_public.test_referee_cases import ASKS, card, many

ARMS = "arm mcp { servers library }\narm bare { }\n"


@pytest.mark.parametrize(("scripts", "use"), [({"*": [{"reply": "done"}]}, 0.0), (None, 1.0)], ids=["never", "always"])
def test_use_of_the_server_stands_beside_the_lift(library: Library, scripts: Any, use: float) -> None:
    lift = ARMS + "matrix { arm = [mcp, bare] }\nlift mcp over bare by tag\n"
    library.write(many(2) + lift, scripts or {"*": ASKS})
    done = library.bench.run()
    (found,) = card(library)["comparisons"]
    assert {arm["member"]: arm["mcp_use"] for arm in found["arms"]} == {"mcp": use, "bare": 0.0}
    assert bool([note for note in found["notes"] if "never called the server" in note]) == (use == 0)
    assert done.code == 0, done.out
    assert ("overhead of medians: cost" in done.out, "; time " in done.out) == (True, True)


def test_two_models_are_compared_on_the_same_tasks(library: Library) -> None:
    lost = yaml.safe_dump({"tasks": {"t0": [{"reply": "done"}], "*": [{"reply": "lost"}]}})
    library.bench.write("specs/worse.yaml", lost)
    two = 'model worse { script "worse.yaml" }\narm bare { }\nmatrix { model = [canned, worse]; arm = [bare] }\n'
    library.write(many(7) + two + "compare worse over canned\ngate { require compare >= 0 }\n")
    done = library.bench.run()
    (found,) = card(library)["comparisons"]
    (row,) = found["rows"]
    assert (found["kind"], found["measure"], row["at"]) == ("compare", "success", {"host": "loop", "arm": "bare"})
    assert (row["difference"]["word"], row["difference"]["adjusted_by"]) == ("worse", "Holm")
    assert row["difference"]["value"] == pytest.approx(-6 / 7)
    (rule,) = card(library)["gate"]["rules"]
    assert (rule["word"], rule["p"], done.code) == ("FAIL", 2 / 2**6, 1)
    assert card(library)["matrix"][1]["difference"]["word"] == "worse"
