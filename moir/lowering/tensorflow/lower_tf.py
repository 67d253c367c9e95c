"""`lower-tf`: the `tf` dialect -> opset dialects, one file per operation family.

    %y = tf.LeakyRelu(%x) {alpha = 0.2, name = "act"} : tensor<*x!moir.dynamic>
->  %y = opset1.PRelu(%x, 0.2) {name = "act"} : tensor<1x8xf32>

Channel-last operations keep the framework's layout: they become Transpose · operation · Transpose (`data_format.py`), which is correct for
every rank and shape; the passes of `moir.passes.layout` remove what need not stay.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ComplexType, ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from moir.dialects.assembly import name_of
from moir.dialects.framework import FrameworkOp
from moir.errors import UnsupportedOperationError
from moir.lowering.driver import lower
from moir.lowering.tensorflow.table import tf

COMPLEX_KINDS = (
    "Abs Angle Cast Complex ComplexAbs Conj Exp FFT FFT2D FFT3D IFFT IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D Imag RFFT RFFT2D RFFT3D Real "
    "Add AddV2 Sub Mul Neg ConcatV2 ExpandDims Squeeze Reshape Transpose Shape Roll Identity IdentityN Pack Unpack GatherV2 "
    "StridedSlice Slice Rank Size StopGradient"
)
"""Kinds whose handlers know that a complex tensor is one of real numbers with a last dimension of 2 (`complex_numbers.py`)."""


def check_complex(op: Operation) -> None:
    """Raises UnsupportedOperationError if an operation computes complex numbers and its handler does not know them."""
    knowing = frozenset(COMPLEX_KINDS.split())
    for each in op.walk():
        if not isinstance(each, FrameworkOp) or each.KIND in knowing:
            continue
        if any(isinstance(value, ComplexType) for value in each.properties.values()):
            raise UnsupportedOperationError(
                "it computes complex numbers, which OpenVINO IR does not have",
                operation=each.name,
                node=name_of(each),
                hint="write a lowering on real and imaginary parts for this node",
            )


@dataclass(frozen=True)
class LowerTfPass(ModulePass):
    """Lowers TensorFlow operations; a kind without lowering stays and is reported by `check-lowered`."""

    name = "lower-tf"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        check_complex(op)
        lower(op, tf)
