"""Operations that exist only for complex numbers; their lowerings are in this folder.

This file registers the kinds in the table; the lowerings for pairs compute most of them.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.complex.layout import PROPERTY, lowered
from moir.lowering.pytorch.promotion import inferred_element
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

_TRANSFORMS = (
    *(f"fft_{kind}fft{axes}.default" for kind in ("", "i", "r", "ir", "h", "ih") for axes in ("", "2", "n")),
    *(
        "fft_fftshift.default",
        "fft_ifftshift.default",
        "_fft_c2c.default",
        "_fft_r2c.default",
        "_fft_c2r.default",
        "stft.default",
        "istft.default",
        "stft.center",
    ),
)


@aten.lowers(
    *("view_as_real.default", "view_as_complex.default", "view_as_real_copy.default", "view_as_complex_copy.default"),
    *("complex.default", "polar.default", "_conj.default", "conj_physical.default", "_conj_physical.default"),
    *_TRANSFORMS,
)
def of_pairs(node: LoweringNode, op: OpBuilder) -> Replacement:
    """aten.view_as_real.default(x) -> x, and so on; conjugation leaves real numbers unchanged"""
    if "conj" in node.op.KIND and PROPERTY not in node.op.properties:
        return node.operand(0)
    return lowered(node, op, None)


@aten.lowers("imag.default", "angle.default")
def of_real_numbers(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.angle.default(x) -> π where x is negative, else 0, of real numbers"""
    if not node.op.KIND.startswith("angle"):
        node.fail("the imaginary part of real numbers")
    x = op.convert(self, inferred_element(node))
    return op.Select(op.Less(x, 0), op.constant_like(3.141592653589793, x), op.Multiply(x, 0))
