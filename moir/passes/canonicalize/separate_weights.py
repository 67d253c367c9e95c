"""`separate-weights`: a square matrix that is multiplied by as it is and transposed is stored in both forms.

    %1 = opset1.MatMul(%x, %w)
    %2 = opset1.MatMul(%1, %w) {transpose_b = true}
->  %1 = opset1.MatMul(%x, %w)
    %2 = opset1.MatMul(%1, %v)                           // %v: a constant, %w transposed

The CPU plugin (2026.4) rearranges the weights of a product once for all products that have the same bytes and the same
sizes, in the way of the first one.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.dialects.data import DataAttr
from moir.dialects.element_types import describe
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.matrix import MatMul
from moir.rewriting.driver import Pattern, PatternPass, Rewriter, rewrite


def _square_weights(op: MatMul) -> DataAttr | None:
    """The constant square matrix that a product multiplies by, which may be stored in another type; None for others."""
    source = op.operands[1].owner
    if isinstance(source, Convert):
        source = source.operands[0].owner
    if not isinstance(source, Constant) or source.value.data.values is None or describe(source.value.element).is_packed:
        return None
    shape = source.value.shape
    return source.value if len(shape) == 2 and shape[0] == shape[1] > 1 else None


class TransposedWeights(Pattern):
    """Transposes the constant of a product whose weights others have as they are.

    Args:
        others: the weights of products that do not transpose them.
    """

    roots = (MatMul,)

    def __init__(self, others: AbstractSet[DataAttr] = frozenset()) -> None:
        self._others = others

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, MatMul)
        data = _square_weights(op) if op.flag("transpose_b") else None
        if data is None or data not in self._others:
            return
        build, weights = rewriter.op, op.operands[1]
        transposed = build.constant(data.array.T, data.element)
        if isinstance(weights.owner, Convert):
            restored = Convert.create(operands=[transposed], properties=weights.owner.properties, result_types=[weights.type])
            build.insert(restored)
            transposed = restored.results[0]
        rewriter.replace_with(op, build.MatMul(op.operands[0], transposed, transpose_a=op.flag("transpose_a")))


class SeparateWeightsPass(PatternPass):
    """Stores square weights in both forms where the plugin would mistake one for the other."""

    name = "separate-weights"

    def patterns(self) -> list[Pattern]:
        return [TransposedWeights()]

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        is_changed = False
        # What is transposed may be what another product transposes.
        while others := {data for op in _products(analyses) if not op.flag("transpose_b") and (data := _square_weights(op)) is not None}:
            if not rewrite(module, [TransposedWeights(others)], analyses=analyses):
                break
            analyses.invalidate(dimensions=False)
            is_changed = True
        return is_changed


def _products(analyses: Analyses) -> Iterator[MatMul]:
    return (op for _, operations in analyses.contents for op in operations if isinstance(op, MatMul))
