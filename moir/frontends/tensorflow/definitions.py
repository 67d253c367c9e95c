"""The number of operands and results of a node, and its required attributes, as TensorFlow defines its kind.

TensorFlow checks this when it loads a graph, so only damaged graphs differ. No later stage checks again whether a node
has the operands of its kind.

Source: the registry of operations of TensorFlow 2.21; op_def.proto.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from moir.frontends.tensorflow.attributes import list_length
from moir.support.records import Record

Attribute = Callable[[str], Any]
"""Returns an AttrValue of a node by the name of the attribute, None if the node does not have it."""

FIELDS = {"int": "i", "float": "f", "bool": "b", "string": "s"}
"""Type of attribute -> the field of an AttrValue with the value; for lists of any type it is `list`."""


class Count(Record):
    """How many operands or results a node has.

    Args:
        single: the number of operands or results that are not lists.
        lists: the attribute with the length of each list, and the smallest length that it may have.
    """

    single: int
    lists: tuple[tuple[str, int], ...]


class Definition(Record):
    """TensorFlow's definition of a kind: operands, results, and required attributes.

    `required` are the attributes without a default, by name, with the field of AttrValue that has their value. Types,
    shapes, tensors and functions are not among them: the frontend checks these where it needs them.
    """

    operands: Count
    results: Count
    required: tuple[tuple[str, str], ...]


def _count(text: str) -> Count:
    single, *lists = text.split()
    pairs = (each.partition(">=") for each in lists)
    return Count(int(single), tuple((name, int(minimum)) for name, _, minimum in pairs))


@cache
def definition_of(kind: str) -> Definition | None:
    """The definition of a kind; None if moir does not read it, or TensorFlow does not have it."""
    from moir.frontends.tensorflow.definition_table import DEFINITIONS

    row = DEFINITIONS.get(kind)
    if row is None:
        return None
    operands, results, required = (row + "; ").split("; ")[:3]
    pairs = (each.partition(":") for each in required.split())
    return Definition(_count(operands), _count(results), tuple((name, FIELDS.get(type_, "list")) for name, _, type_ in pairs))


def fault(kind: str, operands: int, attribute: Attribute) -> str | None:
    """The first way in which a node contradicts the definition of its kind, as a clause for a message; None if it does
    not.

    Args:
        kind: its kind.
        operands: how many operands it has.
        attribute: its attributes.
    """
    definition = definition_of(kind)
    if definition is None:
        return None
    count = definition.operands
    if not count.lists:
        if operands != count.single:
            return f"it has {operands} operands, where {count.single} are needed"
    elif reason := _fault_of_lists(count, operands, attribute):
        return reason
    for name, field in definition.required:
        value = attribute(name)
        if value is None or value.WhichOneof("value") is None:
            return f"attribute {name} is missing"
        if value.WhichOneof("value") != field:
            return f"attribute {name} is of another type than its kind demands"
    return None


def _fault_of_lists(count: Count, operands: int, attribute: Attribute) -> str | None:
    """What is wrong with the number of operands of a node with lists of operands; None if nothing is.

    The attribute with the length of a list may be missing: then only the smallest number is checked.
    """
    total, least = count.single, count.single
    is_known = True
    for name, minimum in count.lists:
        least += minimum
        value = attribute(name)
        if value is None:
            is_known = False
            continue
        length = list_length(value)
        if length < minimum:
            return f"attribute {name} stands for {length} operands, where at least {minimum} are needed"
        total += length
    if operands < least:
        return f"it has {operands} operands, where at least {least} are needed"
    return f"it has {operands} operands, where {total} are needed" if is_known and operands != total else None


def most_results(kind: str, attribute: Attribute) -> int | None:
    """The number of results of a node; None if its kind is not known, or if the attribute with this number is
    missing.
    """
    definition = definition_of(kind)
    if definition is None:
        return None
    total = definition.results.single
    for name, _ in definition.results.lists:
        value = attribute(name)
        if value is None:
            return None
        total += list_length(value)
    return total
