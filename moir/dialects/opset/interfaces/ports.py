"""The property for the connections of a loop's body: a list of `#moir.port`."""

from __future__ import annotations

from typing import Any, cast

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute
from xdsl.irdl import prop_def

from moir.dialects.moir import BodyPort, BodyPortAttr
from moir.dialects.opset.interfaces.properties import PropertyKind
from moir.dialects.properties import value_of


class PortsKind(PropertyKind):
    """A list of `#moir.port`; its Python value is a list of `BodyPort`."""

    def accepts(self, attr: Attribute) -> bool:
        return isinstance(attr, ArrayAttr) and all(isinstance(item, BodyPortAttr) for item in cast("ArrayAttr[Attribute]", attr))

    def attribute(self, value: Any) -> Attribute:
        if isinstance(value, Attribute):
            # The parser reads an empty list as a 1-D tensor of integers.
            return ArrayAttr([]) if not self.accepts(value) and value_of(value) == () else value
        return ArrayAttr([item if isinstance(item, BodyPortAttr) else BodyPortAttr(cast(BodyPort, item)) for item in value])


def ports_property() -> Attribute:
    """Define a property that is a list of `#moir.port`."""
    return prop_def(PortsKind("ports"))
