"""Semantics, the table: graders, how each compares, and its weight."""

from __future__ import annotations

from mcpeval_dsl.semantics.directives.blocks import GRADERS as GRADER_NAMES
from mcpeval_dsl.semantics.directives.model import Directive, define
from mcpeval_dsl.semantics.directives.operands import (
    NOTHING,
    WEIGHT,
    WITHIN,
    Argv,
    Commas,
    Condition,
    Grader,
    ListValue,
    Maybe,
    NameOf,
    Operand,
    Path,
    Pattern,
    Quoted,
    RegexValue,
    Source,
    Value,
    either,
    options,
    quantity,
    seq,
    text,
    word,
)

_SAID = "grade_exact grade_one_of grade_contains grade_set grade_json"
_ANSWER = _SAID + " grade_state"
_ALL = " ".join(f"grade_{name}" for name in GRADER_NAMES)


def _grader(
    name: str, operands: Operand, doc: str, example: str, *, need: str = "?", negatable: bool = False
) -> Directive:
    return define(
        name,
        "grade_any",
        operands,
        doc,
        example,
        block=f"grade_{name}{need}",
        repeat="add",
        negatable=negatable,
    )


GRADERS: tuple[Directive, ...] = (
    define(
        "grade",
        "task profile when turn every",
        Grader(),
        "A verdict on the trial. Several are joined by *and*; `weight 0` reports without deciding.",
        "grade exact ada.employer { ignore case, punctuation }",
        repeat="add",
    ),
    _grader(
        "exact",
        seq(Value(), Maybe(WEIGHT)),
        "The answer equals the value.",
        'exact "yes" { ignore case }',
        negatable=True,
    ),
    _grader(
        "one_of",
        seq(ListValue(), Maybe(WEIGHT)),
        "The answer equals one of the values.",
        'one_of ["open", "pending"]',
    ),
    _grader(
        "contains",
        seq(Commas(Value()), Maybe(WEIGHT)),
        "The answer contains each of the values.",
        "contains billing.key, billing.assignee",
        negatable=True,
    ),
    _grader(
        "regex",
        seq(RegexValue(), Maybe(WEIGHT)),
        "The answer matches the pattern (RE2).",
        "regex /TypeError: .*undefined/",
        negatable=True,
    ),
    _grader(
        "number",
        seq(Value(), options(WITHIN, WEIGHT)),
        "The answer's number equals the value, within a tolerance.",
        "number progress.done within 0.5",
    ),
    _grader(
        "set",
        seq(Value(), Maybe(WEIGHT)),
        "The answer names these things and no others; F1 is reported.",
        'set ["change 1", "change 2"]',
    ),
    _grader(
        "json",
        seq(Condition(), options(WITHIN, WEIGHT)),
        "A condition on the answer, read as JSON.",
        "json $.total == acme.total within 1",
    ),
    _grader(
        "state",
        seq(Maybe(Source()), Condition(), options(WITHIN, WEIGHT)),
        "A condition on a source or a truth, read after the trial.",
        'state tracker.get_issue(key: billing.key) $.labels has "needs-review"',
    ),
    _grader(
        "same_state",
        Maybe(WEIGHT),
        "The views are equal to those after `reference` in a second fresh environment.",
        "same_state { view memory.read_graph(); ignore $..updated_at }",
    ),
    _grader(
        "unchanged",
        seq(Source(), options(seq(word("except", label="except_word"), ListValue("except")), WEIGHT)),
        "The source reads the same after the trial as before.",
        'unchanged files("{{ workdir }}") except ["todo.md"]',
    ),
    _grader(
        "results",
        seq(word("has", label="has_word"), word("reference", label="reference_word"), Maybe(WEIGHT)),
        "The results of the agent's calls contain those of the reference calls.",
        "results has reference",
    ),
    _grader(
        "calls",
        seq(Commas(Pattern()), Maybe(WEIGHT)),
        "The calls of the transcript match; patterns as in `expect`, but deciding.",
        "calls at_most(2, get_item), none(delete_*)",
    ),
    _grader("evidence", Maybe(WEIGHT), "The answer's facts came from tool results, not from memory.", "evidence"),
    _grader(
        "judge",
        either(WEIGHT, seq(NameOf(("judge", "model"), "judge"), Maybe(WEIGHT)), NOTHING),
        "A model judges claims about the answer. A judge that fails gives a missing verdict, never a failure.",
        'judge { claim "says that there is no such project" }',
        need="",
    ),
    _grader(
        "command",
        Argv(),
        "A verifier of your own: exit code 0, or a JSON verdict on stdout.",
        'command "python" "verify.py" { exit 0 }',
    ),
    _grader(
        "python",
        seq(Quoted('"module:function"', "function"), Maybe(WEIGHT)),
        "A Python function as a grader.",
        'python "graders.tracker:oldest"',
    ),
    _grader(
        "any", Maybe(WEIGHT), "At least one of the graders inside says yes.", 'any { exact "yes"; exact "no" }', need=""
    ),
    define("not", "grade_any", Grader(), "The grader must say no.", 'not contains "error"', repeat="add"),
)

COMPARING: tuple[Directive, ...] = (
    define(
        "weight", _ALL + " claim", quantity("number", "weight"), "0 reports without deciding.", "weight 0", default="1"
    ),
    define(
        "ignore",
        _ANSWER + " grade_results grade_regex",
        Commas(word("case", "whitespace", "punctuation", "commas", label="ignored")),
        "What does not count when texts are compared.",
        "ignore case, punctuation",
        repeat="add",
    ),
    define(
        "ignore",
        "grade_same_state grade_unchanged",
        Commas(
            either(
                Path("ignored_path"),
                Quoted("a file pattern", "ignored_files"),
                word("case", "whitespace", "punctuation", "commas", label="ignored"),
            )
        ),
        "Side effects that do not count: JSONPaths into a view, or file patterns.",
        "ignore $..updated_at",
        repeat="add",
    ),
    define(
        "format",
        _ANSWER + " grade_number",
        Quoted("a format", "format"),
        "The form the answer has.",
        'format "YYYY/MM/DD"',
    ),
    define(
        "as",
        _ANSWER,
        word("date", "number", "json", "groups", label="as"),
        "Both sides are read as this before they are compared.",
        "as date",
    ),
    define(
        "unordered",
        _ANSWER + " grade_same_state",
        NOTHING,
        "The order of lists does not count.",
        "unordered",
    ),
    define(
        "numbers",
        _ANSWER + " grade_number grade_same_state",
        seq(word("within", label="within_word"), quantity("percent", "tolerance")),
        "Numbers this near count as equal.",
        "numbers within 1%",
    ),
    define(
        "any_message",
        _SAID + " grade_regex grade_number grade_judge grade_evidence",
        NOTHING,
        "Any message of the agent counts, not only the last.",
        "any_message",
    ),
    define(
        "session",
        "grade_state grade_unchanged grade_same_state",
        word("same", "fresh", label="session"),
        "Whether the source is read in the agent's session or in a new one.",
        "session same",
        default="fresh",
    ),
    define(
        "view", "grade_same_state", Source(), "What of the state is compared.", "view memory.read_graph()", repeat="add"
    ),
    define(
        "exit",
        "grade_command",
        quantity("count", "exit", whole=True),
        "The exit code that means yes.",
        "exit 0",
        default="0",
    ),
    define(
        "timeout",
        "grade_command grade_python grade_judge",
        quantity("duration", "duration", least=0.001),
        "The longest the grader may take; after that its verdict is missing.",
        "timeout 20s",
        default="60s",
    ),
)

JUDGING: tuple[Directive, ...] = (
    define(
        "claim",
        "grade_judge",
        seq(Maybe(word("disclose", label="disclose")), text("a claim"), Maybe(WEIGHT)),
        "Something the judge finds true or not of the trial.",
        'claim "names the issue that was labelled" weight 2',
        block="claim?",
        repeat="add",
    ),
    define(
        "transcript",
        "judge grade_judge",
        word("whole", "answer", label="transcript"),
        "What the judge reads.",
        "transcript whole",
        default="answer",
    ),
)
