"""Ten mistakes of the kinds that converters make, each put into a pass or a lowering for the time of a test."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.lowering.control_flow.connections import Connections
from moir.lowering.onnx.table import onnx
from moir.passes.canonicalize import simplify_reshape
from moir.passes.compress import compress_to_fp16
from moir.passes.fold import fold_scales
from moir.passes.fuse import fuse_pads
from moir.passes.layout import permute_along_axes
from moir.rewriting import body_pruning, folding


class Mistake(NamedTuple):
    """A mistake, and where it has to be found.

    Args:
        put: puts it in.
        stage: the pass.
        rewrite: the pattern, or the function of the lowering.
        tensor: the first tensor that is wrong.
        options: the options of the conversion.
        node: the node whose lowering it is; empty for a pass.
    """

    put: Callable[[pytest.MonkeyPatch], None]
    stage: str
    rewrite: str
    tensor: str
    options: Mapping[str, Any] = {}
    node: str = ""


def wrong_axis(patch: pytest.MonkeyPatch) -> None:
    """A Transpose of a constant is folded as another one."""
    evaluate = folding.evaluate

    def evaluated(op: OpsetOp, operands: Any) -> Any:
        results = evaluate(op, operands)
        return [results[0].T] if results is not None and op.KIND == "Transpose" else results

    patch.setattr(folding, "evaluate", evaluated)


def forgotten_bias(patch: pytest.MonkeyPatch) -> None:
    """Of two additions of constants that are merged, one is forgotten."""
    combined = fold_scales.combined
    patch.setattr(fold_scales, "combined", lambda function, *terms: terms[1] if function is np.add else combined(function, *terms))


def swapped_permutation(patch: pytest.MonkeyPatch) -> None:
    """The axis of an operation in another layout is that of the inverse permutation."""
    patch.setattr(permute_along_axes, "moved_axis", lambda axis, order: order[axis])


def off_by_one(patch: pytest.MonkeyPatch) -> None:
    """Padding that becomes that of a convolution begins one element too early, and ends one too early."""
    zeros_around = fuse_pads.zeros_around

    def shifted(value: Any) -> Any:
        result = zeros_around(value)
        return result and result.with_fields(begin=[size + 1 for size in result.begin], end=[size - 1 for size in result.end])

    patch.setattr(fuse_pads, "zeros_around", shifted)


def rounding(patch: pytest.MonkeyPatch) -> None:
    """Round rounds down."""
    _lower(patch, "Round", lambda node, op: op.Floor(node.operand(0)))


def shape_value(patch: pytest.MonkeyPatch) -> None:
    """Two entries of a target shape are exchanged."""
    constant_target = simplify_reshape.constant_target

    def exchanged(*given: Any) -> Any:
        target = constant_target(*given)
        return target if target is None else [*target[:-2], target[-1], target[-2]]

    patch.setattr(simplify_reshape, "constant_target", exchanged)


def dead_input(patch: pytest.MonkeyPatch) -> None:
    """After a dead input of a body that is erased, two others change places."""
    renumber = body_pruning._renumber

    def confused(op: Any, used: set[int], first: int) -> dict[int, int]:
        count = len(op.operands)
        numbers = renumber(op, used, first)
        one, other, *_ = [*(number for number in numbers if number >= first), -1, -1]
        return numbers if len(op.operands) == count else {**numbers, one: numbers[other], other: numbers[one]}

    patch.setattr(body_pruning, "_renumber", confused)


def back_edge(patch: pytest.MonkeyPatch) -> None:
    """Two states of a loop take the values of each other."""
    add_states = Connections.add_states

    def confused(self: Connections, values: Any) -> None:
        add_states(self, values)
        first, second = [index for index, port in enumerate(self.inputs) if port.back_edge is not None][:2]
        one, other = self.inputs[first], self.inputs[second]
        self.inputs[first], self.inputs[second] = (
            one.with_fields(back_edge=other.back_edge),
            other.with_fields(back_edge=one.back_edge),
        )

    patch.setattr(Connections, "add_states", confused)


def wrong_default(patch: pytest.MonkeyPatch) -> None:
    """LeakyRelu has the default of another framework."""
    _lower(patch, "LeakyRelu", lambda node, op: op.PRelu(node.operand(0), op.constant(np.float32(node.number("alpha", 0.1)))))


def overflow(patch: pytest.MonkeyPatch) -> None:
    """Weights become f16 although it does not have numbers as large."""
    patch.setattr(compress_to_fp16, "_survives", lambda _: True)


def _lower(patch: pytest.MonkeyPatch, kind: str, handler: Any) -> None:
    """Put a lowering before moir's, until the end of the test."""
    handlers = {name: list(entries) for name, entries in onnx._handlers.items()}
    onnx.lowers(kind)(handler)
    changed = dict(onnx._handlers)
    onnx._handlers.clear()
    onnx._handlers.update(handlers)
    patch.setattr(onnx, "_handlers", changed)


STATIC: Mapping[str, Any] = {"input": "x[1,4,6,6]", "static_shape": True}

MISTAKES = [
    Mistake(wrong_axis, "fold-constants", "fold-constants", "times_turned"),
    Mistake(forgotten_bias, "fold-scales", "TwoConstants", "add_5"),
    Mistake(swapped_permutation, "choose-layouts", "permute Softmax", "", {"layout": "nchw->nhwc"}),
    Mistake(off_by_one, "fuse-pads", "PadOfWindow", "of_padded"),
    Mistake(rounding, "lower-onnx", "<lambda>", "rounded", node="rounded"),
    Mistake(shape_value, "simplify-reshape", "ConstantTarget", "flat"),
    Mistake(dead_input, "eliminate-dead", "eliminate-dead", "l0", STATIC),
    Mistake(back_edge, "lower-onnx", "control_flow.loop", "l0", node="loop"),
    Mistake(wrong_default, "lower-onnx", "<lambda>", "leaky", node="leaky"),
    Mistake(overflow, "compress-to-fp16", "compress-to-fp16", "large", {"compress_to_fp16": True}),
]
"""One of each kind."""
