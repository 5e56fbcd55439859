"""Beside the rooms: `dataclass(frozen=True, slots=True)` for modules with many small classes, made in less time.

The standard decorator compiles six methods for each class, which for the hundred kinds of nodes costs more than
linting a small spec. All but `__init__` are the same for all, so here they are written once; fields and slots are the standard
decorator's work, and to a type checker it is the standard decorator.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from dataclasses import MISSING, FrozenInstanceError, fields
    from dataclasses import dataclass as _dataclass

    _made = object()
    _getters: dict[type, Any] = {}

    def dataclass(*, frozen: bool, slots: bool) -> Any:
        """The standard decorator with `frozen=True, slots=True`; anything else is refused."""
        if not (frozen and slots):
            raise TypeError("only for frozen classes with slots")

        def make(cls: type) -> type:
            cls.__eq__, cls.__hash__ = _equal, _hash
            cls.__setattr__, cls.__delattr__ = _not_set, _not_deleted
            cls.__getstate__, cls.__setstate__ = _state, _with_state
            if "__repr__" not in vars(cls):
                cls.__repr__ = _shown
            said, cls.__doc__ = cls.__doc__, "-"  # without one the decorator takes the signature, which is slow
            made = _dataclass(slots=True, eq=False, repr=False, init=False)(cls)
            made.__init__, made.__doc__ = _init(made), said
            return made

        return make

    def _init(cls: type) -> Any:
        """`__init__` with a parameter for each field, as the standard decorator makes it."""
        names: dict[str, Any] = {"_set": object.__setattr__, "_made": _made}
        parameters, lines = ["self"], []
        for field in fields(cls):
            name, value = field.name, field.name
            if field.default_factory is not MISSING:
                names[f"_make_{name}"] = field.default_factory
                parameters.append(f"{name}=_made")
                value = f"_make_{name}() if {name} is _made else {name}"
            elif field.default is not MISSING:
                names[f"_default_{name}"] = field.default
                parameters.append(f"{name}=_default_{name}")
            else:
                parameters.append(name)
            lines.append(f"    _set(self, {name!r}, {value})")
        if hasattr(cls, "__post_init__"):
            lines.append("    self.__post_init__()")
        exec(f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines or ["    pass"]), names)
        made = names["__init__"]
        made.__qualname__, made.__module__ = f"{cls.__qualname__}.__init__", cls.__module__
        return made

    def _not_set(self: Any, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _not_deleted(self: Any, name: str) -> None:
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _state(self: Any) -> list[Any]:
        return [getattr(self, name) for name in self.__dataclass_fields__]

    def _with_state(self: Any, state: list[Any]) -> None:
        for name, value in zip(self.__dataclass_fields__, state, strict=True):
            object.__setattr__(self, name, value)

    def _values(item: Any) -> Any:
        kind = type(item)
        getter = _getters.get(kind)
        if getter is None:
            names = tuple(kind.__dataclass_fields__)
            getter = _getters[kind] = attrgetter(*names) if names else lambda _: ()
        return getter(item)

    def _equal(self: Any, other: object) -> bool:
        if self is other:
            return True
        return _values(self) == _values(other) if type(self) is type(other) else NotImplemented

    def _hash(self: Any) -> int:
        return hash((type(self), _values(self)))

    def _shown(self: Any) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__dataclass_fields__)
        return f"{type(self).__qualname__}({shown})"


__all__ = ["dataclass"]
