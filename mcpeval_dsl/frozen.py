"""Beside the rooms: `dataclass(frozen=True, slots=True)` for modules with many small classes, made in less time.

The standard decorator compiles six methods for each class, which for the hundred kinds of nodes costs more than
linting a small spec. Equality, hash and representation are the same for all, so here they are written once; the rest
is the standard decorator's work, and to a type checker it is the standard decorator.
"""

from __future__ import annotations

from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    from dataclasses import dataclass as _dataclass

    _getters: dict[type, Any] = {}

    def dataclass(*, frozen: bool, slots: bool) -> Any:
        """The standard decorator with `frozen=True, slots=True`; anything else is refused."""
        if not (frozen and slots):
            raise TypeError("only for frozen classes with slots")

        def make(cls: type) -> type:
            cls.__eq__, cls.__hash__ = _equal, _hash
            if "__repr__" not in vars(cls):
                cls.__repr__ = _shown
            return _dataclass(frozen=True, slots=True, eq=False, repr=False)(cls)

        return make

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
