"""Sizes and arithmetic on them, for which PyTorch's programs call Python functions: integers are scalars of type i64,
floats of type f64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import REAL_TYPES, f64, si64
from moir.dialects.framework import FrameworkOp
from moir.dialects.shapes import element_of
from moir.expansions.shape_values import as_scalar, dimension_value
from moir.lowering.binder import LoweringNode
from moir.lowering.complex.kinds import PAIRS, by_formula
from moir.lowering.pytorch.arguments import Scalar
from moir.lowering.pytorch.arithmetic import floor_quotient
from moir.lowering.pytorch.comparison import truth
from moir.lowering.pytorch.promotion import as_element, inferred_element, promoted
from moir.lowering.pytorch.table import aten
from moir.rewriting.builder import OpBuilder


@aten.lowers("sym_size.int", "size.int", complex=by_formula("pytorch.complex.arithmetic:size"))
def sym_size(op: OpBuilder, self: SSAValue, *, dim: int) -> SSAValue:
    """aten.sym_size.int(x) {dim} -> opset8.Gather(opset3.ShapeOf(x), dim, 0)"""
    return dimension_value(op, self, dim)


@aten.lowers("sym_numel.default", complex=by_formula("pytorch.complex.arithmetic:size"))
@aten.lowers("numel.default")
def sym_numel(op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.sym_numel.default(x) -> ReduceProd(ShapeOf(x), [0])"""
    return op.ReduceProd(op.ShapeOf(self), [0], keep_dims=False)


@aten.lowers("item.default", "_local_scalar_dense.default")
def item(node: LoweringNode, op: OpBuilder, self: SSAValue) -> SSAValue:
    """aten.item.default(x) -> x as a scalar"""
    return op.convert(as_scalar(op, self), inferred_element(node))


@aten.lowers(
    *("_assert_scalar.default", "_assert_async.msg", "_assert_async.default", "_assert_tensor_metadata.default"),
    *("sym_constrain_range_for_size.default", "sym_constrain_range.default", "_functional_assert_async.msg"),
    *("_functional_assert_scalar.default", "_check.default", "_check_is_size.default", "torch._check", "torch._check_is_size"),
    complex=PAIRS,
)
def assertion(node: LoweringNode) -> list[SSAValue | None]:
    """aten._assert_scalar.default(x) -> no operation: it has no effect on results; likewise `_check`,
    `sym_constrain_range` and the other assertions
    """
    return [None] * node.result_count


@aten.lowers(
    *("promote_types.default", "can_cast.default"),
    *(f"result_type.{overload}" for overload in ("Tensor", "Scalar", "Scalar_Tensor", "Scalar_Scalar")),
)
def question_of_types(node: LoweringNode) -> list[SSAValue | None]:
    """aten.promote_types.default() {type1, type2} -> no operation: export has computed its result, an element type;
    `can_cast` and `result_type` likewise

    `torch.tensor(x.shape)` of dynamic sizes leaves it in the program, without users.
    """
    if any(node.is_used(index) for index in range(node.result_count)):
        node.fail("an element type is computed when the model runs", hint="export the program again, with the element type as a constant")
    return [None] * node.result_count


@aten.lowers("sym_storage_offset.default")
def sym_storage_offset(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.sym_storage_offset.default(x) -> 0, the beginning of the memory, which only assertions may use"""
    if not _is_asserted(node.op.results[0]):
        node.fail("where the elements of its operand begin in memory is computed with")
    return op.constant(0)


def _is_asserted(value: SSAValue) -> bool:
    """Whether a value is only used by assertions, or by comparisons whose results only assertions use."""
    for use in value.uses:
        kind = use.operation.KIND if isinstance(use.operation, FrameworkOp) else ""
        if not kind.startswith(("_assert", "_functional_assert", "sym_constrain")) and not (
            kind.startswith("_operator.") and all(map(_is_asserted, use.operation.results))
        ):
            return False
    return True


def _arguments(node: LoweringNode) -> list[Scalar]:
    """The arguments of a Python function; if they are named a, b, …, in the order of the names."""
    names = dict.fromkeys((*node.texts("arguments", ()), *node.op.properties))
    names.pop("arguments", None)
    values: dict[str, SSAValue] = dict(zip(node.texts("arguments", ()), node.op.operands, strict=False))
    arguments: list[Any] = [values[name] if name in values else node.attribute(name, None) for name in sorted(names)]
    if not all(isinstance(each, int | float | SSAValue) for each in arguments):
        node.fail("an argument is not a number", hint="export the program again, with numbers where sizes are meant")
    return arguments


def _pair(node: LoweringNode, op: OpBuilder) -> tuple[SSAValue, SSAValue]:
    arguments = _arguments(node)
    if len(arguments) != 2:
        node.fail(f"it has {len(arguments)} arguments, not 2")
    a, b = as_element(op, _promoted(arguments), *arguments)
    return a, b


def _promoted(scalars: Sequence[Scalar]) -> Attribute:
    """The element type of a Python computation: f64 if a scalar is a float, else that of the integers."""
    floats = (element_of(each) in REAL_TYPES if isinstance(each, SSAValue) else isinstance(each, float) for each in scalars)
    return f64 if any(floats) else promoted(scalars)


@aten.lowers("_operator.add", "_operator.sub", "_operator.mul", "_operator.pow", "_operator.mod", "torch.sym_max", "torch.sym_min")
def arithmetic(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten._operator.add(a, b) -> opset1.Add(a, b), and so on; the remainder has the sign of the divisor"""
    a, b = _pair(node, op)
    build = {"add": op.Add, "sub": op.Subtract, "mul": op.Multiply, "pow": op.Power, "mod": op.FloorMod}
    build |= {"sym_max": op.Maximum, "sym_min": op.Minimum}
    return build[node.op.KIND.rpartition(".")[2]](a, b)


@aten.lowers("_operator.floordiv")
def floordiv(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten._operator.floordiv(a, b) -> a / b rounded down"""
    a, b = _pair(node, op)
    return floor_quotient(op, a, b)


@aten.lowers("_operator.truediv", "torch.sym_int_truediv")
def truediv(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten._operator.truediv(a, b) -> opset1.Divide(a, b) of f64"""
    return op.Divide(*as_element(op, f64, *_pair(node, op)))


_COMPARISONS = {"eq": "Equal", "ne": "NotEqual", "lt": "Less", "le": "LessEqual", "gt": "Greater", "ge": "GreaterEqual"}


@aten.lowers(*(f"_operator.{name}" for name in _COMPARISONS))
def comparison(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten._operator.le(a, b) -> opset1.LessEqual(a, b), and so on"""
    return getattr(op, _COMPARISONS[node.op.KIND.rpartition(".")[2]])(*_pair(node, op))


@aten.lowers("_operator.and_", "_operator.or_", "_operator.neg", "torch.sym_not", "_operator.not_", "_operator.pos", "_operator.abs")
def logic(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten._operator.and_(a, b) -> opset1.LogicalAnd(a, b), and so on"""
    arguments, name = _arguments(node), node.op.KIND.rpartition(".")[2]
    if name in ("neg", "abs", "pos"):
        (x,) = as_element(op, _promoted(arguments), *arguments)
        return op.Negative(x) if name == "neg" else op.Abs(x) if name == "abs" else x
    values = [truth(op, each) for each in arguments]
    if name in ("sym_not", "not_"):
        return op.LogicalNot(values[0])
    return (op.LogicalAnd if name == "and_" else op.LogicalOr)(*values)


@aten.lowers("torch.sym_float", "torch.sym_int", "math.trunc", "math.floor", "math.ceil", "_operator.int", "torch._sym_sqrt", "math.sqrt")
def number(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.torch.sym_float(a) -> opset1.Convert(a); `trunc`, `floor` and `ceil` give integers; `sqrt` -> opset1.Sqrt"""
    arguments, name = _arguments(node), node.op.KIND.rpartition(".")[2]
    (x,) = as_element(op, _promoted(arguments), *arguments)
    if "sqrt" in name:
        return op.Sqrt(op.convert(x, f64))
    if name == "sym_float":
        return op.convert(x, f64)
    if element_of(x) in REAL_TYPES and name in ("floor", "ceil"):
        x = op.Floor(x) if name == "floor" else op.Ceiling(x)
    return op.convert(x, si64)


@aten.lowers("torch.sym_ite")
def choice(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """aten.torch.sym_ite(condition, a, b) -> opset1.Select(condition, a, b)"""
    condition, *branches = _arguments(node)
    return op.Select(truth(op, condition), *as_element(op, _promoted(branches), *branches))
