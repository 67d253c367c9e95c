"""Types that follow from a value whose type became more precise.

    %0 = opset1.Reshape(%x, [0, 4, -1]) : tensor<?x4x32xf32>           // was tensor<?x4x?xf32>
    %1 = opset1.Relu(%0) : tensor<?x4x?xf32>
->  %1 = opset1.Relu(%0) : tensor<?x4x32xf32>
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from xdsl.ir import Attribute, SSAValue

from moir.analysis.known_values import KnownValues
from moir.dialects.inference import set_type
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of, shape_of
from moir.errors import InferenceError


def is_refined(type_: Attribute, former: Attribute) -> bool:
    """Whether a type agrees with the type `former` and has some dimensions static that are dynamic there."""
    if type_ is former or element_of(type_) != element_of(former):
        return False
    shape, other = shape_of(type_), shape_of(former)
    if shape is None or other is None:
        return shape is not None and other is None
    return len(shape) == len(other) and shape != other and all(old in (-1, new) for new, old in zip(shape, other, strict=True))


def refine_users(values: Iterable[SSAValue]) -> None:
    """Infer the types of the operations that use values, of those that use their results, and so on.

    A type changes only if it becomes more precise. Operations with bodies keep their types.
    """
    known = KnownValues()
    pending = deque(use.operation for value in values for use in value.uses)
    while pending:
        op = pending.popleft()
        if not isinstance(op, OpsetOp) or op.regions:
            continue
        try:
            types = op.infer(known)
        except InferenceError:
            # The inference of the whole module reports it.
            continue
        for result, type_ in zip(op.results, types, strict=False):
            if is_refined(type_, result.type):
                set_type(result, type_)
                pending.extend(use.operation for use in result.uses)
