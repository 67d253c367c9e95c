"""Which values the CPU plugin computes in integers of 8 bits."""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.analysis.constants import is_constant
from moir.dialects.element_types import si8, ui8
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.quantization import FakeQuantize
from moir.dialects.shapes import element_of

MOVED = frozenset(("BatchToSpace", "Concat", "DepthToSpace", "Gather", "MaxPool", "Pad", "Relu", "Reshape", "ShuffleChannels", "Slice",
                   "SpaceToBatch", "SpaceToDepth", "Split", "Squeeze", "StridedSlice", "Transpose", "Unsqueeze",
                   "VariadicSplit"))  # fmt: skip
"""Operations through which the plugin moves factors, and which it computes of levels of quantization as they are."""

COMPUTED = MOVED | {"Add", "AvgPool", "Clamp", "Divide", "Interpolate", "Multiply", "Negative", "PRelu", "ReduceMax", "ReduceMean",
                    "ReduceMin", "ReduceSum", "Subtract"}  # fmt: skip
"""Operations whose results the plugin may compute in integers of 8 bits if an operand is quantized."""

_BYTES = (si8, ui8)


def is_quantized(value: SSAValue) -> bool:
    """Whether a value is rounded to levels, or computed of integers of 8 bits by constants."""
    while isinstance(owner := value.owner, OpsetOp):
        if isinstance(owner, FakeQuantize) or element_of(value) in _BYTES:
            return True
        computed = [each for each in owner.operands if not is_constant(each)]
        if owner.KIND not in COMPUTED or not computed:
            return False
        value = computed[0]
    return element_of(value) in _BYTES
