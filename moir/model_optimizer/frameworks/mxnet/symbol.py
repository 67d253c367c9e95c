"""`node.symbol_dict` of an MXNet node: its entry in the symbol, with the attributes as texts.

    {"op": "Convolution", "name": "conv0", "attrs": {"kernel": "(3, 3)", "no_bias": "True"}}

An attribute whose text was None is absent.
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation

from moir.dialects.names import name_of
from moir.dialects.properties import value_of
from moir.model_optimizer.frameworks.lookup import original_of

CUSTOM_KIND = "Custom"


def symbol_entry(kind: str, op: Operation) -> dict[str, Any]:
    """The entry of the symbol of an MXNet node."""
    attributes = {name: str(value_of(attribute)) for name, attribute in op.properties.items()}
    return {"op": kind, "name": name_of(op) or "", "attrs": attributes}


def custom_type(op: Operation) -> str | None:
    """The `op_type` of a custom operation of MXNet; None for any other operation."""
    if original_of(op)[1] != CUSTOM_KIND or (value := op.properties.get("op_type")) is None:
        return None
    return str(value_of(value))
