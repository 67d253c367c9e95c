"""Random numbers that a program computes from a state.

    %state, %bits = stablehlo.rng_bit_generator(%s) {rng_algorithm = "PHILOX"} : (tensor<2xui64>) -> …
->  %bits = the hashes of the counter [%s.1, %s.1 + 1, …] with the key %s.0

A state consists of two integers of 64 bits, a key and a counter. In programs of JAX a `bitcast_convert` makes them of
four uint32; this lowering uses these uint32 and supports no other state.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NoReturn

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import describe, si32, ui32
from moir.dialects.shapes import element_of, is_static, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.stablehlo.random_bits import counted, philox, threefry, uint32
from moir.lowering.stablehlo.shape import declared_shape, result_element
from moir.lowering.stablehlo.table import stablehlo
from moir.rewriting.builder import OpBuilder
from moir.rewriting.constant_sizes import check_constant_size

HINT = "make the random numbers an input"


@stablehlo.lowers("rng")
def refused(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """stablehlo.rng(a, b, shape): refused, because the random numbers would differ from those of the framework"""
    node.fail("its numbers depend on a seed that is not in the program", hint=HINT)


@stablehlo.lowers("rng_bit_generator")
def rng_bit_generator(node: LoweringNode, op: OpBuilder, initial_state: SSAValue, *, rng_algorithm: str = "DEFAULT") -> Sequence[SSAValue]:
    """stablehlo.rng_bit_generator(state) {rng_algorithm} -> hashes of counters, computed in uint32"""
    shape, element = shape_of(node.op.results[1]) or (), result_element(node, 1)
    if shape_of(initial_state) != (2, 2) or element_of(initial_state) is not ui32:
        node.fail("its state has integers of 64 bits, not uint32", hint="make its state of uint32 by jax.random")
    if not is_static(shape) or describe(element).bits != 32:
        node.fail("its numbers have a computed shape, or not 32 bits", hint=HINT)
    check_constant_size(prod(shape))
    state_words = [op.Gather(op.Reshape(initial_state, [4], special_zero=False), index, 0) for index in range(4)]
    bits, count = (_of_threefry if rng_algorithm == "THREE_FRY" else _of_philox)(op, state_words[:2], state_words[2:], shape)
    after = counted(op, state_words[2:], uint32(op, count))
    state = op.Concat(*(op.Reshape(each, [1], special_zero=False) for each in (*state_words[:2], *after)), axis=0)
    return [op.Reshape(state, [2, 2], special_zero=False), op.convert(bits, element)]


def _line(op: OpBuilder, count: int) -> SSAValue:
    return op.constant(np.arange(count, dtype=np.uint32), ui32)


def _of_philox(op: OpBuilder, key: Sequence[SSAValue], counter: Sequence[SSAValue], shape: Sequence[int]) -> tuple[SSAValue, int]:
    """The random bits for a shape, by Philox: four uint32 for each counter; and the number of counters used.

    The key is the upper half of every counter.
    """
    total = prod(shape)
    count = -(-total // 4)
    outputs = philox(op, counted(op, (*counter, *key), _line(op, count)), key)
    values = op.Reshape(op.Concat(*(op.Unsqueeze(each, [1]) for each in outputs), axis=1), [-1], special_zero=False)
    cut = op.Slice(values, [0], [total], [1], [0]) if total < 4 * count else values
    return op.Reshape(cut, list(shape), special_zero=False), count


def _of_threefry(op: OpBuilder, key: Sequence[SSAValue], counter: Sequence[SSAValue], shape: Sequence[int]) -> tuple[SSAValue, int]:
    """The random bits for a shape, by Threefry: two uint32 for each counter; and the number of counters used.

    The two uint32 go to the two halves of the first dimension of even size, or else of the largest dimension.
    """
    if not shape:
        return op.Reshape(threefry(op, counted(op, counter, _line(op, 1)), key)[0], [], special_zero=False), 1
    axis = next((index for index, size in enumerate(shape) if size % 2 == 0), int(np.argmax(shape)))
    half = [-(-size // 2) if index == axis else size for index, size in enumerate(shape)]
    outputs = threefry(op, counted(op, counter, _line(op, prod(half))), key)
    pairs = [op.Reshape(each, [*half[: axis + 1], 1, *half[axis + 1 :]], special_zero=False) for each in outputs]
    bits = op.Reshape(op.Concat(*pairs, axis=axis + 1), [*half[:axis], 2 * half[axis], *half[axis + 1 :]], special_zero=False)
    return op.Slice(bits, [0], [shape[axis]], [1], [axis]) if shape[axis] % 2 else bits, prod(half)


def uint32_of_state(node: LoweringNode, operand: SSAValue) -> SSAValue | None:
    """The four uint32 of which a `bitcast_convert` makes a state; None for a state that is computed in another way."""
    if shape_of(operand) != (2, 2) or element_of(operand) not in (ui32, si32):
        return None
    shape, element = declared_shape(node), result_element(node)
    users = {use.operation.name for use in node.op.results[0].uses}
    is_split = shape == (2, 2) and element == element_of(operand)
    is_joined = shape == (2,) and describe(element).bits == 64 and users <= {"stablehlo.rng_bit_generator"}
    return operand if is_split or is_joined else None
