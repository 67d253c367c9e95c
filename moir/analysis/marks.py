"""The mark of an operation that is computed in its own element type, whatever precision the device uses for the rest of
the model.

It is an attribute in the `<rt_info>` of the operation's layer: `<attribute name="precise" version="0"/>`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Operation

from moir.dialects.properties import string_attribute

PRECISE = "precise"
"""The name of the attribute."""


def mark(op: Operation) -> None:
    """Mark an operation, keeping the other attributes of its runtime information."""
    carried = op.attributes.get("runtime_info")
    entries = dict(carried.data) if isinstance(carried, DictionaryAttr) else {}
    entries[PRECISE] = DictionaryAttr({"version": string_attribute("0")})
    op.attributes["runtime_info"] = DictionaryAttr(entries)


def is_marked(op: Operation) -> bool:
    """Whether an operation has the mark."""
    carried = op.attributes.get("runtime_info")
    return isinstance(carried, DictionaryAttr) and PRECISE in carried.data
