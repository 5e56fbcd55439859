"""Make mcpeval_dsl/syntax/tables.json from grammar/mcpe.lark and grammar/messages.toml.

python tools/syntax_tables.py            write the file
python tools/syntax_tables.py --missing  print a shortest sentence for each parser state without a message
"""

from __future__ import annotations

import hashlib
import json
import logging
import sys
import tomllib
from collections import deque
from pathlib import Path
from typing import Any

import lark

ROOT = Path(__file__).resolve().parent.parent
GRAMMAR = ROOT / "grammar" / "mcpe.lark"
MESSAGES = ROOT / "grammar" / "messages.toml"
TABLES = ROOT / "mcpeval_dsl" / "syntax" / "tables.json"
END = "$END"


def automaton() -> tuple[lark.Lark, list[dict[str, int]], list[dict[str, int]], list[list[Any]]]:
    """Lark's LALR(1) tables with states renumbered from the start state, so that equal grammars give equal bytes."""
    grammar = lark.Lark(GRAMMAR.read_text("utf-8"), parser="lalr", lexer="contextual", debug=True)
    table = grammar.parser.parser._parse_table  # type: ignore[attr-defined]
    rules = {rule: number for number, rule in enumerate(grammar.rules)}
    order = [table.start_states["start"]]
    number = {order[0]: 0}
    for state in order:
        for _, (action, target) in sorted(table.states[state].items()):
            if action.name == "Shift" and target not in number:
                number[target] = len(order)
                order.append(target)
    nonterminals = {rule.origin.name for rule in rules}
    actions: list[dict[str, int]] = []
    gotos: list[dict[str, int]] = []
    for state in order:
        shifts: dict[str, int] = {}
        jumps: dict[str, int] = {}
        for symbol, (action, target) in sorted(table.states[state].items()):
            if action.name != "Shift":
                shifts[symbol] = ~rules[target]
            else:
                (jumps if symbol in nonterminals else shifts)[symbol] = number[target]
        actions.append(shifts)
        gotos.append(jumps)
    accepted = gotos[0]["start"]
    actions[accepted][END] = accepted
    described = [
        [
            str(rule.origin.name),
            str(rule.alias or rule.origin.name),
            len(rule.expansion),
            [i for i, symbol in enumerate(rule.expansion) if not (symbol.is_term and symbol.filter_out)],
            len(rule.expansion) == 1 and rule.options.expand1,
        ]
        for rule in grammar.rules
    ]
    return grammar, actions, gotos, described


def scan_pattern(terminals: list[Any]) -> str:
    """One pattern: blanks, then the terminals by priority. `[` is told apart by the scanner, so _IDX has no group."""
    ranked = sorted((t for t in terminals if t.name != "_IDX"), key=lambda t: -t.priority)
    groups = "|".join(f"(?P<{t.name}>{t.pattern.to_regexp()})" for t in ranked)
    return rf"[ \t\r]*(?:{groups}|(?P<END>\Z))"


def after_shift(actions: list[dict[str, int]]) -> dict[int, tuple[str, ...]]:
    """State -> one shortest sentence of terminals after which the parser, having shifted the last, is in that state.

    The search runs over stacks, kept short: two stacks with the same top are told apart only by their depth-bounded tail.
    """
    return _Sentences(actions).found


class _Sentences:
    def __init__(self, actions: list[dict[str, int]]) -> None:
        _, self.actions, self.gotos, self.rules = automaton()
        self.found: dict[int, tuple[str, ...]] = {0: ()}
        queue: deque[tuple[tuple[int, ...], tuple[str, ...]]] = deque([((0,), ())])
        seen: set[tuple[int, ...]] = {(0,)}
        while queue:
            stack, sentence = queue.popleft()
            for terminal in self.actions[stack[-1]]:
                grown = shift(self.actions, self.gotos, self.rules, stack, terminal)
                if grown is None or terminal == END:
                    continue
                key = grown[-6:]
                if key in seen or len(sentence) > 12:
                    continue
                seen.add(key)
                self.found.setdefault(grown[-1], (*sentence, terminal))
                queue.append((grown, (*sentence, terminal)))


def shift(
    actions: list[dict[str, int]],
    gotos: list[dict[str, int]],
    rules: list[list[Any]],
    stack: tuple[int, ...],
    terminal: str,
) -> tuple[int, ...] | None:
    """The stack after reading one terminal, or None where it cannot stand."""
    states = list(stack)
    while True:
        action = actions[states[-1]].get(terminal)
        if action is None:
            return None
        if action >= 0:
            return (*states, action)
        origin, _, size, _, _ = rules[~action]
        if size:
            del states[-size:]
        states.append(gotos[states[-1]][origin])


def state_after(sentence: str) -> int:
    """The state the parser is in after a sentence of terminal names. ValueError where it is not a prefix."""
    _, actions, gotos, rules = automaton()
    stack: tuple[int, ...] | None = (0,)
    for terminal in sentence.split():
        stack = shift(actions, gotos, rules, stack, terminal) if stack else None
        if stack is None:
            raise ValueError(f"messages.toml: '{sentence}' is not the beginning of any text (at {terminal})")
    assert stack is not None
    return stack[-1]


def messages_by_state(messages: dict[str, Any], count: int) -> list[int]:
    """For each state the number of its message, -1 where it has none."""
    _, actions, gotos, rules = automaton()
    numbers = [-1] * count
    for number, message in enumerate(messages["state"]):
        for sentence in message["after"]:
            stack: tuple[int, ...] | None = (0,)
            for terminal in sentence.split():
                stack = shift(actions, gotos, rules, stack, terminal) if stack else None
            if stack is None:
                raise ValueError(f"messages.toml: '{sentence}' is not the beginning of any text")
            if numbers[stack[-1]] not in (-1, number):
                raise ValueError(f"messages.toml: '{sentence}' leads to a state that has a message already")
            numbers[stack[-1]] = number
    return numbers


def render() -> str:
    """The text of tables.json."""
    grammar, actions, gotos, rules = automaton()
    messages = tomllib.loads(MESSAGES.read_text("utf-8"))
    digest = hashlib.sha256(GRAMMAR.read_bytes() + MESSAGES.read_bytes()).hexdigest()
    document = {
        "digest": digest,
        "terminals": {t.name: t.pattern.to_regexp() for t in grammar.terminals},
        "scan": scan_pattern(grammar.terminals),
        "actions": actions,
        "gotos": gotos,
        "rules": rules,
        "state_messages": messages_by_state(messages, len(actions)),
        "messages": [{k: v for k, v in m.items() if k != "after"} for m in messages["state"]],
        "repairs": messages["repair"],
    }
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False, sort_keys=True) + "\n"


def missing() -> list[str]:
    """A shortest sentence for each state in which the parser can stand between two tokens and that has no message."""
    _, actions, _, _ = automaton()
    numbers = messages_by_state(tomllib.loads(MESSAGES.read_text("utf-8")), len(actions))
    return sorted(" ".join(s) for state, s in after_shift(actions).items() if numbers[state] < 0)


def main() -> int:
    logging.basicConfig(level=logging.WARNING)
    if "--missing" in sys.argv[1:]:
        print("\n".join(missing()))
        return 0
    TABLES.write_text(render(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
