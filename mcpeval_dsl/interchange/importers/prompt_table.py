"""Interchange: tables of prompts and the tools they should lead to: CSV, TSV, Markdown, JSON, JSON Lines, YAML."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator
from itertools import islice

from mcpeval_dsl.interchange import graders, words
from mcpeval_dsl.interchange.document import Document
from mcpeval_dsl.interchange.model import Suite, Task
from mcpeval_dsl.interchange.trees.node import Node, Unreadable

NAME = "prompt-table"
TITLE = "table of prompts and tools"
_PROMPT = (
    "prompt question query input utterance user_message message request user_input user_prompt user instruction ask "
    "user_query task"
)
_TOOL = (
    "tool expected_tool tools expected_tools expected_tool_name tool_name function expected_function tool_call "
    "expected_tool_calls expected_call tool_calls target_tool correct_tool tools_expected"
)
_ANSWER = "answer expected_answer expected_output output expected_response expected_result ground_truth expected result"
_TAG = "category tags tag type group difficulty"
_COLUMNS = {
    "prompt": _PROMPT.split(),
    "tool": _TOOL.split(),
    "answer": _ANSWER.split(),
    "arguments": [
        "arguments",
        "args",
        "params",
        "parameters",
        "expected_arguments",
        "expected_args",
        "expected_params",
        "tool_args",
    ],
    "name": ["id", "name", "case", "title", "test_id", "test", "test_name", "case_id"],
    "behaviour": [
        "expected_behavior",
        "expected_behaviour",
        "expected_outcome",
        "criteria",
        "rubric",
        "behavior",
        "behaviour",
    ],
    "tag": _TAG.split(),
}
_NONE = re.compile(
    r"\W*(?:no(?:ne)?(?:[ _-]*tools?)?(?:[ -]+calls?)?(?:[ -]+(?:expected|needed|required))?|abstain|nothing|null|n/a)?"
    r"\W*(?:[—–(-].*)?",
    re.IGNORECASE | re.DOTALL,
)
_TELLING = {
    "prompt": {"prompt", "question", "query", "utterance"},
    "tool": {"tool", "tools", "function"},
    "answer": {"answer"},
}
"""Words of a column's name that tell what it is, where no name is known: `Test Prompt`, `Expected tool and arguments`."""
MOST_ROWS = 20_000
_ABSENT = "\0"

Row = tuple[dict[str, str], int]


def is_this(document: Document) -> bool:
    try:
        rows = list(islice(_rows(document), 5))
    except Unreadable:
        return False
    return any(_has(row, "prompt") and (_has(row, "tool") or _has(row, "answer")) for row, _ in rows)


def load(document: Document, suite: Suite) -> None:
    used: set[str] = set()
    for number, (row, line) in enumerate(_rows(document), 1):
        if number > MOST_ROWS:
            suite.note("lost", f"rows behind the first {MOST_ROWS:,}", document.shown, line)
            return
        known = {_column(row, what) for what in _COLUMNS}
        for key in row:
            if key not in used and key not in known and not any(key in names for names in _COLUMNS.values()):
                suite.note("lost", f"the column `{key[:40]}`", document.shown, line)
            used.add(key)
        _task(suite, document, row, line)


def _task(suite: Suite, document: Document, row: dict[str, str], line: int) -> None:
    prompt, name = row.get(_column(row, "prompt"), ""), row.get(_column(row, "name"), "")
    title = name if " " in name else ""
    task = suite.task(title, name or " ".join(prompt.split()[:5]), document.shown, line)
    task.prompt = _unquoted(prompt.strip())
    if not task.prompt:
        suite.drop(task, "it has no prompt")
        return
    gap = re.search(r"<[A-Za-z][\w -]{1,40}>", task.prompt)
    if gap is not None:
        said = f"the prompt has places to be filled in, such as {gap.group()}"
        suite.note("look", said, document.shown, line, task.name)
    tag = words.tags(re.split(r"[,;|]", row.get(_column(row, "tag"), "")))
    if tag:
        task.add("tags", tag)
    _tools(suite, document, task, row, line)
    answer = row.get(_column(row, "answer"), "")
    if answer.strip():
        graders.answer(
            suite, task, answer, line, graders.contains([answer.strip()]) if not graders.is_prose(answer) else None
        )
    behaviour = row.get(_column(row, "behaviour"), "").strip()
    if not task.graded and behaviour:
        graders.judged_by(suite, task, [f"The answer is as expected: {behaviour}"])
    if not task.graded:
        graders.untestable(suite, task, "", line)


def _tools(suite: Suite, document: Document, task: Task, row: dict[str, str], line: int) -> None:
    column = _column(row, "tool")
    said = row.get(column, "").strip()
    if not _has(row, "tool") or (not said and _has(row, "answer")):
        return
    if _NONE.fullmatch(said):
        task.add("tags", "abstain")
        task.add("grade", "calls none(*)")
        return
    tools = _named(said)
    given = _arguments(row.get(_column(row, "arguments"), ""))
    if not tools:
        suite.note("lost", f"`{said[:60]}` names no tool", document.shown, line, task.name)
    patterns = [graders.called(suite, tool, given if number == 0 else {}) for number, tool in enumerate(tools)]
    if len(patterns) > 1 and re.search(r"→|->|=>|\bthen\b", said):
        patterns = [graders.in_order(patterns)]
    for pattern in patterns:
        task.add("grade", f"calls {pattern}")
    graders.permits(suite, task, tools)


def _named(said: str) -> list[str]:
    """Names in a cell: a list in JSON, or parted by commas, arrows and the like, in backquotes or not."""
    try:
        data = json.loads(said)
    except ValueError:
        data = None
    if isinstance(data, list):
        parts = [
            str(each.get("name") or each.get("tool") or "") if isinstance(each, dict) else str(each) for each in data
        ]
    elif isinstance(data, dict):
        parts = [str(data.get("name") or data.get("tool") or "")]
    else:
        plain = re.split(r"\s+with\s+", said, maxsplit=1)[0].replace("`", "")
        parts = re.split(r"\s*(?:,|;|\||→|->|=>|\+|\band\b|\bthen\b|\n)\s*", plain)
    found = [re.sub(r"\(.*\)$", "", part.strip()) for part in parts]
    return [name for name in found if re.fullmatch(r"[A-Za-z_][\w./:-]*", name)]


def _unquoted(text: str) -> str:
    """Without quotes round the whole of it."""
    found = re.fullmatch(r"[\"“”](.+)[\"“”]", text, re.DOTALL)
    return found[1] if found is not None and not re.search(r"[\"“”]", found[1]) else text


def _arguments(said: str) -> dict[str, object]:
    try:
        data = json.loads(said)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _column(row: dict[str, str], what: str) -> str:
    exact = next((name for name in _COLUMNS[what] if name in row), None)
    if exact is not None or what not in _TELLING:
        return exact or _ABSENT
    return next((name for name in row if _TELLING[what] & set(name.split("_"))), _ABSENT)


def _has(row: dict[str, str], what: str) -> bool:
    return _column(row, what) in row


def _key(text: str) -> str:
    if text.strip() in ("#", "№", "No.", "no"):
        return "id"
    return re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text.strip().strip("*`")).lower()).strip(
        "_"
    )


def _rows(document: Document) -> Iterator[Row]:
    if document.kind == "table":
        suffix = document.shown.lower().rsplit(".", 1)[-1]
        yield from _markdown(document.text) if suffix in ("md", "markdown") else _separated(document.text, suffix)
        return
    if document.kind == "xml":
        return
    root = document.root
    lists = (
        [root]
        if root.kind == "list"
        else [node for key, node in root.pairs.items() if node.kind == "list" and " " not in key]
    )
    for each in lists:
        for item in each.items:
            if item.kind == "map":
                yield {_key(key): _cell(value) for key, value in item.pairs.items()}, item.line
    prompts = bool(root.pairs) and all(" " in key.strip() and value.kind != "map" for key, value in root.pairs.items())
    if root.kind == "map" and prompts:  # prompt -> tool
        for key, value in root.pairs.items():
            yield {"prompt": key, "tool": _cell(value)}, root.line_of(key)


def _cell(node: Node) -> str:
    if node.kind in ("map", "list"):
        return json.dumps(node.plain(), ensure_ascii=False)
    return "" if node.kind == "null" else node.raw


def _separated(text: str, suffix: str) -> Iterator[Row]:
    first = text.split("\n", 1)[0]
    delimiter = "\t" if suffix == "tsv" or "\t" in first else ";" if first.count(";") > first.count(",") else ","
    reader = csv.reader(io.StringIO(text), delimiter=delimiter)
    try:
        head = [_key(cell) for cell in next(reader, [])]
        line = reader.line_num
        for row in reader:
            if any(cell.strip() for cell in row):
                yield dict(zip(head, row, strict=False)), line + 1
            line = reader.line_num
    except csv.Error as error:
        raise Unreadable(f"it is no table: {error}", reader.line_num) from None


def _markdown(text: str) -> Iterator[Row]:
    head: list[str] = []
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        cells = _cells(line)
        if not cells:
            head = []
        elif not head:
            following = lines[number] if number < len(lines) else ""
            if re.fullmatch(r"\s*\|?[\s:|-]*-[\s:|-]*", following):
                head = [_key(cell) for cell in cells]
        elif not re.fullmatch(r"\s*\|?[\s:|-]*-[\s:|-]*", line):
            yield dict(zip(head, cells, strict=False)), number


def _cells(line: str) -> list[str]:
    line = line.strip()
    if "|" not in line:
        return []
    parts = re.split(r"(?<!\\)\|", line.removeprefix("|").removesuffix("|"))
    return [re.sub(r"<br\s*/?>", "\n", part).replace("\\|", "|").replace("\\<", "<").strip() for part in parts]
