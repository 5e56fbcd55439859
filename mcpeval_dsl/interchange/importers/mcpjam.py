"""Interchange: MCPJam: the suite file (`schemaVersion` 1) with its steps and assertions, and the older list of `tests`."""

from __future__ import annotations

from mcpeval_dsl.interchange import calls, graders, models, servers, words
from mcpeval_dsl.interchange.document import Document
from mcpeval_dsl.interchange.importers import mcpjam_assertions
from mcpeval_dsl.interchange.model import Suite, Task, Turn
from mcpeval_dsl.interchange.trees.node import Node

NAME = "mcpjam"
TITLE = "MCPJam suite"
_CASE = frozenset(
    [
        "id",
        "title",
        "steps",
        "assertions",
        "expectedOutput",
        "isNegativeTest",
        "model",
        "repetitions",
        "passThreshold",
        "disabled",
        "import",
    ]
)


def is_this(document: Document) -> bool:
    root = document.root
    if any("steps" in case.pairs and "title" in case.pairs for case in root.list_of("cases")):
        return True
    tests = root.list_of("tests") if root.kind == "map" else root.items
    return any(
        {"prompt", "query"} & set(test.pairs) and {"expectedTools", "expectedToolCalls"} & set(test.pairs)
        for test in tests
    )


def load(document: Document, suite: Suite) -> None:
    root = document.root
    about = root.get("suite")
    if about is not None:
        suite.title, suite.name = about.text("name"), about.text("id")
    found = root.get("mcpServers")
    if found is not None and not suite.servers:
        servers.from_map(suite, found, document.shown, document.folder)
    target = root.get("target")
    if not suite.servers and target is not None:
        for server in target.list_of("servers"):
            servers.placeholder(suite, document.shown, server.text("name") or server.raw)
    defaults = root.get("defaults")
    if defaults is not None:
        _defaults(suite, document, defaults)
    for case in root.list_of("cases"):
        _case(suite, document, case)
    for test in root.list_of("tests") if root.kind == "map" else root.items:
        _test(suite, document, test)


def _defaults(suite: Suite, document: Document, defaults: Node) -> None:
    models.use(suite, defaults.text("model"), defaults.text("provider"))
    suite.trials = defaults.whole("repetitions")
    for key, why in (
        ("passThreshold", "say it in a `gate`, for example `require task_success >= 80%`"),
        ("validity", "a run with too much untested is never a pass here"),
        ("toolPolicy", "say it with `annotations` and `may`"),
    ):
        if defaults.get(key) is not None:
            suite.note("lost", f"`{key}`: {why}", document.shown, defaults.line_of(key))


def _case(suite: Suite, document: Document, case: Node) -> None:
    task = suite.task(case.text("title"), case.text("id"), document.shown, case.line)
    if case.flag("disabled"):
        suite.drop(task, "it is switched off")
        return
    prompts = [step for step in case.list_of("steps") if step.text("kind") == "prompt" and step.text("prompt").strip()]
    if not prompts:
        _calls_alone(suite, document, case, task)
        return
    if len(prompts) == 1:
        task.prompt = prompts[0].text("prompt")
    else:
        task.turns = [Turn(step.text("prompt")) for step in prompts]
    _steps(suite, document, case, task)
    for each in case.list_of("assertions"):
        mcpjam_assertions.add(suite, document, task, each)
    if case.whole("repetitions"):
        task.add("trials", str(case.whole("repetitions")))
    if case.flag("isNegativeTest"):
        task.add("tags", "abstain")
        if not any("calls" in each.text for each in task.statements):
            task.add("grade", "calls none(*)")
    _expected(suite, document, case, task)
    for key in case.pairs:
        if key not in _CASE or key in ("model", "passThreshold"):
            suite.note("lost", f"`{key}`", document.shown, case.line_of(key), task.name)


def _expected(suite: Suite, document: Document, case: Node, task: Task) -> None:
    expected = case.text("expectedOutput")
    if expected:
        claim = f"The answer agrees with what is expected: {expected}"
        decides = not task.graded
        suite.judged = True
        task.add("grade", graders.judge([claim]) if decides else f"judge weight 0 {graders.judge([claim])[6:]}")
        said = "`expectedOutput` is given to a judge" + ("" if decides else ", which reports and does not decide")
        suite.note("changed", said, document.shown, case.line_of("expectedOutput"), task.name)
    if not task.graded:
        graders.judge_alone(suite, task, case.line, "nothing is asserted")


def _steps(suite: Suite, document: Document, case: Node, task: Task) -> None:
    turn = -1
    for step in case.list_of("steps"):
        kind = step.text("kind")
        if kind == "prompt":
            turn += 1
        elif kind == "assert" and (assertion := step.get("assertion")) is not None:
            written = mcpjam_assertions.add(suite, document, task, assertion, in_turn=bool(task.turns) and turn >= 0)
            if task.turns and turn >= 0:
                task.turns[turn].statements += written
        elif kind == "toolCall" and turn < 0:
            server = calls.server_of(suite, document.shown, step.text("serverName"))
            arguments = step.plain_map("arguments").items()
            written_call = ", ".join(f"{words.argument(k)}: {words.value(v)}" for k, v in arguments)
            task.add("setup", f"{{ {words.tool(server, step.text('toolName'))}({written_call}) }}")
        else:
            said = f"a step `{kind[:20]}`: only what is said and called is played"
            suite.note("lost", said, document.shown, step.line, task.name)


def _calls_alone(suite: Suite, document: Document, case: Node, task: Task) -> None:
    """A case without a prompt is a test of the server; its calls become checks."""
    steps = [step for step in case.list_of("steps") if step.text("kind") == "toolCall"]
    if not steps:
        suite.drop(task, "it has no prompt")
        return
    suite.forget(task)
    suite.found -= 1
    for step in steps:
        calls.direct(
            suite,
            document.shown,
            step.text("toolName"),
            step.plain_map("arguments"),
            ["class == none"],
            title=task.title,
            server=step.text("serverName"),
        )
    suite.note("changed", f"the case `{task.title}` has no prompt: its calls became checks", document.shown, case.line)


def _test(suite: Suite, document: Document, test: Node) -> None:
    """The older form: a prompt and the tools that should be called."""
    task = suite.task(test.text("title", "name"), test.text("id"), document.shown, test.line)
    task.prompt = test.text("prompt", "query")
    if not task.prompt.strip():
        suite.drop(task, "it has no prompt")
        return
    model, advanced = test.get("model"), test.get("advancedConfig")
    if model is not None:
        models.use(suite, model.text("id") or model.raw, model.text("provider"))
    if advanced is not None:
        task.system = advanced.text("instructions", "system")
        if advanced.whole("maxSteps"):
            task.add("budget", f"turns <= {advanced.whole('maxSteps')}")
    if test.whole("runs"):
        task.add("trials", str(test.whole("runs")))
    wanted = test.list_of("expectedTools", "expectedToolCalls")
    for each in wanted:
        name = each.text("toolName", "name") or each.raw
        task.add("grade", f"calls {graders.called(suite, name, each.plain_map('arguments'))}")
    graders.permits(suite, task, [each.text("toolName", "name") or each.raw for each in wanted])
    if not wanted:
        task.add("grade", "calls none(*)")
