"""Tables of handlers that are one expression."""

from __future__ import annotations

from inspect import unwrap

from moir.dialects.element_types import si64
from moir.expansions.functions import selu
from moir.lowering.signatures import NodeAttribute, Operand, signature_of
from moir.lowering.table import LoweringTable


def test_a_key_names_kinds() -> None:
    table = LoweringTable("made")
    table.lowers_each({"Elu made.Elu": lambda op, x, *, alpha=0.5: op.Elu(x, alpha=alpha), "Selu": selu})
    assert list(table.kinds()) == ["Elu", "made.Elu", "Selu"]
    assert table.handler("Selu", 1) is not None
    handler = table.handler("made.Elu", 1)
    assert handler is not None
    signature = signature_of(unwrap(handler))
    assert signature.operands == (Operand("x"),)
    assert signature.attributes == (NodeAttribute("alpha", "alpha", "float", 0.5),)


def test_expressions_are_named_after_their_first_kind() -> None:
    table = LoweringTable("made")
    table.lowers_each({"Elu made.Elu": lambda op, x: op.Elu(x, alpha=1.0), "Selu": selu})
    names = [getattr(table.handler(kind, 1), "__name__", None) for kind in table.kinds()]
    assert names == ["Elu", "Elu", "selu"]


def test_expressions_that_ask_for_the_node() -> None:
    table = LoweringTable("made")
    table.lowers_each_node({"Cast": lambda node, op, x, *, to=si64: op.convert(x, to if node.is_used(0) else si64)})
    handler = table.handler("Cast", 1)
    assert handler is not None
    signature = signature_of(unwrap(handler))
    assert signature.leading == ("node", "op")
    assert signature.attributes == (NodeAttribute("to", "to", "Attribute", si64),)
