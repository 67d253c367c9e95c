"""Records: immutable values with named fields.

    class Port(Record):
        name: str
        size: int = 1

A record is like a frozen dataclass, but no methods are generated for its class: compiling those of a dataclass with
five fields takes four million instructions at each start of moir, a record class a thirtieth of that. Creating an
instance takes a little longer, so objects that a model has in large numbers are of classes with slots instead.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self, dataclass_transform


@dataclass_transform(frozen_default=True)
class Record:
    """The base class of records. Records of one class with equal fields are equal."""

    _fields: ClassVar[tuple[str, ...]] = ()
    """The names of the fields, in order."""

    _defaults: ClassVar[dict[str, Any]] = {}
    """The values of the fields that need not be given."""

    def __init_subclass__(cls) -> None:
        own = [name for name, annotation in cls.__annotations__.items() if not annotation.startswith("ClassVar")]
        cls._fields = (*cls._fields, *own)
        cls._defaults = cls._defaults | {name: vars(cls)[name] for name in own if name in vars(cls)}

    def __init__(self, *values: Any, **named: Any) -> None:
        if not named and len(values) == len(self._fields):
            vars(self).update(zip(self._fields, values, strict=True))
            return
        given = self._defaults | dict(zip(self._fields, values, strict=False)) | named
        if len(given) != len(self._fields) or len(values) > len(given) or not named.keys() <= {*self._fields[len(values) :]}:
            needed = ", ".join(name for name in self._fields if name not in self._defaults)
            raise TypeError(f"{type(self).__name__} takes {', '.join(self._fields)} once each, and needs {needed}")
        vars(self).update(given)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name!r} of {type(self).__name__} cannot be set: a record does not change")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and type(other) is type(self) and self.compared() == other.compared()

    def __hash__(self) -> int:
        return hash(self.compared())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self._fields)})"

    def compared(self) -> tuple[Any, ...]:
        """The values by which records are compared for equality: those of all fields, in order."""
        return tuple([getattr(self, name) for name in self._fields])

    def by_name(self) -> dict[str, Any]:
        """The values of all fields by their names, in order."""
        return dict(zip(self._fields, self.compared(), strict=True))

    def with_fields(self, **changes: Any) -> Self:
        """A copy with other values of some fields."""
        return type(self)(**(vars(self) | changes))
