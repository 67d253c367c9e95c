"""The operands and attributes of a kind of node, from the signature of its handler."""

from __future__ import annotations

from inspect import unwrap
from types import FunctionType

from moir.lowering.signatures import NodeAttribute, signature_of
from moir.lowering.table import LoweringTable


def signature_text(table: LoweringTable, kind: str, version: int = 1) -> str:
    """The operands and attributes that the handler of a kind reads in a version, such as `x; alpha = 1.0`; empty
    without a handler.
    """
    bound = table.handler(kind, version)
    if bound is None:
        return ""
    handler = unwrap(bound)
    signature = signature_of(handler, table.readers)
    # An operand that begins with an underscore is read of the node, if at all.
    names = handler.__code__.co_varnames if isinstance(handler, FunctionType) else ()
    unused = {name.strip("_") for name in names if name.startswith("_")}
    marks = {each.name: "*" if each.is_variadic else "" for each in signature.operands}
    ends = {each.name: "?" if each.is_optional and each.name not in unused else "" for each in signature.operands}
    operands = [f"{marks[name]}{name}{ends[name]}" for name in marks]
    attributes = [*map(_attribute, signature.attributes), *(["**"] if signature.takes_others else [])]
    if "node" in signature.leading:
        (attributes if operands or attributes else operands).append("…")
    return "; ".join(", ".join(part) for part in (operands, attributes) if part)


def _attribute(attribute: NodeAttribute) -> str:
    if attribute.is_required or attribute.default is None:
        return attribute.name
    default = attribute.default
    return f"{attribute.name} = {default if isinstance(default, bool | int | float | tuple) else repr(str(default))}"
