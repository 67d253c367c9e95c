"""The layout of complex tensors: real tensors with a last dimension of 2 for the real and the imaginary part."""

from __future__ import annotations

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Operation

from moir.dialects.framework import FrameworkOp
from moir.dialects.names import name_of
from moir.errors import UnsupportedOperationError
from moir.lowering.binder import LoweringNode

COMPLEX_KINDS = (
    "Abs Angle Cast Complex ComplexAbs Conj Exp FFT FFT2D FFT3D IFFT IFFT2D IFFT3D IRFFT IRFFT2D IRFFT3D Imag RFFT RFFT2D RFFT3D Real "
    "Add AddV2 Sub Mul Neg ConcatV2 ExpandDims Squeeze Reshape Transpose Shape Roll Identity IdentityN Pack Unpack GatherV2 "
    "StridedSlice Slice Rank Size StopGradient"
)
"""Kinds whose handlers support complex tensors in their real layout."""


def check_complex(op: Operation) -> None:
    """Raises UnsupportedOperationError for the first complex operation whose handler supports real tensors only."""
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


def is_complex(node: LoweringNode, attribute: str = "T") -> bool:
    """Whether the data of a node are complex numbers, by the element type in an attribute."""
    return isinstance(node.op.properties.get(attribute), ComplexType)


def real_axis(node: LoweringNode, axis: int, attribute: str = "T") -> int:
    """The axis of the real tensor for an axis of the complex one; a negative axis counts from the end."""
    return axis - 1 if axis < 0 and is_complex(node, attribute) else axis
