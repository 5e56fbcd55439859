"""Every kind of hostile server in one run: the broken call has its class at once, its trial and all others go on."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import pytest

from mcpeval_dsl.records.model import TrialRecord
from tests.execute.bench import Bench, outcome
from tests.gateway.starting import SERVERS, http_server

AT_ONCE_MS = 5_000  # of a call timeout of 30 s, on a busy machine

INVALID, CRASH, CLOSED = ("invalid_result", "unknown"), ("transport_error", "crash"), ("transport_error", "closed")
FINE = ("", "")

OVER_PIPES: dict[str, tuple[tuple[str, str], str]] = {
    # What can still be understood is.
    "text_first": (FINE, "after all"),
    "broken_first": (FINE, "after all"),
    "json_log": (FINE, "after all"),
    "twice": (FINE, "first"),
    "flood": (FINE, "after the flood"),
    "stderr": (FINE, "after the words"),
    "utf8": (FINE, "a\N{REPLACEMENT CHARACTER}b"),
    "surrogate": (FINE, "a\N{REPLACEMENT CHARACTER}b"),
    "text_id": (FINE, "with the id as text"),
    "large": (FINE, "the beginning"),
    # What cannot fails its call.
    "broken": (INVALID, ""),
    "binary": (INVALID, ""),
    "endless_text": (INVALID, ""),
    "list": (INVALID, ""),
    "no_result": (INVALID, ""),
    "deep": (INVALID, ""),
    "digits": (INVALID, ""),
    "nan": (INVALID, ""),
    "infinite": (INVALID, ""),
    "wrong_id": (INVALID, ""),
    "no_id": (("protocol_error", "internal"), ""),
    "half_line": (CRASH, ""),
    "exit": (CRASH, ""),
}
OVER_HTTP = {f"http_{mode}": mode for mode in ("close", "reset", "body", "events", "exit")}
KINDS = {**OVER_PIPES, **dict.fromkeys(OVER_HTTP, (CLOSED, ""))}
LOST = {"half_line", "exit"}


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TrialRecord]:
    bench = Bench(tmp_path_factory.mktemp("hostile") / "project")
    bench.root.mkdir()
    bench.write("specs/hostile.py", (SERVERS / "hostile.py").read_text(encoding="utf-8"))
    servers = [f'server {mode} {{ stdio "python" "-S" "hostile.py" "{mode}"; timeout 30s }}' for mode in OVER_PIPES]
    with ExitStack() as stack:
        for name, mode in OVER_HTTP.items():
            url = stack.enter_context(http_server("dropping.py", mode, "initialize"))
            servers.append(f'server {name} {{ http "{url}"; timeout 30s }}')
        body = "\n".join(f"annotations {name} {{ readonly good, bad }}" for name in KINDS) + "\n"
        for name in KINDS:
            body += f'task t_{name} {{ prompt "x"; servers {name}; grade contains "done" }}\n'
        made = [{"call": {"tool": "bad"}}, {"call": {"tool": "good"}}, {"reply": "done"}]
        head = (
            'suite bench "Bench" { trials 1; seed 11 }\n'
            + "\n".join(servers)
            + '\nmodel canned { script "canned.yaml" }\n'
        )
        bench.spec(body + "# environment desk", {"*": made}, head=head)
        done = bench.run("--jobs", "4")
    assert done.code in (0, 1), done.err
    assert bench.left_over() == [] and bench.processes() == []
    return bench.records


@pytest.mark.parametrize("kind", KINDS)
def test_a_hostile_server_in_a_run(records: dict[str, TrialRecord], kind: str) -> None:
    (expected, text), record = KINDS[kind], records[f"t_{kind}#1"]
    bad, good = [call for call in record.calls if call.actor == "agent"]
    assert (("", "") if bad.error is None else (bad.error.error_class, bad.error.kind)) == expected
    assert bad.duration_ms < AT_ONCE_MS
    if text:
        assert bad.text.startswith(text) and not bad.is_error
    if kind == "http_exit":
        assert good.error is not None and record.termination == "server_dead"
        return
    assert (good.text, good.session) == ("good", 2 if bad.error is not None and after_loss(kind) else 1)
    assert outcome(record) == "pass" and record.trouble is None


def after_loss(kind: str) -> bool:
    return kind in LOST or kind in ("http_close", "http_reset", "http_body")


def test_a_run_with_hostile_servers_keeps_the_classes_apart(records: dict[str, TrialRecord]) -> None:
    found: dict[Any, int] = {}
    for record in records.values():
        for call in record.calls:
            found[call.error.error_class if call.error else ""] = (
                found.get(call.error.error_class if call.error else "", 0) + 1
            )
    assert found["invalid_result"] == 10 and found["protocol_error"] == 1 and found["transport_error"] == 8
