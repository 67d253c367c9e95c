"""Names of the dynamic dimensions of outputs: those of the inputs' dimensions that they equal.

    %x = opset1.Parameter() {dimension_names = ["batch", ""]} : tensor<?x8xf32>
    opset1.Result(%y)                                           // %y: tensor<?x4xf32>, as many rows as %x
->  opset1.Result(%y) {dimension_names = ["batch", ""]}
"""

from __future__ import annotations

from xdsl.ir import Block

from moir.analysis.dimensions import Dimensions
from moir.dialects.discardable import DIMENSION_NAMES
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.properties import strings_attribute, value_of
from moir.dialects.shapes import shape_of
from moir.dialects.symbols import Symbol


def name_output_dimensions(block: Block) -> None:
    """Name the dynamic dimensions of a model's outputs after the inputs' dimensions that they always equal.

    `block` is the block of a model in opset dialects.
    """
    known = Dimensions().scan(block.ops)
    names: dict[Symbol, str] = {}
    for op in block.ops:
        declared = op.attributes.get(DIMENSION_NAMES)
        tokens = known.tokens(op.results[0]) if isinstance(op, Parameter) and declared is not None else None
        for token, name in zip(tokens or (), () if declared is None else value_of(declared), strict=False):
            if name and isinstance(token, Symbol):
                names.setdefault(token, name)
    if not names:
        return
    for op in block.ops:
        if isinstance(op, Result) and (tokens := known.tokens(op.operands[0])) is not None:
            shape = shape_of(op.operands[0]) or ()
            own = [
                names.get(token, "") if size < 0 and isinstance(token, Symbol) else "" for token, size in zip(tokens, shape, strict=False)
            ]
            if any(own):
                op.attributes[DIMENSION_NAMES] = strings_attribute(own)
