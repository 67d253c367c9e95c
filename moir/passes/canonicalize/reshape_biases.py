"""`reshape-biases`: a bias that is added after the last dimension of a product is split is added before the split
instead.

    %1 = opset1.MatMul(%x, %w)                            // %w: [48, 48]
    %2 = opset1.Reshape(%1, [0, 0, 4, 12])
    %3 = opset1.Add(%2, %bias)                            // %bias: [4, 12]
->  %2 = opset1.Add(%1, %flat)                            // %flat: [48]
    %3 = opset1.Reshape(%2, [0, 0, 4, 12])

Runtimes compute a product and its bias as one operation. Keras' attention has its biases after the split into heads.
"""

from __future__ import annotations

import numpy as np
from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.analysis.constants import is_shared, weight_of
from moir.analysis.uses import has_one_live_use
from moir.dialects.element_types import to_numpy
from moir.dialects.opset.arithmetic import Add
from moir.dialects.opset.matrix import MatMul
from moir.dialects.opset.shape import Reshape
from moir.dialects.shapes import element_of
from moir.dialects.symbols import Symbol, same
from moir.rewriting.dimension_patterns import DimensionsPass, DimensionsPattern
from moir.rewriting.driver import Rewriter


class SplitBias(DimensionsPattern):
    """Moves the addition of a constant bias before the Reshape that splits the last dimension of a matrix product."""

    roots = (Add,)

    def may_match(self, op: Operation) -> bool:
        return any(isinstance(operand.owner, Reshape) for operand in op.operands)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Add)
        if op.text("auto_broadcast") != "numpy":
            return
        for split, bias in (op.operands, reversed(op.operands)):
            reshape, values = split.owner, weight_of(bias)
            if not isinstance(reshape, Reshape) or values is None or is_shared(bias) or not has_one_live_use(split):
                continue
            data = reshape.operands[0]
            parts = self.parts(reshape) if isinstance(data.owner, MatMul) and has_one_live_use(data) else ()
            shape = values.shape[max(0, values.ndim - len(parts)) :]
            # Leading dimensions of 1 do not matter; longer constants are not biases.
            if (
                len(parts) < 2
                or np.prod(shape) != values.size
                or any(size not in (1, part) for size, part in zip(shape[::-1], parts[::-1], strict=False))
            ):
                continue
            whole = np.broadcast_to(np.asarray(values).reshape(shape), parts).reshape(-1)
            added = rewriter.op.Add(data, rewriter.op.constant(np.ascontiguousarray(whole, to_numpy(element_of(data)))))
            rewriter.replace_with(op, rewriter.op.Reshape(added, reshape.operands[1], special_zero=reshape.flag("special_zero")))
            return

    def parts(self, op: Reshape) -> tuple[int, ...]:
        """The dimensions into which a Reshape splits the last one while it keeps all others; empty for other
        Reshapes.
        """
        source, result = self.known.tokens(op.operands[0]), self.known.tokens(op.results[0])
        if not source or result is None or len(result) <= len(source):
            return ()
        kept, parts = len(source) - 1, result[len(source) - 1 :]
        sizes = tuple([part for part in parts if not isinstance(part, Symbol)])
        if len(sizes) != len(parts) or not all(map(same, source[:kept], result[:kept])) or not same(source[-1], int(np.prod(sizes))):
            return ()
        return sizes


class ReshapeBiasesPass(DimensionsPass):
    """Adds biases of products before their last dimension is split."""

    name = "reshape-biases"

    ROOTS = (Add,)

    COMPANIONS = ((MatMul,), (Reshape,))

    PATTERNS = (SplitBias,)

    def may_match(self, analyses: Analyses) -> bool:
        return any(isinstance(operand.owner, Reshape) for op in analyses.operations(Add) for operand in op.operands)
