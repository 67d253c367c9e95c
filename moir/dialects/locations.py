"""The nodes of the framework that an operation came from, as its location.

    loc("conv1"("onnx.Conv"))                                           one node: its name, and that of its operation
    loc(fused["conv1"("onnx.Conv"), "bn"("onnx.BatchNormalization")])   several

A node is an operation of the module that was read. What is built before an operation, to replace it, has its location;
what replaces several operations has those of all. An operation that was read gets its location when `located` is first
called for it. Names and locations are passed on together, so that an operation with a name but without location has
not changed since it was read.

Locations are made without the verification of attributes, which would take twenty times as long.
`moir.analysis.provenance` reads them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import cast

from xdsl.dialects.builtin import UNKNOWN_LOC, ArrayAttr, FusedLoc, LocationAttr, NameLoc, NoneAttr, StringAttr, UnknownLoc
from xdsl.ir import Operation

MAXIMUM_SOURCES = 32
"""Maximum number of nodes in a location: of a thousand nodes that share a constant, only the first ones are listed."""

_NONE = NoneAttr()


@cache
def _kind(name: str) -> NameLoc:
    return NameLoc(StringAttr(name), _NONE)


def located(op: Operation) -> LocationAttr:
    """The location of an operation; an operation that was read gets the location of its node, if it has a name."""
    location = op.location
    if type(location) is UnknownLoc and (name := op.attributes.get("name")) is not None:
        op.location = location = object.__new__(NameLoc)
        # Attributes are frozen: their parameters are set through the dictionary of the object.
        parameters = vars(location)
        parameters["desc"], parameters["location"] = name, _kind(op.name)
    return location


def merged(locations: Sequence[LocationAttr]) -> LocationAttr:
    """The location of operations that replace the operations with these locations; it lists each node once."""
    if locations and len(separate(locations[0])) >= MAXIMUM_SOURCES:
        return locations[0]
    # Each node has one location object, so that identities are compared: hashing takes longer than all the rest here.
    parts = {id(part): part for each in locations for part in separate(each)}
    if len(parts) < 2:
        return next(iter(parts.values()), UNKNOWN_LOC)
    location = object.__new__(FusedLoc)
    several = object.__new__(ArrayAttr)
    vars(several)["data"] = tuple(parts.values())[:MAXIMUM_SOURCES]
    vars(location).update(locations=several, metadata=_NONE)
    return location


def separate(location: LocationAttr) -> tuple[LocationAttr, ...]:
    """The locations of single nodes that a location consists of; empty for an unknown location."""
    if type(location) is FusedLoc:
        return cast("ArrayAttr[LocationAttr]", location.locations).data
    return () if type(location) is UnknownLoc else (location,)
