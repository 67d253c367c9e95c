"""`fold-shifts`: a constant that is added before a convolution without padding is added after it.

    %0 = opset1.Subtract(%x, %m)                          // one number, or one per input channel
    %1 = opset1.Convolution(%0, %w) {pads_begin = [0, 0], pads_end = [0, 0]}
->  %0 = opset1.Convolution(%x, %w) {pads_begin = [0, 0], pads_end = [0, 0]}
    %1 = opset1.Add(%0, -(sum of %w * %m))                // one number per output channel

With padding, the windows at the border have fewer elements to which the constant was added, so the operation is
unchanged. The Add is merged with the bias of the convolution.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from xdsl.ir import Operation, OpResult

from moir.analysis.constants import stored, weight_of
from moir.analysis.uses import has_one_live_use
from moir.dialects.element_types import f32, f64, to_numpy
from moir.dialects.large_arrays import Values
from moir.dialects.memory_map import Array
from moir.dialects.names import inherit_origin
from moir.dialects.opset.arithmetic import Add, Subtract
from moir.dialects.opset.convolution import Convolution, GroupConvolution
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of
from moir.passes.fold.fold_scales import TwoConstants, constant_term
from moir.rewriting.driver import Pattern, PatternPass, Rewriter


def is_padded(op: OpsetOp) -> bool:
    """Whether a convolution has padding, or may have it."""
    if op.text("auto_pad") == "valid":
        return False
    return op.text("auto_pad") != "explicit" or any(op.integers("pads_begin")) or any(op.integers("pads_end"))


def sum_of_products(op: Convolution | GroupConvolution, filters: Array, term: Values) -> Array | None:
    """A convolution by `filters` of the constant `term`: one number for each output channel.

    None if the constant varies along other dimensions than the channels.
    """
    rank = len(op.integers("strides")) + 2
    if term.ndim > rank:
        return None
    sizes = [filters.shape[axis] for axis in op.INPUT_CHANNELS]
    aligned = np.asarray(term, np.float64).reshape((1,) * (rank - term.ndim) + term.shape)
    if aligned.size != 1 and (aligned.shape[1] != np.prod(sizes) or aligned.size != aligned.shape[1]):
        return None
    inputs = np.broadcast_to(aligned.reshape(-1), [int(np.prod(sizes))])
    along = inputs.reshape([size if axis in op.INPUT_CHANNELS else 1 for axis, size in enumerate(filters.shape)])
    summed = tuple(axis for axis in range(filters.ndim) if axis not in op.OUTPUT_CHANNELS)
    return np.sum(filters.astype(np.float64) * along, axis=summed).reshape([1, -1, *[1] * (rank - 2)])


class ShiftBefore(Pattern):
    """Moves an addition of a constant from the data of a convolution to its result."""

    roots = (Convolution, GroupConvolution)
    companions = ((Add, Subtract),)

    def may_match(self, op: Operation) -> bool:
        return isinstance(op.operands[0].owner, (Add, Subtract))

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Convolution | GroupConvolution)
        value, element = op.operands[0], element_of(op.results[0])
        term = constant_term(value.op) if isinstance(value, OpResult) else None
        # The result before the addition might overflow in f16.
        if term is None or element not in (f32, f64) or not has_one_live_use(value):
            return
        if is_padded(op):
            rewriter.decline("the convolution is padded")
            return
        filters = weight_of(op.operands[1])
        # A constant that broadcasts the data to a larger shape has to stay before the convolution.
        if filters is None or term[0].type != value.type:
            return
        total = sum_of_products(op, np.asarray(filters), term[1])
        bias = None if total is None else stored(total, to_numpy(element))
        if bias is not None:
            result = rewriter.op[op.name](term[0], op.operands[1], **op.properties)
            inherit_origin(op, result)
            rewriter.replace_with(op, rewriter.op.Add(result, rewriter.op.constant(bias, element)))


class TermsAfter(TwoConstants):
    """Merges two constant terms that are added after a convolution; `fold-scales` merges all others."""

    companions = ((Convolution, GroupConvolution),)


class FoldShiftsPass(PatternPass):
    """Moves additions of constants after convolutions."""

    name = "fold-shifts"

    KEEPS_DIMENSIONS = True

    FIXPOINT: ClassVar[bool] = True

    PATTERNS = (ShiftBefore, TermsAfter)
