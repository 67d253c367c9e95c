"""The names of tensors as model files have them."""

from __future__ import annotations

from xdsl.ir import Operation, OpResult, SSAValue

from moir.dialects.names import name_of
from moir.dialects.properties import value_of


def tensor_name(value: SSAValue) -> str:
    """The first name of a tensor in the file, or else the name of its node, with the index of the result unless it is
    the first.
    """
    owner = value.owner
    if not isinstance(owner, Operation) or owner.name in ("moir.none", "mo.disconnected", "mo.absent_port"):
        return ""
    names = owner.attributes.get("tensor_names")
    index = value.index if isinstance(value, OpResult) else 0
    if names is not None and index < len(value_of(names)) and (text := value_of(names)[index]):
        return str(text).partition(",")[0]
    name = name_of(owner) or ""
    return f"{name}:{index}" if index else name
