"""What a server brings: whether the agent used it at all stands beside the lift."""

from __future__ import annotations

from typing import Any

import pytest

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
