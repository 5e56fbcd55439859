"""Frozen classes made in less time behave as those of the standard decorator."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import field
from typing import Any

import pytest

from mcpeval_dsl.frozen import dataclass


@dataclass(frozen=True, slots=True)
class Node:
    """A node."""

    name: str
    parts: tuple[int, ...] = ()
    seen: list[int] = field(default_factory=list)
    kind: str = "node"


@dataclass(frozen=True, slots=True)
class Checked:
    value: int

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError("below zero")


@dataclasses.dataclass(frozen=True, slots=True)
class Standard:
    """A node."""

    name: str
    parts: tuple[int, ...] = ()
    seen: list[int] = field(default_factory=list)
    kind: str = "node"


@pytest.mark.parametrize("arguments", [("a",), ("a", (1,)), ("a", (1,), [2], "k")])
def test_values_defaults_and_representation(arguments: tuple[Any, ...]) -> None:
    node, standard = Node(*arguments), Standard(*arguments)
    assert dataclasses.asdict(node) == dataclasses.asdict(standard)
    assert repr(node) == repr(standard).replace("Standard", "Node")
    assert Node(*arguments) == node and node != Node("other") and node != standard


def test_each_has_its_own_made_default() -> None:
    first, second = Node("a"), Node("a")
    first.seen.append(1)
    assert second.seen == [] and Node("a", seen=[3]).seen == [3]


@pytest.mark.parametrize("wrong", [{}, {"name": "a", "nam": "b"}])
def test_arguments_are_checked(wrong: dict[str, str]) -> None:
    with pytest.raises(TypeError):
        Node(**wrong)  # type: ignore[arg-type]


def test_nothing_is_assigned_or_deleted() -> None:
    node = Node("a")
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'name'"):
        node.name = "b"  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'name'"):
        del node.name  # type: ignore[misc]
    assert not hasattr(node, "__dict__")


def test_copies_pickles_and_replaces() -> None:
    node = Node("a", (1, 2), [3])
    assert copy.deepcopy(node) == node == pickle.loads(pickle.dumps(node))
    assert dataclasses.replace(node, name="b") == Node("b", (1, 2), [3])
    assert len({Checked(1), Checked(1), Checked(2)}) == 2


def test_what_follows_the_fields_is_called() -> None:
    with pytest.raises(ValueError, match="below zero"):
        Checked(-1)


def test_shape_and_words_are_those_of_the_standard() -> None:
    assert Node.__match_args__ == Standard.__match_args__ and Node.__doc__ == "A node." and Checked.__doc__ is None
    assert [each.name for each in dataclasses.fields(Node)] == [each.name for each in dataclasses.fields(Standard)]
