"""The mark of an operation that is computed in its own element type, whatever the rest of the model is computed in.

It is an entry of the `<rt_info>` of its layer: `<attribute name="precise" version="0"/>`.
"""

from __future__ import annotations

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Operation

from moir.dialects.properties import string_attribute

PRECISE = "precise"
"""The name of the entry."""


def mark(op: Operation) -> None:
    """Mark an operation; the other entries of its runtime information stay."""
    carried = op.attributes.get("runtime_info")
    entries = dict(carried.data) if isinstance(carried, DictionaryAttr) else {}
    entries[PRECISE] = DictionaryAttr({"version": string_attribute("0")})
    op.attributes["runtime_info"] = DictionaryAttr(entries)


def is_marked(op: Operation) -> bool:
    """Whether an operation has the mark."""
    carried = op.attributes.get("runtime_info")
    return isinstance(carried, DictionaryAttr) and PRECISE in carried.data
