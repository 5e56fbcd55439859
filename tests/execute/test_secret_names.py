"""The variables that are read, and redacted, for a plan: whoever names them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mcpeval_dsl.cli import specs as loading
from mcpeval_dsl.execute.prepare import secret_names
from mcpeval_dsl.plan.model import Selection

HEAD = """suite shelf "Shelf" { trials 1 }
server shelf { stdio "python" "shelf.py" }
annotations shelf { readonly get_thing }
model canned { script "canned.yaml" }
task one { prompt "x"; grade contains "done" }
"""
NAMED = {
    "server": 'server other { stdio "python" "other.py"; env TOKEN = secret("ONLY_HERE") }',
    "harvest": 'harvest thing = shelf.get_thing(name: secret("ONLY_HERE")) { name = $.name }\n'
    'task two { prompt "{{ thing.name }}"; grade contains "done" }',
    "check": 'check shelf { shelf.get_thing(name: secret("ONLY_HERE")) { require $.x == 1 } }',
}


@pytest.mark.parametrize("where", NAMED)
def test_a_secret_is_known_wherever_it_is_named(where: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("canned.yaml").write_text('tasks: {"*": [{reply: done}]}\n')
    Path("shelf.mcpe").write_text(HEAD + NAMED[where] + "\n")
    found = loading.load(["shelf.mcpe"])
    assert not found.failed, found.diagnostics
    (plan,) = loading.plan(found, Selection())
    assert secret_names(plan) == ("ONLY_HERE",)
