"""Plan, first step of writing and reading: typed values to plain JSON data and back, exactly.

A field that has its default is left out (`kind` never is), so a plan stays small and reading it gives the same value
again. Reading is strict: an unknown field, a missing one and a wrong type are told with their path. Unions are
decided by `kind`, so reading takes time linear in the text (pydantic tries every member, at every level).
"""

from __future__ import annotations

import dataclasses
import math
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import BaseModel

from mcpeval_dsl.semantics.expressions import Ref

T = TypeVar("T")
_ABSENT: Any = object()
_SCALARS = (str, int, float, bool, type(None))


class Malformed(ValueError):
    """The data does not have the shape asked for; the message is `path: what is wrong`. Never leaves this room."""


@dataclass(frozen=True, slots=True)
class Member:
    """One field of a class: its default, if it has one, and whether whole numbers in it are meant as real ones."""

    name: str
    default: Any
    real: bool


@cache
def members(cls: Any) -> tuple[Member, ...]:
    """Fields of a dataclass or pydantic model in order of declaration."""
    if issubclass(cls, BaseModel):
        return tuple(
            Member(
                name,
                _ABSENT if info.is_required() else info.get_default(call_default_factory=True),
                _real(info.annotation),
            )
            for name, info in cls.model_fields.items()
        )
    return tuple(Member(f.name, _default(f), _real(f.type)) for f in dataclasses.fields(cls))


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return _ABSENT if field.default is dataclasses.MISSING else field.default


def _real(annotation: Any) -> bool:
    return annotation in (float, float | None, "float", "float | None")


def encode(value: object) -> Any:
    """Plain data for `json.dumps`: objects, lists and scalars.

    Raises TypeError for a value of any other class (a bug, not an input).
    """
    if isinstance(value, _SCALARS):
        return value
    if isinstance(value, tuple | list):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): encode(item) for key, item in value.items()}
    found: dict[str, Any] = {}
    cls: Any = type(value)
    for member in members(cls):
        item = getattr(value, member.name)
        if member.name in ("kind", "format") or not _same(item, member.default):
            found[member.name] = float(item) if member.real and item is not None else encode(item)
    return found


def _same(value: object, default: object) -> bool:
    """Equal, and `1` is not `True`."""
    return isinstance(value, bool) == isinstance(default, bool) and bool(value == default)


def decode(cls: type[T], data: object, path: str = "$") -> T:
    """The value that `encode` made `data` from. Raises Malformed."""
    wanted: Any = cls
    return cast(T, _reader(wanted)(data, path))


Reader = Callable[[Any, str], Any]


@cache
def _reader(annotation: Any) -> Reader:
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _reader(typing.get_args(annotation)[0])
    if origin is typing.Literal:
        return _read_word(typing.get_args(annotation))
    if origin in (typing.Union, types.UnionType):
        return _read_union(typing.get_args(annotation))
    if origin is tuple:
        return _read_tuple(typing.get_args(annotation))
    if origin is dict:
        return _read_plain(dict, "an object")
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    return _read_object(annotation)


def _read_plain(cls: type | tuple[type, ...], noun: str) -> Reader:
    def read(data: Any, path: str) -> Any:
        if not isinstance(data, cls) or (isinstance(data, bool) and cls is not bool):
            raise Malformed(f"{path}: {noun} is needed here, not {_noun(data)}")
        return data

    return read


def _read_float(data: Any, path: str) -> float:
    if isinstance(data, bool) or not isinstance(data, int | float):
        raise Malformed(f"{path}: a number is needed here, not {_noun(data)}")
    try:
        number = float(data)
    except OverflowError:
        raise Malformed(f"{path}: the number is too large") from None
    if not math.isfinite(number):
        raise Malformed(f"{path}: a finite number is needed here, not {_noun(data)}")
    return number


def _read_none(data: Any, path: str) -> None:
    if data is not None:
        raise Malformed(f"{path}: null is needed here, not {_noun(data)}")


_PLAIN: dict[Any, Reader] = {
    str: _read_plain(str, "a text"),
    int: _read_plain(int, "a whole number"),
    bool: _read_plain(bool, "true or false"),
    float: _read_float,
    type(None): _read_none,
    object: lambda data, path: data,
    Any: lambda data, path: data,
}


def _read_word(words: tuple[Any, ...]) -> Reader:
    def read(data: Any, path: str) -> Any:
        if data not in words:
            raise Malformed(f"{path}: one of {', '.join(map(str, words))} is needed here, not {_noun(data)}")
        return data

    return read


def _read_tuple(arguments: tuple[Any, ...]) -> Reader:
    variadic = len(arguments) == 2 and arguments[1] is Ellipsis

    def read(data: Any, path: str) -> Any:
        if not isinstance(data, list):
            raise Malformed(f"{path}: a list is needed here, not {_noun(data)}")
        if not variadic and len(data) != len(arguments):
            raise Malformed(f"{path}: {len(arguments)} items are needed here, not {len(data)}")
        each: Sequence[Any] = [arguments[0]] * len(data) if variadic else arguments
        return tuple(_reader(a)(item, f"{path}[{i}]") for i, (a, item) in enumerate(zip(each, data, strict=True)))

    return read


def _read_union(arguments: tuple[Any, ...]) -> Reader:
    plain = [a for a in arguments if not isinstance(a, type) or a in _PLAIN]
    by_kind = {_kind(a): a for a in arguments if isinstance(a, type) and a not in _PLAIN}

    def read(data: Any, path: str) -> Any:
        if isinstance(data, dict) and by_kind:
            if len(by_kind) == 1:
                return _reader(next(iter(by_kind.values())))(data, path)
            kind = data.get("kind")
            chosen = by_kind.get(kind) if isinstance(kind, str) else None
            if chosen is None:
                raise Malformed(f"{path}.kind: one of {', '.join(sorted(map(str, by_kind)))} is needed here")
            return _reader(chosen)(data, path)
        for annotation in sorted(plain, key=lambda a: _exactness(a, data)):
            try:
                return _reader(annotation)(data, path)
            except Malformed:
                continue
        raise Malformed(f"{path}: {_noun(data)} does not fit here")

    return read


def _exactness(annotation: Any, data: Any) -> int:
    return 0 if annotation is type(data) else 1


def _kind(cls: Any) -> Any:
    return next((m.default for m in members(cls) if m.name == "kind"), cls.__name__)


def _read_object(cls: Any) -> Reader:
    hints: dict[str, Any] = {}
    known = {m.name: m for m in members(cls)}

    def read(data: Any, path: str) -> Any:
        if not isinstance(data, dict):
            raise Malformed(f"{path}: an object is needed here, not {_noun(data)}")
        if not hints:
            hints.update(typing.get_type_hints(cls, include_extras=True))
        unknown = next((name for name in data if name not in known), None)
        if unknown is not None:
            raise Malformed(f"{path}: there is no field `{unknown}` here")
        missing = next((n for n, m in known.items() if m.default is _ABSENT and n not in data), None)
        if missing is not None:
            raise Malformed(f"{path}: the field `{missing}` is missing")
        if cls is Ref and not data["path"]:
            raise Malformed(f"{path}.path: a reference has at least one step")
        return cls(**{name: _reader(hints[name])(item, f"{path}.{name}") for name, item in data.items()})

    return read


def _noun(data: object) -> str:
    if data is None:
        return "null"
    if isinstance(data, dict | list):
        return "an object" if isinstance(data, dict) else "a list"
    text = str(data)
    return f"`{text if len(text) <= 40 else text[:39] + '…'}`"
