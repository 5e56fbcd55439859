"""Semantics, lowering: ordered steps of environments, setup, teardown, reference and undo."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from posixpath import dirname

from mcpeval_dsl.semantics.expressions import (
    CallStep,
    CopyStep,
    Entry,
    Expression,
    ForStep,
    Literal,
    LoadStep,
    PortStep,
    ReadyStep,
    RenderStep,
    Requirement,
    ResetStep,
    RunStep,
    StartStep,
    Step,
    ToolCall,
    UnpackStep,
    WriteStep,
)
from mcpeval_dsl.semantics.lower.addresses import look
from mcpeval_dsl.semantics.lower.conditions import lower_condition, requirement
from mcpeval_dsl.semantics.lower.context import Context, Unlowerable
from mcpeval_dsl.semantics.lower.references import file_text
from mcpeval_dsl.semantics.lower.sources import as_source
from mcpeval_dsl.semantics.lower.values import lower_value
from mcpeval_dsl.semantics.lower.words import Words, only
from mcpeval_dsl.semantics.reader import beside
from mcpeval_dsl.semantics.symbols import Scope, Shape, Symbol, name_text
from mcpeval_dsl.source import Span
from mcpeval_dsl.syntax.tree import (
    Action,
    Binding,
    Block,
    Directive,
    ListValue,
    NamedBinding,
    Ref,
    Statement,
    String,
    Value,
)

NO_STEPS = frozenset({"env", "needs", "scope", "lock", "network", "teardown"})


def lower_steps(ctx: Context, scope: Scope, statements: Sequence[Statement]) -> tuple[Step, ...]:
    """The steps among the statements, in order; a step that binds a name is known to those behind it."""
    steps: list[Step] = []
    for statement in statements:
        with ctx.statement(statement) as alive:
            if alive and (step := _step(ctx, scope, statement)) is not None:
                steps.append(step)
    return tuple(steps)


def _step(ctx: Context, scope: Scope, statement: Statement) -> Step | None:
    if isinstance(statement, Action):
        return lower_call_step(ctx, scope, statement.ref, statement.block, None, statement.span)
    if isinstance(statement, Binding):
        step = lower_call_step(ctx, scope, statement.value, statement.block, statement.name.text, statement.span)
        scope.names[statement.name.text] = Symbol(
            "step", statement.name.text, statement.name.span, statement, step_shape(statement)
        )
        return step
    if isinstance(statement, NamedBinding):
        if statement.keyword.text in NO_STEPS:
            return None
        raise Unlowerable(statement.keyword.span, "a step")
    if isinstance(statement, Directive):
        if statement.name.text in NO_STEPS:
            return None
        handler = _STEPS.get(statement.name.text)
        if handler is not None:
            return handler(ctx, scope, statement)
    raise Unlowerable(statement.span, "a step")


def step_shape(statement: Binding) -> Shape | None:
    """Fields of a bound step: what its block binds; without a block, anything the result has."""
    if statement.block is None:
        return None
    return Shape({s.name.text: None for s in statement.block.statements if isinstance(s, Binding)})


def lower_call_step(
    ctx: Context,
    scope: Scope,
    value: Value,
    block: Block | None,
    name: str | None,
    span: Span,
    take: Callable[[Directive], bool] = lambda _: False,
) -> CallStep:
    """A call with the block over its result; `take` may have a `require` for itself."""
    call = lower_value(ctx, scope, value)
    if not isinstance(call, ToolCall):
        raise Unlowerable(value.span, "a tool call: `server.tool(argument: value)`")
    bindings, requires = result_block(ctx, scope, block, take)
    return CallStep(call, name, bindings, requires, span.location())


def result_block(
    ctx: Context, scope: Scope, block: Block | None, take: Callable[[Directive], bool] = lambda _: False
) -> tuple[tuple[Entry, ...], tuple[Requirement, ...]]:
    """`name = …` and `require …` over a result."""
    if block is None:
        return (), ()
    inner = scope.child(subject=True)
    bindings: list[Entry] = []
    requires: list[Requirement] = []
    for statement in block.statements:
        with ctx.statement(statement) as alive:
            if not alive:
                continue
            if isinstance(statement, Binding):
                bindings.append(Entry(statement.name.text, lower_value(ctx, inner, statement.value)))
                inner.names[statement.name.text] = Symbol(
                    "binding", statement.name.text, statement.name.span, statement
                )
            elif isinstance(statement, Directive) and statement.name.text == "require":
                if not take(statement):
                    requires.append(requirement(ctx, inner, statement))
            else:
                raise Unlowerable(statement.span, "`name = …` or `require …`")
    return tuple(bindings), tuple(requires)


def path_in(ctx: Context, scope: Scope, text: Value) -> Expression:
    """A fixture: a literal path becomes relative to the spec's folder and must exist."""
    if isinstance(text, String) and (not text.has_templates or "{{" not in text.value):
        if text.value.startswith(("/", "~")):
            return Literal(text.value)
        return Literal(ctx.fixture(text.span.file, text.value, text.span))
    return lower_value(ctx, scope, text)


def argv(ctx: Context, scope: Scope, words: Words) -> tuple[Expression, ...]:
    """`"cmd" "arg" …` or `["cmd", …]`; an argument that is a file of the project is noted as a fixture."""
    items: list[Value] = []
    while words:
        items.append(words.value("an argument in quotes"))
    if len(items) == 1 and isinstance(items[0], ListValue):
        items = list(items[0].items)
    if not items:
        raise Unlowerable(words.span, 'a command: "program" "argument"')
    first = items[0]
    if isinstance(first, String) and not first.value.strip():
        hint = 'write the program first, as in "python" "server.py"'
        ctx.problems.report(
            "MCPE358", first.span, "the command begins with an empty text: it names no program", "", hint
        )
    return tuple(_argument(ctx, scope, item, program=index == 0) for index, item in enumerate(items))


def _argument(ctx: Context, scope: Scope, item: Value, program: bool) -> Expression:
    value = lower_value(ctx, scope, item)
    imported = not program and dirname(item.span.file.path) != dirname(ctx.main.path)
    if isinstance(value, Literal) and isinstance(value.value, str) and _pathlike(value.value, imported):
        resolved = beside(item.span.file.path, value.value)
        if ctx.reader.exists(resolved):
            ctx.fixtures[resolved] = None
            return Literal(ctx.from_spec(resolved))
    return value


def _pathlike(text: str, imported: bool) -> bool:
    """May be a file beside the spec; a bare file name is found there anyhow, unless an import of another folder says it."""
    named = "/" in text or (imported and "." in text.strip("."))
    return named and not text.startswith(("/", "-", "@", "~")) and "://" not in text and " " not in text


def _copy(ctx: Context, scope: Scope, statement: Directive) -> Step:
    words = only(statement)
    source = path_in(ctx, scope, words.value())
    to = lower_value(ctx, scope, words.value()) if words.take("to") else None
    words.end()
    return CopyStep(source, to, statement.span.location())


def _pair(ctx: Context, scope: Scope, statement: Directive, keyword: str) -> tuple[Expression, Expression]:
    words = only(statement)
    source = path_in(ctx, scope, words.value())
    if not words.take(keyword):
        raise Unlowerable(words.place, f"`{keyword}` and a path")
    target = lower_value(ctx, scope, words.value())
    words.end()
    return source, target


def _unpack(ctx: Context, scope: Scope, statement: Directive) -> Step:
    return UnpackStep(*_pair(ctx, scope, statement, "to"), statement.span.location())


def _load(ctx: Context, scope: Scope, statement: Directive) -> Step:
    return LoadStep(*_pair(ctx, scope, statement, "into"), statement.span.location())


def _render(ctx: Context, scope: Scope, statement: Directive) -> Step:
    source, target = _pair(ctx, scope, statement, "to")
    entries = tuple(
        Entry(s.name.text, lower_value(ctx, scope, s.value))
        for s in (statement.block.statements if statement.block else ())
        if isinstance(s, Binding)
    )
    return RenderStep(source, target, entries, statement.span.location())


def _write(ctx: Context, scope: Scope, statement: Directive) -> Step:
    words = only(statement)
    path = lower_value(ctx, scope, words.value())
    text = included(ctx, scope, words)
    words.end()
    return WriteStep(path, text, statement.span.location())


def included(ctx: Context, scope: Scope, words: Words) -> Expression:
    """TEXT: a text, a value, or `file "path"` read now."""
    if words.take("file"):
        path = words.string()
        file = ctx.read_text(path.span.file, path.value, path.span)
        return Literal("") if file is None else file_text(ctx, scope, file)
    return lower_value(ctx, scope, words.value("a text"))


def _run(ctx: Context, scope: Scope, statement: Directive) -> Step:
    words, env = argv(ctx, scope, only(statement)), _env(ctx, scope, statement)
    return RunStep(words, _timeout(statement), statement.span.location(), env)


def _start(ctx: Context, scope: Scope, statement: Directive) -> Step:
    words, env = argv(ctx, scope, only(statement)), _env(ctx, scope, statement)
    return StartStep(words, _timeout(statement), statement.span.location(), env)


def _env(ctx: Context, scope: Scope, statement: Directive) -> tuple[Entry, ...]:
    """`env NAME = value` of one process, beside the environment's."""
    lines = statement.block.statements if statement.block else ()
    return tuple(
        Entry(name_text(line.name), lower_value(ctx, scope, line.value))
        for line in lines
        if isinstance(line, NamedBinding) and line.keyword.text == "env"
    )


def _timeout(statement: Directive) -> float | None:
    for inner in statement.block.statements if statement.block else ():
        if isinstance(inner, Directive) and inner.name.text == "timeout":
            return float(only(inner).number().value)
    return None


def _port(ctx: Context, scope: Scope, statement: Directive) -> Step:
    return PortStep(only(statement).name().text, statement.span.location())


def _ready(ctx: Context, scope: Scope, statement: Directive) -> Step:
    words = only(statement)
    probe = words.take("http", "tcp", "exists")
    target = words.value()
    bare = isinstance(target, Ref) and not target.postfixes and scope.find(target.root.text) is None
    value: Expression = (
        Literal(target.root.text) if bare and isinstance(target, Ref) else lower_value(ctx, scope, target)
    )
    if probe is None or not words.take("within"):
        raise Unlowerable(words.place, '`ready http "…" within 10s`')
    if probe != "exists":
        example = "127.0.0.1:{{ port.web }}" if probe == "tcp" else "http://127.0.0.1:{{ port.web }}/health"
        look(ctx, value, target.span, probe, f'ready {probe} "{example}" within 10s')
    seconds = float(words.number().value)
    words.end()
    return ReadyStep(probe, value, seconds, statement.span.location())  # type: ignore[arg-type]  # one of its words


def _reset(ctx: Context, scope: Scope, statement: Directive) -> Step:
    words = only(statement)
    value = words.value("a source")
    source = as_source(lower_value(ctx, scope, value), "what resets", value.span)
    words.end()
    inner = scope.child(subject=True)
    for name in ("status", "headers", "body", "exit", "result", "error", "class", "latency"):
        inner.names[name] = Symbol("variable", name, None)
    _, requires = result_block(ctx, inner, statement.block)
    return ResetStep(source, requires, statement.span.location())


def _for(ctx: Context, scope: Scope, statement: Directive) -> Step:
    words = only(statement)
    head = words.comparison("`for x in list`")
    if head.operator != "in" or not isinstance(head.left, Ref) or head.left.postfixes:
        raise Unlowerable(head.span, "`for x in list`")
    variable = head.left.root.text
    over = lower_value(ctx, scope, head.right)
    inner = scope.child()
    inner.names[variable] = Symbol("loop variable", variable, head.left.span, statement)
    where = lower_condition(ctx, inner, words.comparison()) if words.take("where") else None
    if words.take("key"):
        words.value()
    limit = int(words.number().value) if words.take("limit") else None
    words.end()
    steps = lower_steps(ctx, inner, statement.block.statements if statement.block else ())
    return ForStep(variable, over, where, limit, steps, statement.span.location())


_STEPS: Mapping[str, Callable[[Context, Scope, Directive], Step]] = {
    "copy": _copy,
    "unpack": _unpack,
    "load": _load,
    "render": _render,
    "write": _write,
    "run": _run,
    "start": _start,
    "port": _port,
    "ready": _ready,
    "reset": _reset,
    "for": _for,
}
