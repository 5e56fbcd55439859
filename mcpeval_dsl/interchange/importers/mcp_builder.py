"""Interchange: `evaluation.xml` of the mcp-builder skill (`qa_pair`, `question`, `answer`) and what people made of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from mcpeval_dsl.interchange import calls, graders, words
from mcpeval_dsl.interchange.document import Document
from mcpeval_dsl.interchange.model import Suite, Task
from mcpeval_dsl.interchange.trees.xml_tree import Element, read

NAME = "mcp-builder"
TITLE = "mcp-builder evaluation.xml"

QUESTIONS = (
    "question",
    "prompt",
    "query",
    "user_query",
    "task_description",
    "user_input",
    "instruction",
    "scenario_prompt",
)
ANSWERS = (
    "answer",
    "expected_answer",
    "expected_result",
    "expected_response",
    "ground_truth",
    "correct_answer",
    "response",
)
TOOLS = ("expected_tool", "expected_tools", "required_tools", "tools_required", "tools", "tools_needed", "tool_calls")
FORBIDDEN = ("forbidden_tools", "prohibited_tools", "tools_not_used")
TITLES = ("task_name", "title", "name", "description")
TAGS = ("category", "tag", "tags", "complexity", "type")
_LEAVES = frozenset({*QUESTIONS, *ANSWERS, "task_name", "title", "category", "expected_tool", "notes"})
_BLOCKS = frozenset(
    {"evaluation", "evaluations", "qa_pair", "qa_pairs", "pair", "task", "tasks", "test", "test_case", "eval"}
)


def is_this(document: Document) -> bool:
    return (
        document.kind == "xml"
        and re.search(r"<(?:qa_pair|qa_pairs|evaluations?|question)\b", document.text) is not None
    )


def load(document: Document, suite: Suite) -> None:
    found = read(document.text, _LEAVES, _BLOCKS)
    for repair in found.repairs[:50]:
        suite.note("changed", repair.what, document.shown, repair.line)
    if len(found.repairs) > 50:
        suite.note("changed", f"{len(found.repairs) - 50} repairs more", document.shown, found.repairs[50].line)
    name = next((each.text.strip() for each in found.root.walk() if each.tag == "server_name"), "")
    suite.title = suite.title or (f"Evaluation of {name}" if name else "")
    said = False
    for element in _tasks(found.root):
        said = _task(suite, document, element) or said
    if said:
        text = (
            "answers were compared by character; here case and blanks do not count, and numbers are compared as numbers"
        )
        suite.note("changed", text, document.shown, 1)


def _tasks(root: Element) -> Iterator[Element]:
    """Elements that have a question, and those that only say which tool with which arguments."""
    for element in root.walk():
        if element.tag in ("params", "parameters", "arguments", "args", "input"):
            continue
        if (
            element.child(*QUESTIONS) is not None
            or "question" in element.attributes
            or (
                element.tag in ("pair", "qa_pair", "scenario", "test_case")
                and element.child("input", "tool", "steps") is not None
            )
        ):
            yield element


def _task(suite: Suite, document: Document, element: Element) -> bool:
    """True where an answer is compared as a whole."""
    question = element.child(*QUESTIONS)
    if question is None and "question" not in element.attributes:
        _direct(suite, document, element)
        return False
    prompt = _dedented(question.text if question is not None else element.attributes.get("question", ""))
    title = _first(element, TITLES) or element.attributes.get("name", "")
    task = suite.task(title or _short(prompt), title or "", document.shown, element.line)
    if not prompt:
        suite.drop(task, "it has no question")
        return False
    task.prompt = prompt
    tags = _all_of(element, TAGS)
    if tags:
        task.add("tags", words.tags(tags))
    if element.child("difficulty") is not None:
        task.add("difficulty", words.slug(_first(element, ("difficulty",)), "level"))
    tools = [*_tool_names(element, TOOLS)]
    known = _arguments(suite, document, element, task)
    for name in [name for name in tools if name not in known]:
        task.add("expect", suite.tool(name))
    forbidden = _tool_names(element, FORBIDDEN)
    if forbidden:
        task.add("grade", f"calls none({', '.join(suite.tool(name) for name in forbidden)})")
    graders.permits(suite, task, [*tools, *known])
    whole = _answer(suite, document, element, task)
    _rest(suite, document, element, task)
    if not task.graded and tools:
        task.add("grade", "calls " + ", ".join(suite.tool(name) for name in tools))
    if not task.graded:
        graders.untestable(suite, task, "", element.line)
    return whole


def _direct(suite: Suite, document: Document, element: Element) -> None:
    """A tool with its parameters and no question: a call without a model."""
    asked = element.child("input") or element
    tool = asked.child("tool", "tool_name")
    if tool is None:
        suite.note("lost", f"<{element.tag}> has no question and no tool", document.shown, element.line)
        return
    given = asked.child("params", "parameters", "arguments", "args")
    plain = {each.tag: _typed(each.text.strip()) for each in given.children} if given is not None else {}
    requires = ["class == none"]
    expected = element.child("expected_output", "expected", "validation")
    for each in expected.children if expected is not None else ():
        if each.tag == "contains" and each.text.strip():
            requires.append(calls.says(each.text.strip()))
        else:
            suite.note("lost", f"<{each.tag}> has no counterpart in a check", document.shown, each.line)
    calls.direct(suite, document.shown, tool.text.strip(), plain, requires, title=_first(element, TITLES))


def _answer(suite: Suite, document: Document, element: Element, task: Task) -> bool:
    answer = element.child(*ANSWERS)
    if answer is None and "answer" not in element.attributes:
        return False
    text = " ".join((answer.text if answer is not None else element.attributes["answer"]).split())
    line = answer.line if answer is not None else element.line
    if answer is not None and answer.tag != "answer" and graders.is_prose(text):
        graders.judged_by(suite, task, [f"The answer agrees with this one: {text}"])
        suite.note("changed", f"<{answer.tag}> in many words is given to a judge", document.shown, line, task.name)
        return False
    graders.answer(suite, task, text, line)
    return not task.placeholder and graders.as_number(text) is None


def _arguments(suite: Suite, document: Document, element: Element, task: Task) -> list[str]:
    """`argument_assertions` -> one call with the arguments that must be so; the tools that were spoken of."""
    block = element.child("argument_assertions", "expected_arguments")
    told: dict[str, dict[str, str]] = {}
    for each in block.children if block is not None else ():
        tool, path, value = (each.attributes.get(key, "") for key in ("tool", "path", "equals"))
        if not tool or not path or "." in path or "[" in path or "equals" not in each.attributes:
            what = " ".join(f"{key}={text!r}" for key, text in each.attributes.items())
            suite.note("lost", f"an assertion on arguments: {what[:120]}", document.shown, each.line, task.name)
            continue
        told.setdefault(tool, {})[path] = value
    for tool, arguments in told.items():
        pattern = words.call(suite.tool(tool), {key: _typed(value) for key, value in arguments.items()})
        task.add("grade", f"calls {pattern}")
    return list(told)


def _typed(text: str) -> object:
    number = graders.as_number(text)
    if number is not None:
        return float(number) if "." in number else int(number)
    return {"true": True, "false": False}.get(text, text)


_SEEN = frozenset(
    {*QUESTIONS, *ANSWERS, *TOOLS, *FORBIDDEN, *TITLES, *TAGS, "difficulty", "id", "task_id", "argument_assertions"}
    | {"expected_arguments"}
)


def _rest(suite: Suite, document: Document, element: Element, task: Task) -> None:
    for child in element.children:
        if child.tag in ("notes", "note", "rationale", "explanation", "reasoning"):
            task.comments.append(_short(child.text, 200))
            suite.note("changed", f"<{child.tag}> became a comment", document.shown, child.line, task.name)
        elif child.tag not in _SEEN:
            suite.note("lost", f"<{child.tag}> has no counterpart", document.shown, child.line, task.name)


def _tool_names(element: Element, tags: tuple[str, ...]) -> list[str]:
    found: list[str] = []
    for tag in tags:
        block = element.child(tag)
        if block is None:
            continue
        for each in block.children or [block]:
            name = each.attributes.get("name") or each.text
            found += [part for part in re.split(r"[\s,;]+", name.strip()) if re.fullmatch(r"[\w./:-]+", part)]
    return list(dict.fromkeys(found))


def _first(element: Element, tags: tuple[str, ...]) -> str:
    found = element.child(*tags)
    return found.text.strip() if found is not None else ""


def _all_of(element: Element, tags: tuple[str, ...]) -> list[str]:
    found = [child for child in element.children if child.tag in tags]
    return [part for child in found for part in re.split(r"[,;|]", child.text) if part.strip()]


def _short(text: str, most: int = 70) -> str:
    """The first sentence, cut at a word."""
    text = " ".join(text.split())
    text = re.split(r"(?<=[.?!。？！])\s+", text)[0] if most < 100 else text
    return text if len(text) <= most else text[: most - 1].rsplit(" ", 1)[0] + "…"


def _dedented(text: str) -> str:
    """A question of one paragraph on one line; one of several as it stands, without its indentation."""
    import textwrap

    text = textwrap.dedent(text.expandtabs(4)).strip("\n").strip()
    if re.search(r"\n\s*\n|\n\s*[-*\d]+[.)]?\s", text):
        return "\n".join(line.rstrip() for line in textwrap.dedent(text).split("\n"))
    return " ".join(text.split())
