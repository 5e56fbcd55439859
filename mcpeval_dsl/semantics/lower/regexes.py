"""Semantics, lowering: regular expressions and JSONPaths that the run could not use are found here."""

from __future__ import annotations

import re

from mcpeval_dsl.semantics.lower.context import Context
from mcpeval_dsl.source import Span

_PLAIN = re.compile(
    r"""\$(?:\.\.?[A-Za-z_][\w]*|\.\.?\*|\[(?:-?\d+|\*|'[^'\\]*'|"[^"\\]*")\]"""
    r"""|\[\?@(?:\.[A-Za-z_]\w*)+(?:\ ?(?:==|!=|<=|>=|<|>)\ ?(?:'[^'\\]*'|"[^"\\]*"|-?\d+(?:\.\d+)?|true|false|null))?\])*""",
    re.VERBOSE,
)
_ATOM = (
    r"(?:\\[dwsDWSbB.\-/\[\](){}+*?|^$\"']"
    r"|\[\^?(?:\\[dws.\-\]\[/]|a-z|A-Z|0-9|[\w .,:;_/%$#@!'\"<>=&~])+\]"
    r"|[^\\\[\](){}*+?|])(?:[*+?]\??)?"
)
_SURELY_FINE = re.compile(rf"(?:{_ATOM}|\((?:{_ATOM}|\|)+\)|\|)*")
_TEMPLATE = re.compile(r"\{\{.*?\}\}")
_LIMITS = (
    (re.compile(r"\(\?(?:[=!]|<[=!])"), "look-ahead and look-behind do not exist in RE2", "match the context too"),
    (re.compile(r"\\[1-9]|\(\?P="), "back-references do not exist in RE2", "compare two captures instead"),
    (re.compile(r"\(\?>|[*+?}]\+"), "atomic groups and possessive repeats do not exist in RE2", "drop the `+`"),
)


def check_regex(ctx: Context, pattern: str, flags: str, span: Span) -> None:
    """Report a pattern that RE2 (linear time, no back-tracking) cannot express; common ones need no library."""
    if _SURELY_FINE.fullmatch(pattern):
        return
    import re2

    try:
        re2.compile(with_flags(pattern, flags), _quiet())
    except re2.error as fault:
        reason, hint = _explain(pattern, fault)
        title = "this regular expression cannot be used: " + reason
        ctx.problems.report("MCPE313", span, title, "Patterns are RE2: they match in linear time.", hint)


def with_flags(pattern: str, flags: str) -> str:
    """The pattern with its flags inside; `x` does not exist in RE2 and is undone before."""
    known = "".join(f for f in flags if f in "ims")
    return f"(?{known}){pattern}" if known else pattern


_options: list[object] = []


def _quiet() -> object:
    import re2

    if not _options:
        options = re2.Options()
        options.log_errors = False
        _options.append(options)
    return _options[0]


def _explain(pattern: str, fault: Exception) -> tuple[str, str]:
    for sign, reason, hint in _LIMITS:
        if sign.search(pattern):
            return reason, hint
    text = fault.args[0] if fault.args else ""
    message = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
    return message or "it is not complete", "correct the pattern"


def check_jsonpath(ctx: Context, path: str, span: Span) -> None:
    """Report a path that RFC 9535 does not allow. Common forms are recognised without loading the library."""
    probe = _TEMPLATE.sub("0", path)
    if _PLAIN.fullmatch(probe):
        return
    import jsonpath_rfc9535

    try:
        jsonpath_rfc9535.compile(probe)
    except (jsonpath_rfc9535.JSONPathError, RecursionError) as fault:
        reason = str(fault).split("\n", 1)[0].split(", line", 1)[0]
        if isinstance(fault, RecursionError):
            reason = "it is nested too deeply"
        title = f"this is no valid JSONPath: {reason}"
        ctx.problems.report("MCPE314", span, title, "Paths follow RFC 9535.", "for example `$.items[0].id`")
