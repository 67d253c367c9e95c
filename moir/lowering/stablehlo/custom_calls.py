"""Calls of functions that are not in the program: those of CHLO and LAPACK, and operations that JAX calls by name.

    %l, %info = stablehlo.custom_call(%a) {call_target_name = "lapack_spotrf_ffi", uplo = 76}
->  %l = the lower triangle with %a = %l · %lᵀ, %info = zeros
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from xdsl.ir import SSAValue

from moir.dialects.element_types import si32, si64
from moir.dialects.shapes import element_of
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.linear_algebra import LAPACK
from moir.lowering.stablehlo.table import stablehlo
from moir.rewriting.builder import OpBuilder

Called = Callable[[LoweringNode, OpBuilder, Sequence[SSAValue]], Sequence[SSAValue | None]]

SINGLE = {"acos": "Acos", "acosh": "Acosh", "asin": "Asin", "asinh": "Asinh", "cosh": "Cosh", "erf": "Erf", "sinh": "Sinh", "tan": "Tan"}
"""The functions of one tensor in the dialect `mhlo`, each with the opset operation that computes it."""


def _largest(node: LoweringNode, op: OpBuilder, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    count = op.constant(node.integer("k"), si64)
    return op.TopK.results(operands[0], count, axis=-1, mode="max", sort="value", stable=True, index_element_type=si32)


def _approximately_largest(node: LoweringNode, op: OpBuilder, operands: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Lower ApproxTopK to the exact largest or smallest elements along an axis, and the second tensor's elements at
    their indices. Raises ConversionError for a comparator that JAX does not write.
    """
    comparator = " ".join(node.texts("called_computations", ()))
    direction = re.search(r"_(gt|lt)_", comparator)
    if direction is None or len(operands) != 4:
        node.fail(f"its comparator {comparator!r} is not one that JAX writes")
    axis, count = node.integer("reduction_dim"), op.constant(node.integer("top_k"), si64)
    mode = "max" if direction[1] == "gt" else "min"
    values, indices = op.TopK.results(operands[0], count, axis=axis, mode=mode, sort="value", stable=True, index_element_type=si32)
    return [values, op.convert(op.GatherElements(operands[1], indices, axis=axis), element_of(operands[1]))]


TARGETS: Mapping[str, Called] = {
    "ApproxTopK": _approximately_largest,
    "TopK": _largest,
    "mhlo.topk": _largest,
    **LAPACK,
}
"""How call targets are lowered, by their names; LAPACK's names lack the letter of the element type."""


CUT = "cut the model before it, or make its result an input"
SYMMETRIC = f"use jax.numpy.linalg.eigh where the matrices are symmetric; else {CUT}"

UNAVAILABLE: Mapping[str, tuple[str, str]] = {
    "lapack_geev": (
        "the eigenvalues of matrices that are not symmetric come in the order in which the iterations of LAPACK find them",
        SYMMETRIC,
    ),
    "lapack_gees": ("the Schur form of matrices depends on the order in which the iterations of LAPACK find eigenvalues", SYMMETRIC),
    "lapack_gehrd": ("the Hessenberg form of matrices is not computed", CUT),
    "lapack_gtsv": ("systems of tridiagonal matrices are not solved", CUT),
    "lapack_sytrd": ("the tridiagonal form of matrices is not computed", CUT),
}
"""The reason and the hint of the error for functions of LAPACK that are not converted, by their names without the
letter of the element type.
"""


def name_of_target(target: str) -> str:
    """The name of a call target; for a function of LAPACK without the letter of its element type and `_ffi`."""
    return re.sub(r"^lapack_[sdcz](\w+?)(?:_ffi)?$", r"lapack_\1", target)


@stablehlo.lowers("complex.custom_call")
def of_complex_numbers(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """stablehlo.custom_call(x…) -> complex: refused: no call target with a complex operand or result is supported"""
    target = node.text("call_target_name")
    reason, hint = UNAVAILABLE.get(name_of_target(target), (f"it calls {target!r}, which is not computed of complex numbers", CUT))
    node.fail(reason, hint=hint)


@stablehlo.lowers("custom_call")
def custom_call(node: LoweringNode, op: OpBuilder, *operands: SSAValue, call_target_name: str) -> Sequence[SSAValue | None]:
    """stablehlo.custom_call(x…) {call_target_name = "mhlo.topk"} -> the operation of that name

    Raises ConversionError for a target that has no lowering.
    """
    name = name_of_target(call_target_name)
    if name in TARGETS:
        return list(TARGETS[name](node, op, operands))[: node.result_count]
    if name in UNAVAILABLE:
        reason, hint = UNAVAILABLE[name]
        node.fail(reason, hint=hint)
    function = SINGLE.get(name.removeprefix("mhlo."))
    if function is None or not name.startswith("mhlo.") or len(operands) != 1:
        node.fail(
            f"it calls {call_target_name!r}, a function of a library that is not in the program",
            hint="write a lowering for custom_call, or cut the model before it",
        )
    return [getattr(op, function)(operands[0])]
