"""Errors for attributes of a node that the handler of an extension does not take, and so would ignore.

    @onnx.lowers("com.example.HardTanh")
    def hard_tanh(op, x, *, limt=1.0): ...

    onnx.com.example.HardTanh 'tanh': the lowering hard_tanh does not name attribute limit; did you mean limit where …

A lowering that takes the node, or `**attributes`, may read all of them. An attribute may be left out if it is implied,
as the table of its framework lists, or if moir's own lowering of the kind leaves it out, or has its value as the
default.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import update_wrapper
from inspect import unwrap
from typing import Any

import numpy as np

from moir.dialects.properties import value_of
from moir.errors import UnsupportedOperationError
from moir.lowering.binder import LoweringNode
from moir.lowering.signatures import Signature
from moir.support.suggestions import nearest


def location_of(handler: Callable[..., Any]) -> str | None:
    """`file:line` of a handler's own function, not of the wrapper that binds its signature; None if it has no code."""
    code = getattr(unwrap(handler), "__code__", None)
    return None if code is None else f"{code.co_filename}:{code.co_firstlineno}"


def unnamed_attributes(node: LoweringNode, signature: Signature, implied: Collection[str], own: Signature | None) -> list[str]:
    """The attributes of a node that would have no effect.

    Args:
        node: the node.
        signature: the signature of its lowering.
        implied: the names of attributes that may be left out.
        own: the signature of moir's own lowering of the kind, None if there is none.
    """
    named = {each.name for each in signature.attributes}
    unnamed = [name for name in node.op.properties if name not in named and name not in implied]
    return [name for name in unnamed if own is None or not _may_be_left_out(node, name, own)]


def _may_be_left_out(node: LoweringNode, name: str, own: Signature) -> bool:
    """Whether moir's own lowering ignores an attribute, or would read the same value if it were absent."""
    known = next((each for each in own.attributes if each.name == name), None)
    if known is None:
        return "node" not in own.leading
    if known.is_required:
        return False
    value = node.op.properties[name]
    return value == known.default or _same(value_of(value), known.default)


def _same(value: object, default: object) -> bool:
    """Whether two attribute values are equal. Floats are compared as f32, the precision of files."""
    if isinstance(value, float) and isinstance(default, float):
        return bool(np.float32(value) == np.float32(default))
    return value == default


def refusing_unnamed(
    handler: Callable[..., Any], signature: Signature, implied: Collection[str], own: Callable[[], Signature | None]
) -> Callable[..., Any]:
    """A bound handler that raises UnsupportedOperationError for a node with attributes that would have no effect.

    Args:
        handler: the bound handler.
        signature: its signature.
        implied: the names of attributes that may be left out.
        own: gives the signature of moir's own lowering of the kind, None if there is none.
    """
    if "node" in signature.leading or signature.takes_others:
        return handler

    def call(node: LoweringNode, op: Any) -> Any:
        # The signatures of most handlers name all attributes of their nodes.
        if unnamed_attributes(node, signature, implied, None) and (left := unnamed_attributes(node, signature, implied, own())):
            raise _error(node, handler, signature, left)
        return handler(node, op)

    return update_wrapper(call, handler)


def _error(node: LoweringNode, handler: Callable[..., Any], signature: Signature, left: list[str]) -> UnsupportedOperationError:
    # An attribute of the signature that the node lacks may be misspelt in the node.
    absent = [each.parameter for each in signature.attributes if not node.has(each.name)]
    meant = [f"{name} in place of {near[0]}" for name in left if (near := nearest(name, absent))]
    advice = f"name {'it' if len(left) == 1 else 'them'} after * among its parameters, or take **attributes"
    return UnsupportedOperationError(
        f"the lowering {unwrap(handler).__name__} does not name attribute{'s' if len(left) > 1 else ''} {', '.join(left)}",
        operation=node.op.name,
        node=node.name,
        location=location_of(handler),
        hint=f"did you mean {', '.join(meant)}? Otherwise {advice}" if meant else advice,
    )
