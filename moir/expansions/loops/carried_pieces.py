"""Loops that collect values of different sizes: the concatenation so far becomes a state of the loop.

    %y = opset5.Loop(%n, %c) ({                        %y, %s = opset5.Loop(%n, %c, zeros [0, 4]) ({
      %e = …                          // [?, 4]          %all = opset1.Parameter()       // the concatenation so far
      opset1.Result(opset1.Unsqueeze(%e, 0))      ->     opset1.Result(opset1.Concat(%all, %e))
    }) {outputs = …, joined along 0}                     opset1.Result(opset1.Unsqueeze(opset3.ShapeOf(%e), 0))
                                                       })

The slices that a loop concatenates must have the same shape in all iterations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, SSAValue

from moir.dialects.moir import BodyPort, Slicing
from moir.dialects.opset.control_flow import RepeatingOp, parameters_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.shapes import element_of, is_static, shape_of, tensor
from moir.expansions.loops.pieces import Pieces, largest_sizes
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import erase
from moir.rewriting.operations_with_bodies import create_repeating


def carrying(
    op: OpBuilder, loop: RepeatingOp, values: Mapping[int, SSAValue], axes: Mapping[int, int]
) -> tuple[list[SSAValue], dict[int, Pieces]]:
    """Rebuild a loop so that the concatenation of some values is a state, instead of a concatenated output.

    Args:
        op: the builder.
        loop: the loop, whose results have no uses; it is erased.
        values: for each output that collects values of changing sizes, the value of an iteration, of static rank.
        axes: the dimension of these values along which they are concatenated.

    Returns the results of the loop in their order, and for each output of `values` the values of all iterations.
    """
    operation, operands = type(loop), list(loop.operands)
    inputs, ports = loop.ports("inputs"), loop.ports("outputs")
    count, region = len(ports), loop.detach_region(loop.regions[0])
    erase(loop)
    handed_on: dict[int, Carried] = {}
    for output, value in values.items():
        port = ports[output]
        assert port.index is not None
        assert port.slicing is not None
        backwards = port.slicing.stride < 0
        made = _carried(op, region.block, value, port.index, len(operands), axes[output], backwards=backwards)
        operands.append(made.initial)
        inputs.append(made.body)
        ports[output] = made.outputs[0]
        ports.append(made.outputs[1])
        handed_on[output] = made
    created = create_repeating(op, operation, operands, inputs, ports, region)
    sizes = dict(zip(handed_on, created[count:], strict=True))
    return created[:count], {output: made.pieces(op, created[output], sizes[output]) for output, made in handed_on.items()}


@dataclass(frozen=True)
class Carried:
    """A concatenation that is a state of a loop: its initial value, and its ports in the body.

    Args:
        initial: the initial value, without elements.
        body: connects the Parameter of the state with the Result of the concatenation.
        outputs: the ports of the final concatenation and of the collected shapes.
        shape: the shape of a value of one iteration.
        axis: the dimension of the values along which they are concatenated.
        is_flat: whether the state is a 1-D tensor of all elements, because other sizes are dynamic as well.
    """

    initial: SSAValue
    body: BodyPort
    outputs: tuple[BodyPort, BodyPort]
    shape: Sequence[int]
    axis: int
    is_flat: bool

    def pieces(self, op: OpBuilder, data: SSAValue, sizes: SSAValue) -> Pieces:
        """The values of all iterations, from the loop's results `data`, the concatenation, and `sizes`, the collected
        shapes.
        """
        if not self.is_flat:
            return Pieces(data, sizes, self.axis)
        rank = len(self.shape)
        parts = largest_sizes(op, sizes, rank)
        parts = [op.constant([size]) if size >= 0 else part for size, part in zip(self.shape, parts, strict=True)]
        total = op.ReduceSum(op.Gather(sizes, self.axis, 1), [0], keep_dims=True)
        others = [*range(self.axis), *range(self.axis + 1, rank)]
        target = [total, *(parts[each] for each in others)]
        moved = op.Reshape(data, op.Concat(*target, axis=0) if rank > 1 else total, special_zero=False)
        return Pieces(op.transposed(moved, [*range(1, self.axis + 1), 0, *range(self.axis + 1, rank)]), sizes, self.axis)


def _carried(op: OpBuilder, block: Block, value: SSAValue, value_index: int, operand: int, axis: int, *, backwards: bool) -> Carried:
    """Change the body of a loop so that the concatenation of a value is a state, instead of a concatenated output.

    Args:
        op: the builder for operations before the loop.
        block: the body.
        value: the value of an iteration, of static rank.
        value_index: the index of the Result of the value, which becomes that of the concatenation.
        operand: the index of the operand that will be the initial value of the state.
        axis: the dimension along which the values are concatenated.
        backwards: whether the value of the last iteration comes first in the concatenation.
    """
    results = [each for each in block.ops if isinstance(each, Result)]
    result = results[value_index]
    inside = OpBuilder(op.known, block, result)
    shape = shape_of(value)
    assert shape is not None
    others = (*shape[:axis], *shape[axis + 1 :])
    is_flat = not is_static(others)
    added, along, before, during = value, axis, [*shape[:axis], 0, *shape[axis + 1 :]], (*shape[:axis], -1, *shape[axis + 1 :])
    if is_flat:
        moved = inside.transposed(value, [axis, *range(axis), *range(axis + 1, len(shape))])
        added, along, before, during = inside.Reshape(moved, [-1], special_zero=False), 0, [0], (-1,)
    parameter = Parameter.create(result_types=[tensor(during, element_of(value))])
    existing = parameters_of(block)
    if existing:
        block.insert_op_after(parameter, existing[-1])
    elif block.first_op is not None:
        block.insert_op_before(parameter, block.first_op)
    pair = (added, parameter.results[0]) if backwards else (parameter.results[0], added)
    result.operands[0] = inside.Concat(*pair, axis=along)
    sizes = inside.Unsqueeze(inside.ShapeOf(value), [0])
    block.add_op(Result.create(operands=[sizes]))
    order = Slicing(0, -1, 0, -1) if backwards else Slicing(0)
    outputs = (BodyPort(value_index), BodyPort(len(results), slicing=order))
    return Carried(op.filled_like(before, 0.0, value), BodyPort(operand, value_index), outputs, shape, axis, is_flat)
