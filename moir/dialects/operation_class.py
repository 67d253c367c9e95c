"""The metaclass of moir's operations."""

from __future__ import annotations

from abc import ABCMeta


class OperationClass(ABCMeta):
    """A metaclass for which `isinstance` looks at base classes only.

    xDSL's operations are abstract classes, of which any class can be registered as a virtual subclass, so that
    `isinstance` asks all subclasses and takes five times as long.
    """

    __instancecheck__ = type.__instancecheck__
    __subclasscheck__ = type.__subclasscheck__
