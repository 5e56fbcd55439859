"""Recorded sessions as tasks: what was said and called, values by where they came from, and no secret in the spec."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from mcpeval_dsl.interchange.compiled import compile_suite
from mcpeval_dsl.interchange.report import notes
from mcpeval_dsl.interchange.sessions import import_session
from mcpeval_dsl.syntax.formatting import format_text
from tests.execute.bench import Bench, outcome

CASES = Path(__file__).parent / "cases"
TOKEN = "_".join(("ghp", "a1" * 18))
NOTES = {"notes": [{"id": "NOTE-4711", "title": "Pay the invoice"}, {"id": "NOTE-0012", "title": "Water the plants"}]}


def user(content: Any, **more: Any) -> dict[str, Any]:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


def calls(*called: tuple[str, str, dict[str, Any]]) -> dict[str, Any]:
    blocks = [{"type": "tool_use", "id": each[0], "name": each[1], "input": each[2]} for each in called]
    return {"type": "assistant", "message": {"role": "assistant", "model": "claude-sonnet-4-5", "content": blocks}}


def result(number: str, value: Any, error: bool = False) -> dict[str, Any]:
    text = value if isinstance(value, str) else json.dumps(value)
    return user(
        [{"type": "tool_result", "tool_use_id": number, "content": [{"type": "text", "text": text}], "is_error": error}]
    )


def says(text: str) -> dict[str, Any]:
    return {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": text}]}}


def spec_of(folder: Path, *lines: Any) -> tuple[str, list[str]]:
    path = folder / "session.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return read(path)


def read(path: Path) -> tuple[str, list[str]]:
    made = import_session(str(path), (), path.parent)
    assert made.suite is not None, made.diagnostics
    compiled = compile_suite(made.suite, path.name)
    assert compiled.errors == [] and format_text(compiled.text).value == compiled.text
    return re.sub(r"(?<=\S) +", " ", compiled.text), [f"{note.what}: {note.text}" for note in notes(made.suite)]


LIST = calls(("1", "mcp__notes__list_notes", {"limit": 5}))
GET = calls(("2", "mcp__notes__get_note", {"id": "NOTE-4711"}))


def test_values_are_harvested_where_they_were_shown_before_they_were_used(tmp_path: Path) -> None:
    owner = {"id": "NOTE-4711", "owner": {"name": "Grace Hopper"}}
    text, _ = spec_of(
        tmp_path,
        user("Who has the oldest note?"),
        LIST,
        result("1", NOTES),
        GET,
        result("2", owner),
        says("Grace Hopper has it."),
    )
    assert "harvest list_notes = notes.list_notes(limit: 5) {\n  id = $.notes[0].id\n}" in text
    assert "harvest get_note = notes.get_note(id: list_notes.id) {\n  name = $.owner.name\n}" in text
    assert text.index("harvest list_notes") < text.index("harvest get_note")
    assert "expect list_notes, get_note(id: list_notes.id)" in text
    assert "grade contains get_note.name" in text
    assert "readonly list_notes, get_note" in text and 'model agent { anthropic "claude-sonnet-4-5" }' in text


def test_a_record_is_told_by_what_the_user_named(tmp_path: Path) -> None:
    get = calls(("2", "mcp__notes__get_note", {"id": "NOTE-0012"}))
    ask = user("Who has the note 'Water the plants'?")
    text, said = spec_of(tmp_path, ask, LIST, result("1", NOTES), get, result("2", {}), says("Nobody."))
    assert 'id = first($.notes[?@.title == "Water the plants"].id)' in text
    assert not any("its place in a list" in line for line in said)


def test_a_record_is_not_told_by_what_others_have_too(tmp_path: Path) -> None:
    twins = {"notes": [{"id": "NOTE-4711", "state": "open"}, {"id": "NOTE-0012", "state": "open"}]}
    text, said = spec_of(
        tmp_path, user("Take one that is open."), LIST, result("1", twins), GET, result("2", {}), says("x")
    )
    assert "id = $.notes[0].id" in text and any("its place in a list" in line for line in said)


def test_what_the_user_said_stays_as_it_is(tmp_path: Path) -> None:
    text, _ = spec_of(tmp_path, user("Show NOTE-4711"), GET, result("2", {"state": "wide open again"}), says("Done."))
    assert 'expect get_note(id: "NOTE-4711")' in text and "harvest" not in text


def test_calls_of_one_step_cannot_know_of_each_other(tmp_path: Path) -> None:
    both = calls(("1", "mcp__notes__list_notes", {}), ("2", "mcp__notes__get_note", {"id": "NOTE-4711"}))
    text, _ = spec_of(tmp_path, user("Go on."), both, result("1", NOTES), result("2", {}), says("Done."))
    assert 'get_note(id: "NOTE-4711")' in text and "harvest" not in text


def test_blocks_of_one_message_are_one_step_however_they_are_written(tmp_path: Path) -> None:
    first, second = json.loads(json.dumps(LIST)), json.loads(json.dumps(GET))
    first["message"]["id"] = second["message"]["id"] = "m1"
    lines = [user("Go on."), first, result("1", NOTES), second, result("2", {}), says("Done.")]
    assert 'get_note(id: "NOTE-4711")' in spec_of(tmp_path, *lines)[0]
    second["message"]["id"] = "m2"
    assert "get_note(id: list_notes.id)" in spec_of(tmp_path, *lines)[0]


def test_a_write_is_permitted_and_never_harvested(tmp_path: Path) -> None:
    close = calls(("2", "mcp__notes__close_note", {"id": "NOTE-4711"}))
    again = calls(("3", "mcp__notes__get_note", {"id": "NOTE-9999"}))
    text, said = spec_of(
        tmp_path,
        user("Close it."),
        LIST,
        result("1", NOTES),
        close,
        result("2", {"next": "NOTE-9999"}),
        again,
        result("3", {}),
    )
    assert "may close_note(id: list_notes.id)" in text and "grade calls close_note(id: list_notes.id)" in text
    assert "kind write" in text and "destructive close_note" in text
    assert 'get_note(id: "NOTE-9999")' in text and "harvest close_note" not in text
    assert any("grade state" in line for line in said)


def test_a_conversation_keeps_its_turns(tmp_path: Path) -> None:
    text, _ = spec_of(
        tmp_path,
        user("List them."),
        LIST,
        result("1", NOTES),
        says("Two."),
        user("And the first?"),
        GET,
        result("2", {}),
        says("x"),
    )
    assert text.count("user ") == 2 and "expect get_note(id: list_notes.id)" in text


def test_an_answer_without_facts_is_compared_by_a_judge(tmp_path: Path) -> None:
    text, said = spec_of(tmp_path, user("Any notes?"), LIST, result("1", "two notes"), says("Yes, there are some."))
    assert 'grade judge { claim "The answer agrees with this one: Yes, there are some." }' in text
    assert any("no value of a result" in line for line in said)


def test_no_secret_reaches_the_spec(tmp_path: Path) -> None:
    login = calls(("1", "mcp__notes__get_session", {"password": "hunter2-hunter2", "note": f"see {TOKEN}"}))
    text, said = spec_of(
        tmp_path, user(f"Log in with {TOKEN}"), login, result("1", {"key": TOKEN}), says(f"Your key is {TOKEN}")
    )
    assert TOKEN not in text and "hunter2" not in text
    assert not any(TOKEN in line or "hunter2" in line for line in said)
    assert sum("a secret was taken out" in line for line in said) >= 3


def test_what_cannot_be_carried_over_is_said(tmp_path: Path) -> None:
    other = {"type": "tool_use", "id": "9", "name": "Bash", "input": {"command": "ls"}}
    lines = [
        user("<system-reminder>be good</system-reminder>", isMeta=True),
        "{broken",
        user("Go."),
        {"type": "assistant", "message": {"role": "assistant", "content": [other]}},
        {"isSidechain": True, **LIST},
        LIST,
        result("1", "no such thing", error=True),
        GET,
        result("2", {}),
        says("Done."),
    ]
    text, said = spec_of(tmp_path, *lines)
    assert "list_notes" not in text.split("task ")[1] and "be good" not in text
    for part in (
        "1 lines that are no JSON",
        "1 uses of tools that no MCP",
        "1 lines of agents",
        "1 calls that ended in an error",
    ):
        assert any(part in line for line in said), (part, said)


def test_rollouts_of_codex(tmp_path: Path) -> None:
    text, _ = read(CASES / "rollout.jsonl")
    assert 'prompt "Close the oldest note, please."' in text and 'litellm "openai/gpt-5.3-codex"' in text
    assert "may close_note(id: list_notes.id)" in text and "id = $.notes[0].id" in text


def event(what: str, **more: Any) -> dict[str, Any]:
    return {"type": "event_msg", "payload": {"type": what, **more}}


@pytest.mark.parametrize("early", [True, False], ids=["both at once", "one after the other"])
def test_rollouts_name_arguments_where_a_call_begins(early: bool, tmp_path: Path) -> None:
    begins = [
        event("mcp_tool_call_begin", call_id=n, invocation={"server": "notes", "tool": tool, "arguments": arguments})
        for n, tool, arguments in (("1", "list_notes", {}), ("2", "get_note", {"id": "NOTE-4711"}))
    ]
    ended = event(
        "mcp_tool_call_end",
        call_id="1",
        invocation={"server": "notes", "tool": "list_notes"},
        result={"Ok": {"content": [], "structuredContent": NOTES}},
    )
    last = event(
        "mcp_tool_call_end", call_id="2", invocation={"server": "notes", "tool": "get_note"}, result={"content": []}
    )
    middle = [begins[0], begins[1], ended] if early else [begins[0], ended, begins[1]]
    lines = [{"type": "session_meta", "payload": {}}, event("user_message", message="Go."), *middle, last]
    text, _ = spec_of(tmp_path, *lines, event("agent_message", message="Done."))
    assert ('get_note(id: "NOTE-4711")' if early else "get_note(id: list_notes.id)") in text
    assert "agrees with this one: Done." in text


def test_events_of_codex_exec(tmp_path: Path) -> None:
    item = {
        "type": "mcp_tool_call",
        "server": "notes",
        "tool": "list_notes",
        "arguments": {},
        "result": {"content": []},
    }
    lines = [{"type": "thread.started"}, {"type": "item.completed", "item": item}]
    path = tmp_path / "exec.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    made = import_session(str(path), (), tmp_path)
    assert made.suite is None and "nobody asks" in made.diagnostics[0].title


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([user("Hi."), says("Hello.")], "no tool of an MCP server"),
        ([LIST, says("x")], "nobody asks"),
        ([LIST, result("1", NOTES), user("Thank you."), says("You are welcome.")], "nobody asks"),
        (["{}"], "no session"),
        ([""], "no session"),
        (["[" * 9_999], "no session"),
    ],
)
def test_what_gives_no_task(lines: list[Any], said: str, tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    made = import_session(str(path), (), tmp_path)
    assert made.suite is None and said in made.diagnostics[0].title and made.diagnostics[0].code == "MCPE604"


def test_a_trial_of_ones_own_becomes_a_task_that_runs(tmp_path: Path) -> None:
    """Recorded, imported, run again: right passes, wrong fails, the harvest is read from the server."""
    (tmp_path / "project").mkdir()
    bench = Bench(tmp_path / "project")
    steps = [{"call": "list_things"}, {"call": {"tool": "get_prose", "arguments": {"text": "lamp-of-aladdin"}}}]
    scripts = {"first": [*steps, {"reply": "It is the lamp-of-aladdin."}]}
    bench.spec('task first { prompt "What is on the shelf?"; grade contains "lamp" }\n', scripts)
    bench.write("specs/things.json", '["lamp-of-aladdin", "vase"]')
    bench.run()
    trial = next(iter(bench.reader.records())).id
    done = bench.mcpe(
        "import",
        "--transcript",
        f"{bench.reader.folder.path.name}:{trial}",
        "-o",
        "again",
        "--server",
        "python shelf.py",
    )
    assert done.code == 0, done.err
    spec = next((bench.root / "again").glob("*.mcpe"))
    text = spec.read_text()
    assert re.search(r"harvest list_things = shelf\.list_things\(\) \{\n\s+things\s+= \$\.things\[0\]", text), text
    assert re.search(r"get_prose\(text: list_things\.things\)", text) and "contains list_things.things" in text
    assert '"scripted"' not in text and "no model is named" in done.out, "a script is no model that answers again"
    text = re.sub(
        r"^model agent.*$", 'model right { script "right.yaml" }\nmodel wrong { script "wrong.yaml" }', text, flags=re.M
    )
    text = text.replace("[agent]", "[right, wrong]").replace("trials 1", "trials 1\n  defaults { environment desk }")
    spec.write_text(text + 'environment desk { copy "things.json" to "{{ workdir }}/shelf.json" }\n')
    for name in ("shelf.py", "things.json"):
        bench.write(f"again/{name}", (bench.root / "specs" / name).read_text())
    bench.write(
        "again/right.yaml", yaml.safe_dump({"tasks": {"*": [{"call": "list_things"}, {"reply": "lamp-of-aladdin"}]}})
    )
    bench.write("again/wrong.yaml", yaml.safe_dump({"tasks": {"*": [{"reply": "nothing"}]}}))
    bench.mcpe("trust", "again", "--yes")
    bench.mcpe("run", "again")
    assert {r.agent.model: outcome(r) for r in bench.reader.records()} == {"right": "pass", "wrong": "wrong_answer"}
