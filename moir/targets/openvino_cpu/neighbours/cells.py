"""Matrix products in recurrent cells, which the runtime fuses into a GRUCell."""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.dialects.opset.arithmetic import Add
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.movement import Concat
from moir.dialects.shapes import element_of, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.openvino_cpu.neighbours.identity import computed_identity
from moir.targets.record import Fault, Form


class BiasOfCell(Pattern):
    """Unsqueezes the bias of a MatMul of concatenated data and states to one row.

        %1 = opset1.MatMul(opset1.Concat(%x, %h), %w) {transpose_b = true}
        %2 = opset1.Add(%1, %b)                              // %b: [12]
    ->  %2 = opset1.Add(%1, %c)                              // %c: [1, 12]

    The runtime makes a GRUCell of two such products and what is computed of them, and does not compile the model if the
    biases are not rows. A bias of several rows cannot be reshaped so: an identity before it prevents the fusion.
    """

    roots = (Add,)
    companions = ((MatMul,), (Concat,))

    def may_match(self, op: Operation) -> bool:
        product, bias = _product_and_bias(op)
        return bias is not None and shape_of(bias) != (1, (shape_of(product) or (-1,))[-1])

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        (product, bias), build = _product_and_bias(op), rewriter.op
        assert bias is not None
        values, columns = constant_of(bias), (shape_of(product) or (-1,))[-1]
        assert values is not None
        if values.size in (1, columns) and values.size == (values.shape or (1,))[-1]:
            row = build.constant(np.ascontiguousarray(np.broadcast_to(values.reshape(1, -1), (1, columns))), element_of(bias))
            rewriter.replace_with(op, build.Add(product, row))
        else:
            rewriter.replace_with(op, build.Add(computed_identity(build, product), bias))


def _product_and_bias(op: Operation) -> tuple[SSAValue, SSAValue | None]:
    """The operands of an Add, ordered: the product with concatenated data, and the constant bias.

    For an Add without such a pair: its first operand, and None.
    """
    for product, bias in (op.operands, op.operands[::-1]):
        matmul = product.owner
        if not isinstance(matmul, MatMul) or not matmul.flag("transpose_b") or not isinstance(matmul.operands[0].owner, Concat):
            continue
        shape = shape_of(product)
        if shape is not None and len(shape) == 2 and shape[1] > 0 and constant_of(bias) is not None:
            return product, bias
    return op.operands[0], None


FORMS = (
    Form(
        "unsqueeze-cell-biases",
        (BiasOfCell,),
        faults=(
            Fault(
                "biases-of-cells",
                "products with joined data and states of static sizes that make a GRU, plus biases that are not rows",
                "are not compiled",
            ),
        ),
    ),
)
