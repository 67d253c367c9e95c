"""Arithmetic and comparisons of two tensors, or of a tensor and a number.

Source: elemwise_binary_*op*.cc of MXNet 1.9.
"""

from __future__ import annotations

from functools import reduce

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si64
from moir.dialects.shapes import shape_of
from moir.expansions.complex_numbers import angle_of, hypotenuse
from moir.expansions.functions import operation
from moir.lowering.binder import LoweringNode
from moir.lowering.mxnet.attributes import is_integer
from moir.lowering.mxnet.elementwise import in_type_of, plain_name
from moir.lowering.mxnet.table import mxnet
from moir.rewriting.builder import OpBuilder

_OPERATIONS = ("add", "sub", "mul", "div", "power", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor")
_LOGIC = ("logical_and", "logical_or", "logical_xor")

_SPELLINGS = {
    "add": ("Plus", "plus", "add", "grad_add", "elemwise_add", "broadcast_add", "broadcast_plus", "scatter_plus"),
    "sub": ("Minus", "minus", "sub", "subtract", "elemwise_sub", "broadcast_sub", "broadcast_minus", "scatter_minus"),
    "mul": ("Mul", "mul", "multiply", "elemwise_mul", "broadcast_mul"),
    "div": ("Div", "div", "true_divide", "elemwise_div", "broadcast_div", "scatter_elemwise_div"),
    "mod": ("Mod", "mod", "broadcast_mod"),
    "power": ("Power", "power", "broadcast_power"),
    "maximum": ("Maximum", "maximum", "broadcast_maximum"),
    "minimum": ("Minimum", "minimum", "broadcast_minimum"),
    "equal": ("Equal", "equal", "broadcast_equal"),
    "not_equal": ("Not_Equal", "NotEqual", "not_equal", "broadcast_not_equal"),
    "greater": ("Greater", "greater", "broadcast_greater"),
    "greater_equal": ("Greater_Equal", "GreaterEqual", "greater_equal", "broadcast_greater_equal"),
    "lesser": ("Lesser", "lesser", "less", "broadcast_lesser"),
    "lesser_equal": ("Lesser_Equal", "LesserEqual", "lesser_equal", "less_equal", "broadcast_lesser_equal"),
    "logical_and": ("Logical_And", "LogicalAnd", "logical_and", "broadcast_logical_and"),
    "logical_or": ("Logical_Or", "LogicalOr", "logical_or", "broadcast_logical_or"),
    "logical_xor": ("Logical_Xor", "LogicalXor", "logical_xor", "broadcast_logical_xor"),
    "hypot": ("Hypot", "hypot", "broadcast_hypot"),
    "arctan2": ("arctan2",),
    "copysign": ("copysign",),
    "ldexp": ("ldexp",),
    **{name: (name,) for name in ("bitwise_and", "bitwise_or", "bitwise_xor")},
}
"""The spellings of each operation, without leading underscores and prefixes."""

_CANONICAL = {spelling: name for name, spellings in _SPELLINGS.items() for spelling in spellings}


def _plain(kind: str) -> str:
    return plain_name(kind).lstrip("_").removesuffix("_scalar").removesuffix("Scalar")


def _name(kind: str) -> tuple[str, bool]:
    """The operation that a kind computes, and whether the scalar is its first operand, as in `_RMinusScalar`."""
    plain = _plain(kind)
    if plain in _CANONICAL:
        return _CANONICAL[plain], False
    return _CANONICAL[plain[1:]], True


_BINARY_KINDS = (
    "_Div _Equal _Greater _Greater_Equal _Hypot _Lesser _Lesser_Equal _Logical_And _Logical_Or _Logical_Xor _Maximum _Minimum _Minus "
    "_Mod _Mul _Not_Equal _Plus _Power _add _div _equal _grad_add _greater _greater_equal _hypot _lesser _lesser_equal _logical_and "
    "_logical_or _logical_xor _maximum _minimum _minus _mod _mul _not_equal _npi_add _npi_arctan2 _npi_bitwise_and _npi_bitwise_or "
    "_npi_bitwise_xor _npi_copysign _npi_equal _npi_greater _npi_greater_equal _npi_hypot _npi_ldexp _npi_less _npi_less_equal "
    "_npi_logical_and _npi_logical_or _npi_logical_xor _npi_maximum _npi_minimum _npi_mod _npi_multiply _npi_not_equal _npi_power "
    "_npi_subtract _npi_true_divide _plus _power _scatter_elemwise_div _sub broadcast_add broadcast_div broadcast_equal "
    "broadcast_greater broadcast_greater_equal broadcast_hypot broadcast_lesser broadcast_lesser_equal broadcast_logical_and "
    "broadcast_logical_or broadcast_logical_xor broadcast_maximum broadcast_minimum broadcast_minus broadcast_mod broadcast_mul "
    "broadcast_not_equal broadcast_plus broadcast_power broadcast_sub elemwise_add elemwise_div elemwise_mul elemwise_sub"
)
"""The spellings of operations on two tensors: of the symbol interface, of numpy's (`_npi_`), and old ones."""

_SCALAR_KINDS = (
    "_DivScalar _EqualScalar _GreaterEqualScalar _GreaterScalar _HypotScalar _LesserEqualScalar _LesserScalar _LogicalAndScalar "
    "_LogicalOrScalar _LogicalXorScalar _MaximumScalar _MinimumScalar _MinusScalar _ModScalar _MulScalar _NotEqualScalar _PlusScalar "
    "_PowerScalar _RDivScalar _RMinusScalar _RModScalar _RPowerScalar _div_scalar _equal_scalar _greater_equal_scalar _greater_scalar "
    "_hypot_scalar _lesser_equal_scalar _lesser_scalar _logical_and_scalar _logical_or_scalar _logical_xor_scalar _maximum_scalar "
    "_minimum_scalar _minus_scalar _mod_scalar _mul_scalar _not_equal_scalar _npi_add_scalar _npi_arctan2_scalar "
    "_npi_bitwise_and_scalar _npi_bitwise_or_scalar _npi_bitwise_xor_scalar _npi_copysign_scalar _npi_equal_scalar "
    "_npi_greater_equal_scalar _npi_greater_scalar _npi_hypot_scalar _npi_ldexp_scalar _npi_less_equal_scalar _npi_less_scalar "
    "_npi_maximum_scalar _npi_minimum_scalar _npi_mod_scalar _npi_multiply_scalar _npi_not_equal_scalar _npi_power_scalar "
    "_npi_rarctan2_scalar _npi_rcopysign_scalar _npi_rldexp_scalar _npi_rmod_scalar _npi_rpower_scalar _npi_rsubtract_scalar "
    "_npi_rtrue_divide_scalar _npi_subtract_scalar _npi_true_divide_scalar _plus_scalar _power_scalar _rdiv_scalar _rminus_scalar "
    "_rmod_scalar _rpower_scalar _scatter_minus_scalar _scatter_plus_scalar"
)
"""The spellings of operations on a tensor and a number."""


@mxnet.lowers(*_BINARY_KINDS.split())
def binary(node: LoweringNode, op: OpBuilder, a: SSAValue, b: SSAValue) -> SSAValue:
    """mxnet.broadcast_add(a, b) -> opset1.Add(a, b), and so on; comparisons have the type of a"""
    return _computed(node, op, _name(node.op.KIND)[0], a, b, a)


@mxnet.lowers(*_SCALAR_KINDS.split())
def scalar(node: LoweringNode, op: OpBuilder, x: SSAValue, *, scalar: float = 0.0) -> SSAValue:
    """mxnet._rminus_scalar(x) {scalar} -> opset1.Subtract(scalar, x), and so on"""
    name, is_first = _name(node.op.KIND)
    if is_integer(x) and not scalar.is_integer():
        x = op.convert(x, f32)
    value = op.constant_like(scalar, x)
    if name == "mod" and scalar and not is_first:
        return op.FloorMod(x, value)
    return _computed(node, op, name, value, x, x) if is_first else _computed(node, op, name, x, value, x)


def _computed(node: LoweringNode, op: OpBuilder, name: str, a: SSAValue, b: SSAValue, like: SSAValue) -> SSAValue:
    if name == "mod":
        # The remainder of a division by 0 is 0.
        return op.Select(op.Equal(b, 0), op.constant_like(0, b), op.FloorMod(a, b))
    if name in _OPERATIONS:
        return operation(op, name)(a, b)
    if name == "hypot":
        return hypotenuse(op, a, b)
    if name == "arctan2":
        return angle_of(op, a, b)
    if name == "copysign":
        return op.Select(op.Less(b, 0), op.Negative(op.Abs(a)), op.Abs(a))
    if name == "ldexp":
        return op.Multiply(a, op.Power(op.constant_like(2.0, b), b))
    if name in _LOGIC:
        return in_type_of(node, op, operation(op, name)(op.NotEqual(a, 0), op.NotEqual(b, 0)), like)
    return in_type_of(node, op, operation(op, name)(a, b), like)


@mxnet.lowers("add_n", "ElementWiseSum")
def add_n(op: OpBuilder, first: SSAValue, *others: SSAValue) -> SSAValue:
    """mxnet.add_n(a, b, …) -> a + b + …"""
    return reduce(op.Add, [first, *others])


@mxnet.lowers("_copy", "_np_copy", "_identity_with_attr_like_rhs")
def copy(x: SSAValue) -> SSAValue:
    """mxnet._copy(x) -> x"""
    return x


@mxnet.lowers("clip", "_npi_clip")
def clip(node: LoweringNode, op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet.clip(x) {a_min, a_max} -> opset1.Clamp(x) {min, max}"""
    return op.Clamp(x, min=node.number("a_min", float("-inf")), max=node.number("a_max", float("inf")))


@mxnet.lowers("_contrib_div_sqrt_dim")
def div_sqrt_dim(op: OpBuilder, x: SSAValue) -> SSAValue:
    """mxnet._contrib_div_sqrt_dim(x) -> x / √(size of the last dimension)"""
    shape = shape_of(x)
    if shape is not None and shape[-1] > 0:
        return op.Divide(x, float(np.sqrt(shape[-1])))
    size = op.Gather(op.ShapeOf(x, output_type=si64), -1, 0)
    return op.Divide(x, op.Sqrt(op.ConvertLike(size, x)))
