"""A model computed as by a device without f32: the operands and results of each operation are rounded to a narrower
format.

    f16     operands and results are rounded to f16, beyond ±65504 they are infinite; constants are clipped instead
    bf16    likewise; bf16 has the range of f32

What a device computes in f32 anyway stays so: shapes and sizes, and the operations that are kept. The steps inside
norms and attention are rounded, too (`moir.checking.stepwise`). Each operation is computed by its definition or, if it
has none in numpy, alone by OpenVINO Runtime in f32.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.checking.compared import compared_values
from moir.checking.formats import NumberFormat
from moir.checking.stepwise import Steps, stepwise_results, with_overflowing_sums
from moir.dialects.memory_map import Array
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.shape import ShapeOfOp
from moir.execution.bodies import results_of_control_flow
from moir.execution.evaluation import evaluate_block, evaluate_operation
from moir.execution.ports import interface_of, only_model


class Simulation:
    """Computes operations of a module in a number format.

    Args:
        module: a module in opset dialects.
        number_format: the format.
    """

    def __init__(self, module: ModuleOp, number_format: NumberFormat) -> None:
        self.number_format = number_format
        self.block = only_model(module).block
        self.interface = interface_of(module)
        self.compared = compared_values(module)
        self.exact = size_computations(module)
        """The operations that every device computes in f32."""

    def values(self, inputs: Mapping[str, Array], kept: Collection[Operation] | None) -> dict[str, Array]:
        """The values of the model that are compared, by name.

        Args:
            inputs: an array for each input, by its name.
            kept: the operations that are computed in f32; None if all operations are.
        """

        def compute(op: Operation, operands: Sequence[Array | None]) -> Sequence[Array]:
            if kept is None:
                return evaluate_operation(op, operands)
            return self.results(op, operands, kept)

        with np.errstate(all="ignore"):
            values = evaluate_block(self.block, self.interface.in_order(inputs), list(self.compared.values()), compute=compute)
        return {name: values[value] for name, value in self.compared.items()}

    def results(
        self, op: Operation, operands: Sequence[Array | None], kept: Collection[Operation] = (), steps: Steps | None = None
    ) -> Sequence[Array]:
        """The results of an operation in the number format.

        Args:
            op: the operation.
            operands: its operands; None for an absent one.
            kept: the operations that are computed in f32.
            steps: records the steps inside the operation.
        """
        if op in self.exact or op in kept:
            return evaluate_operation(op, operands)
        steps = steps or Steps(self.number_format)
        reduced = [None if array is None else self.operand(value, array) for value, array in zip(op.operands, operands, strict=True)]
        results: Sequence[Array] | None
        if op.regions:
            results = results_of_control_flow(op, reduced, lambda block, inputs, wanted: self._body(block, inputs, wanted, kept))
        else:
            results = stepwise_results(op, [array for array in reduced if array is not None], steps)
        if results is None:
            results = evaluate_operation(op, reduced)
            results = [with_overflowing_sums(op, [array for array in reduced if array is not None], results[0], steps), *results[1:]]
        return [self.number_format.rounded(array).astype(array.dtype, copy=False) for array in results]

    def operand(self, value: SSAValue, array: Array) -> Array:
        """An operand in the number format, in the element type that it has in the module."""
        rounded = self.number_format.saturated(array) if isinstance(value.owner, Constant) else self.number_format.rounded(array)
        return rounded.astype(array.dtype, copy=False)

    def _body(
        self, block: Block, inputs: Sequence[Array], wanted: Sequence[SSAValue], kept: Collection[Operation]
    ) -> dict[SSAValue, Array]:
        return evaluate_block(block, inputs, wanted, compute=lambda op, operands: self.results(op, operands, kept))


def size_computations(module: ModuleOp) -> set[Operation]:
    """The operations that compute positions and sizes, and depend on shapes and constants alone.

    Readers of IR keep these in f32: `opset11.Interpolate(x, opset1.Divide(…ShapeOf(x)…))`.
    """
    from_data: set[Operation] = set()
    exact: set[Operation] = set()
    operations = [op for op in module.walk() if op.results and not isinstance(op, Constant)]
    for op in operations:
        reads_data = any(isinstance(operand, OpResult) and operand.op in from_data for operand in op.operands)
        is_source = isinstance(op, Parameter) or bool(op.regions) or not isinstance(op, OpsetOp) or op.EFFECTS
        if (reads_data or is_source) and not isinstance(op, ShapeOfOp):
            from_data.add(op)
    pending = [
        op.operands[index] for op in operations if isinstance(op, OpsetOp) for index in op.EXACT_OPERANDS if index < len(op.operands)
    ]
    while pending:
        value = pending.pop()
        if isinstance(value, OpResult) and value.op not in from_data and value.op not in exact and not isinstance(value.op, Constant):
            exact.add(value.op)
            pending.extend(value.op.operands)
    return exact
