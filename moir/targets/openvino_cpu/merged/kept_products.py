"""Products that are kept in f32 where the CPU plugin computes in bf16, so that the plugin does not merge them with
their users.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from moir.analysis.analyses import Analyses
from moir.analysis.marks import is_marked, mark
from moir.dialects.element_types import f32
from moir.dialects.opset.arithmetic import Add, Multiply, Subtract
from moir.dialects.opset.interfaces.spatial import ConvolutionOp
from moir.dialects.opset.matrix import MatMul
from moir.dialects.shapes import element_of, rank_of
from moir.rewriting.builder import OpBuilder
from moir.targets.openvino_cpu.neighbours.identity import rectified_identity
from moir.targets.record import BF16, Fault, Form
from moir.targets.stages import MARKED

_PRODUCTS = (MatMul, ConvolutionOp)
_MERGED = (Add, Subtract, Multiply)


def _separate_kept_products(_: ModuleOp, analyses: Analyses) -> bool:
    """Separate marked products from the sums, differences and multiples that read them.

        %0 = opset1.MatMul(%x, %w) {runtime_info = {precise = {version = "0"}}}
        %y = opset1.Add(%0, %b)
    ->  %0 = opset1.MatMul(%x, %w) {runtime_info = {precise = {version = "0"}}}
        %1 = opset1.PRelu(%0, [1.0]) {runtime_info = {precise = {version = "0"}}}
        %y = opset1.Add(%1, %b)

    The runtime makes one operation of a product and a bias or scale, which has no mark. A marked convolution into which
    the plugin merges a sum with what is in bf16 has no kernel. Values stay as they are.
    """
    changed = False
    for op in analyses.operations(*_PRODUCTS):
        result = op.results[0]
        merged = [use for use in result.uses if isinstance(use.operation, _MERGED)]
        if not merged or not is_marked(op) or element_of(result) != f32 or not rank_of(result):
            continue
        identity = rectified_identity(OpBuilder(analyses.known_values, _block(op), op.next_op), result)
        assert isinstance(identity.owner, Operation)
        mark(identity.owner)
        for use in merged:
            use.operation.operands[use.index] = identity
        changed = True
    return changed


def _block(op: Operation) -> Block:
    assert op.parent is not None
    return op.parent


FORMS = (
    Form(
        "separate-kept-products",
        summary="Separates products that are kept in f32 from the sums and multiples that read them.",
        run=_separate_kept_products,
        roots=_PRODUCTS,
        stage=MARKED,
        faults=(
            Fault(
                "kept-product-with-bias",
                "MatMul that is marked to be computed in f32, with a bias or scale, under a hint of bf16",
                "is computed in bf16",
                feature=BF16,
            ),
            Fault(
                "kept-convolution-with-sum",
                "Convolution that is marked to be computed in f32, whose result is added to one in bf16",
                "does not run",
                feature=BF16,
            ),
        ),
    ),
)
