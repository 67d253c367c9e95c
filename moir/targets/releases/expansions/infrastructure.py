"""Operations that pass values on, or only change their element type."""

from __future__ import annotations

from collections.abc import Mapping

from moir.dialects.shapes import element_of
from moir.targets.releases.expansions.expansion import Expansion

EXPANSIONS: Mapping[str, Expansion] = {
    # A Convert to the element type of the operand: an operation of its own, which can have the name of an output.
    "opset16.Identity": lambda op, node: op.Convert(node.operands[0], destination_type=element_of(node.operands[0])),
    "opset14.ConvertPromoteTypes": lambda op, node: [
        op.Convert(operand, destination_type=element_of(result)) for operand, result in zip(node.operands, node.results, strict=True)
    ],
}
