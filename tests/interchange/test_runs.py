"""An imported task is runnable: with the right answer it passes, with a wrong one it fails, and a placeholder is untestable."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.execute.bench import SHELF, Bench, outcome

CASES = Path(__file__).parent / "cases"
LIST = {"call": {"tool": "list_things", "arguments": {}}}
GET = {"call": {"tool": "get_prose", "arguments": {"text": "lamp"}}}
VERDICT = (
    '{{ \'{"claims": [{"claim": 1, "reason": "so", "quotes": [], "verdict": "\' ~ ("fail" if "WRONG" in prompt else "pass") ~ '
    "'\"}]}' }}"
)

Steps = list[dict[str, Any]]
WRONG: Steps = [{"call": {"tool": "get_prose", "arguments": {"text": "x"}}}, {"reply": "WRONG"}]
TWO_TURNS: dict[str, Steps] = {
    name: [{"reply": "x"}, {"expect": {"user_contains": "first"}, "reply": "WRONG"}] for name in ("talk", "c_two")
}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "project").mkdir()
    return Bench(
        tmp_path / "project", {"API_KEY": "abc123secret", "TOKEN": "abc124secret", "SHELF_KEY": "abc125secret"}
    )


def run(bench: Bench, name: str, right: Mapping[str, Steps], *options: str) -> dict[str, dict[str, str]]:
    """Outcome of each task with an agent that does right, and with one that does wrong."""
    bench.write("mcpe.toml", 'specs = ["specs"]\n')
    bench.write("specs/shelf.py", SHELF.read_text(encoding="utf-8"))
    done = bench.mcpe("import", str(CASES / name), "-o", "specs", *options)
    assert done.code == 0, done.err
    spec = next((bench.root / "specs").glob("*.mcpe"))
    text = re.sub(r"^model agent\w*\s*\{.*$\n", "", spec.read_text(encoding="utf-8"), flags=re.MULTILINE)
    text = re.sub(r"^judge referee \{.*$", 'judge referee { script "judge.yaml" }', text, flags=re.MULTILINE)
    models = (
        'model right { script "right.yaml" }\nmodel wrong { script "wrong.yaml" }\nmatrix { model = [right, wrong] }\n'
    )
    text = re.sub(r"^matrix .*$\n", models, text, flags=re.MULTILINE)
    classes = "annotations SERVER { readonly list_*, get_*; destructive wipe_all }\n"
    text += classes.replace("SERVER", re.findall(r"^server (\S+)", text, flags=re.MULTILINE)[0])
    spec.write_text(text, encoding="utf-8")
    names = re.findall(r"^task (\S+)", text, flags=re.MULTILINE)
    scripts = {
        "right": dict(right),
        "wrong": dict.fromkeys(names, WRONG) | TWO_TURNS,
        "judge": {"*": [{"reply": VERDICT}]},
    }
    for script, tasks in scripts.items():
        bench.write(f"specs/{script}.yaml", yaml.safe_dump({"tasks": tasks}))
    bench.run()
    found: dict[str, dict[str, str]] = {}
    for record in bench.reader.records():
        found.setdefault(record.task, {})[record.agent.model] = outcome(record)
    assert set(found) == set(names)
    return found


PASSES = {"right": "pass", "wrong": "wrong_answer"}
SUITES: dict[str, tuple[dict[str, Steps], tuple[str, ...]]] = {
    "evaluation.xml": (
        {
            "how_many_things_stand_on_the_shelf": [{"reply": "1200"}],
            "which_thing_is_the_oldest": [{"reply": "the lamp"}],
            "who_put_the_vase_there": [{"reply": "nobody"}],
            "list_the_things_please": [LIST, {"reply": "nothing"}],
        },
        ("--server", "python shelf.py"),
    ),
    "arbiter.json": (
        {
            "how_many_things_are_there": [{"reply": "There are 2."}],
            "what_is_the_oldest_thing": [{"reply": "the lamp"}],
            "who_was_pascal": [{"reply": "a mathematician"}],
        },
        (),
    ),
    "mcpvals.json": (
        {
            "count_task": [LIST, {"reply": "2"}],
            "talk": [{"reply": "a lamp"}, {"expect": {"user_contains": "first"}, **GET}, {"reply": "the lamp"}],
        },
        (),
    ),
    "lastmile/datasets/shelf.yaml": (
        {
            "lists": [LIST, GET, {"reply": "a lamp"}],
            "polite": [{"reply": "Please"}],
        },
        (),
    ),
    "promptfoo.yaml": (
        {
            "the_first": [LIST, {"reply": "a Lamp"}],
            "the_first_2": [LIST, {"reply": "b, a lamp"}],
            "about_the_shelf_as_json": [{"reply": {"answer": {"count": 2}}}],
        },
        (),
    ),
    "tester.yaml": (
        {"lists_the_things": [LIST, {"reply": "a lamp"}], "says_thanks": [{"reply": "Welcome."}]},
        (),
    ),
    "checker/eval.yaml": ({"find-lamp": [LIST, {"reply": "the lamp"}]}, ()),
    "mcpjam.json": (
        {
            "c_two": [{"reply": "a lamp"}, {"expect": {"user_contains": "first"}, **GET}, {"reply": "the lamp"}],
            "c_neg": [{"reply": "Hi."}],
        },
        ("--server", "python shelf.py"),
    ),
    "dataset.json": ({"lists": [LIST, {"reply": "a lamp and a vase"}]}, ("--server", "python shelf.py")),
    "table.csv": (
        {
            "one": [LIST, {"reply": "x"}],
            "two": [{"reply": "Welcome."}],
            "three": [{"call": {"tool": "get_thing", "arguments": {"number": 0}}}, {"reply": "x"}],
        },
        ("--server", "python shelf.py"),
    ),
    "mcp_evals.yaml": (
        {"oldest": [{"reply": "the lamp"}], "task_task": [{"reply": "x"}]},
        ("--server", "python shelf.py"),
    ),
}
UNTESTABLE = {("evaluation.xml", "who_put_the_vase_there"), ("mcp_evals.yaml", "task_task")}


@pytest.mark.parametrize("name", SUITES)
def test_right_passes_and_wrong_fails(name: str, bench: Bench) -> None:
    right, options = SUITES[name]
    for task, outcomes in run(bench, name, right, *options).items():
        if (name, task) in UNTESTABLE:
            assert outcomes == {"right": "untestable", "wrong": "untestable"}, task
        else:
            assert outcomes == PASSES, task


def test_a_placeholder_says_why(bench: Bench) -> None:
    right, options = SUITES["evaluation.xml"]
    run(bench, "evaluation.xml", right, *options)
    record = next(record for record in bench.reader.records() if record.task == "who_put_the_vase_there")
    assert record.outcome is not None and "__VERIFY_ON_INSTANCE__" in record.outcome.printed + str(
        record.outcome.because
    )


def test_a_placeholder_that_is_filled_in_is_tested(bench: Bench) -> None:
    right, options = SUITES["evaluation.xml"]
    run(bench, "evaluation.xml", right, *options)
    spec = next((bench.root / "specs").glob("*.mcpe"))
    text = spec.read_text(encoding="utf-8")
    spec.write_text(text.replace('_answer = "__VERIFY_ON_INSTANCE__"', '_answer = "Nobody"'), encoding="utf-8")
    bench.run("--select", "task:who_put_the_vase_there", "--fresh")
    assert {record.agent.model: outcome(record) for record in bench.reader.records()} == PASSES


def test_checks_are_carried_out(bench: Bench) -> None:
    right, options = SUITES["tester.yaml"]
    run(bench, "tester.yaml", right, *options)
    done = bench.mcpe("check", "specs")
    assert done.code == 0 and "3 of 3 lines pass" in done.out, done.out + done.err
