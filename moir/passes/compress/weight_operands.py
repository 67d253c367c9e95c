"""Weights that targets multiply by or read in compressed form: the operands, and the constants behind them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.analysis.constants import scalar_of
from moir.analysis.uses import live_uses
from moir.dialects.computed_rows import computed_rows
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.element_types import REAL_TYPES, bf16, describe, f8e4m3, f8e5m2, f16, f32
from moir.dialects.inference import set_type
from moir.dialects.large_arrays import is_transposed
from moir.dialects.locations import located
from moir.dialects.memory_map import Array
from moir.dialects.opset.arithmetic import Multiply, Subtract
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.indexing import Gather
from moir.dialects.opset.infrastructure import Constant
from moir.dialects.opset.matrix import GroupedMatMul, MatMul
from moir.dialects.opset.shape import Reshape
from moir.dialects.opset.sort import TopKOp
from moir.dialects.properties import boolean_attribute
from moir.dialects.shapes import element_of, rank_of, shape_of, tensor
from moir.rewriting.dead_code import erase, is_used

FEWEST_VALUES = 1024
"""Minimum number of weights of a constant."""

SCALED_TYPES = (f8e4m3, f8e5m2, f16, bf16)
"""Element types of weights with scales that are dequantized and compressed again."""

RANKING_STEPS = 6
"""The maximum number of operations from the product of a router to its TopK."""


class Site(NamedTuple):
    """An operand that can be compressed.

    Args:
        op: the operation.
        position: the index of the operand.
        source: the constant.
        axis: the dimension of the constant over which products are summed, or along which rows of a table extend.
    """

    op: Operation
    position: int
    source: Constant
    axis: int


def site_of(op: Operation, with_experts: bool = False) -> Site | None:
    """The weights of an operation that targets multiply or read in compressed form; None if it has none.

    Args:
        op: the operation.
        with_experts: whether products of batches are those of experts: a target multiplies by a few of their
            matrices.
    """
    position = 0 if isinstance(op, Gather) else 1
    source = _source_of(op.operands[position])
    if source is None:
        return None
    shape = source.value.shape
    if math.prod(shape) < FEWEST_VALUES or len(shape) < 2:
        return None
    if isinstance(op, Gather):
        is_table = len(shape) == 2 and scalar_of(op.operands[2]) in (0, -2) and op.integer("batch_dims") == 0
        return Site(op, position, source, 1) if is_table else None
    if isinstance(op, GroupedMatMul):
        return Site(op, position, source, 2) if with_experts else None
    assert isinstance(op, MatMul)
    axis = len(shape) - (1 if op.flag("transpose_b") else 2)
    columns = math.prod(shape) // shape[axis]
    rank = rank_of(op.operands[0])
    if with_experts and len(shape) == 3 and rank == 3 and axis == 2:
        return Site(op, position, source, axis)
    is_matrix = math.prod(shape[:-2]) == 1 and columns > 1 and (rank is None or rank > 1)
    return Site(op, position, source, axis) if is_matrix else None


def _source_of(value: SSAValue) -> Constant | None:
    """The constant of a value that is one, or one converted to another floating-point type.

    Returns None for other values, for constants of other types than floats of 16 bits or more, and for one without
    values.
    """
    if not isinstance(value, OpResult) or element_of(value) not in REAL_TYPES:
        return None
    op = value.op
    if isinstance(op, Convert) and isinstance(inner := op.operands[0], OpResult):
        op = inner.op
    if not isinstance(op, Constant) or op.value.data.values is None:
        return None
    return op if op.value.element in REAL_TYPES and describe(op.value.element).bits > 8 else None


def sites_by_source(sites: Sequence[Site]) -> Iterator[tuple[Constant, Sequence[Site]]]:
    """Each constant with its uses, for constants all of whose uses can be compressed."""
    sites_of: dict[Constant, list[Site]] = {}
    for site in sites:
        sites_of.setdefault(site.source, []).append(site)
    for source, uses in sites_of.items():
        if len(uses) == _count_uses(source.results[0]):
            yield source, _straightened(source, uses)


def _count_uses(value: SSAValue) -> int:
    """The number of uses of a constant, direct or after a conversion."""
    users = [use.operation for use in live_uses(value)]
    return sum(_count_uses(user.results[0]) if isinstance(user, Convert) else 1 for user in users)


def _straightened(source: Constant, sites: Sequence[Site]) -> Sequence[Site]:
    """The sites of a matrix, where a constant that is a transposed view of memory is replaced by a Transpose of the
    matrix in memory.

    The matrix is then read in the order of memory, and shares its codes with a table in the same memory.
    """
    values = source.value.values
    if not is_transposed(values) or not all(isinstance(site.op, MatMul) for site in sites):
        return sites
    data = DataAttr(TensorData(values.transpose((1, 0)), source.value.element, source.value.shape[::-1]))
    source.properties["value"] = data
    for op in (source, *(use.operation for use in source.results[0].uses if isinstance(use.operation, Convert))):
        set_type(op.results[0], tensor(data.shape, element_of(op.results[0])))
        op.attributes.pop("tensor_names", None)
    for site in sites:
        assert isinstance(site.op, MatMul)
        site.op.properties["transpose_b"] = boolean_attribute(not site.op.flag("transpose_b"))
    return [site._replace(axis=1 - site.axis) for site in sites]


def last_product(sites: Sequence[Site], block: Block) -> Constant | None:
    """The matrix of the last product of a model, with which classifiers and language models make their decisions.

    Args:
        sites: the sites of the model in order.
        block: the block of the model: products in bodies are last only if it has none.

    Returns None if there are no products.
    """
    products = [site for site in sites if not isinstance(site.op, Gather)]
    outer = [site.source for site in products if site.op.parent is block]
    return next(reversed(outer or [site.source for site in products]), None)


def stores_codes(op: Operation) -> bool:
    """Whether an operation reads weights that are dequantized from a constant of integers.

    opset1.MatMul(%x, opset1.Multiply(opset1.Convert(%codes), %scale)) // %codes: a constant of u4
    """
    value = op.operands[0 if isinstance(op, Gather) else 1]
    while isinstance(value, OpResult) and isinstance(value.op, Multiply | Subtract | Convert | Reshape):
        value = value.op.operands[0]
    return isinstance(value.owner, Constant) and element_of(value) not in REAL_TYPES


def chooses_experts(op: Operation) -> bool:
    """Whether a MatMul computes the scores of a router of experts: a TopK reads them, perhaps after elementwise
    operations.
    """
    values = [op.results[0]]
    for _ in range(RANKING_STEPS):
        users = [use.operation for value in values for use in value.uses]
        if any(isinstance(user, TopKOp) for user in users):
            return True
        values = [user.results[0] for user in users if isinstance(user, Reshape) or _keeps_shape(user)]
    return False


def _keeps_shape(op: Operation) -> bool:
    """Whether the result of an operation has the shape of its first operand, as scores of experts have."""
    return len(op.results) == 1 and len(op.operands) > 0 and shape_of(op.results[0]) == shape_of(op.operands[0]) is not None


def expand_scaled(op: Operation) -> bool:
    """Replace the weights of an operation that are 8- or 16-bit numbers with scales by the scaled numbers.

    Multiply(Convert(numbers), scales), reshaped or not, becomes a constant that is computed lazily. Returns whether
    there were such weights.
    """
    value = op.operands[0 if isinstance(op, Gather) else 1]
    chain: list[Operation] = []
    while isinstance(value, OpResult) and isinstance(value.op, Convert | Reshape):
        chain.append(value.op)
        value = value.op.operands[0]
    if not isinstance(value, OpResult) or not isinstance(value.op, Multiply):
        return False
    codes, scales = (_source_of_numbers(each) for each in value.op.operands)
    if codes is None or scales is None or codes.value.element not in SCALED_TYPES or element_of(value) != f32:
        return False
    last, numbers, factors = chain[0] if chain else value.op, codes.value, scales.value
    shape = shape_of(last.results[0])
    if shape is None or not 2 <= len(shape) <= 3 or math.prod(shape) < FEWEST_VALUES or element_of(last.results[0]) != f32:
        return False
    outer = len(shape) - 1
    if not numbers.shape[:outer] == factors.shape[:outer] == tuple(shape[:-1]):
        return False
    values = computed_rows(partial(_scaled_rows, outer), [numbers.values, factors.values], tuple(shape), np.float32, outer)
    constant = Constant.create(
        properties={"value": DataAttr(TensorData(values, f32, tuple(shape)))},
        attributes=dict(last.attributes),
        result_types=[tensor(tuple(shape), f32)],
        location=located(last),
    )
    block = last.parent
    assert block is not None
    block.insert_ops_before([constant], last)
    last.results[0].replace_all_uses_with(constant.results[0])
    _erase_unused(last)
    return True


def _erase_unused(op: Operation) -> None:
    """Erase an operation if it is unused, and then its producers if they become unused."""
    pending = [op]
    while pending:
        current = pending.pop()
        if current.parent is not None and not is_used(current):
            pending += [each.op for each in current.operands if isinstance(each, OpResult)]
            erase(current)


def _source_of_numbers(value: SSAValue) -> Constant | None:
    """The constant before any number of Converts; None for other values, and for a constant whose values were
    left out.
    """
    while isinstance(value, OpResult) and isinstance(value.op, Convert):
        value = value.op.operands[0]
    if isinstance(value, OpResult) and isinstance(value.op, Constant) and value.op.value.data.values is not None:
        return value.op
    return None


def _scaled_rows(outer: int, numbers: Array, factors: Array) -> Array:
    """Numbers times the scales of their groups, as f32, with all dimensions after the first `outer` ones merged."""
    values = numbers.astype(np.float32)
    values *= factors.astype(np.float32)
    return values.reshape(*values.shape[:outer], -1)
