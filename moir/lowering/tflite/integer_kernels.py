"""How the integer kernels of recurrent operators round and saturate sums and states.

A gate is the sum of products with the data, with the output of the previous step, and with the cell state. Each part is
added to an integer of 16 bits, which saturates. The numbers are computed here as floats within the same limits.

Source: lstm_eval.cc (`CalculateLstmGateInteger8x8_16`, `UpdateLstmCellInteger`) and lstm.cc of TensorFlow Lite 2.21.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from moir.dialects.quantization import IntegerRange
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder
from moir.support.records import Record

SUMS = IntegerRange(16, signed=True)
OUTPUTS = IntegerRange(8, signed=True)

ACTIVATION_SCALE = 2.0**-12
"""The scale of the operand of an activation, a 16-bit integer; so the operand is in [-8, 8)."""


class IntegerKernel(Record):
    """The scales with which the integer kernel of an LSTM computes.

    Args:
        gates: the scales of the sums of the gates i, f, c, o.
        cell: the scale of the cell state.
        hidden: the scale of the output of a cell before its projection, and its zero point; None if absent.
    """

    gates: tuple[float, ...]
    cell: float
    hidden: tuple[float, int] | None

    @staticmethod
    def of(node: LoweringNode) -> IntegerKernel | None:
        """The scales in the attributes of a node; None for a node without them, whose data are floats."""
        if not node.has("gate_scales"):
            return None
        hidden = (node.number("hidden_scale"), node.integer("hidden_zero_point")) if node.has("hidden_scale") else None
        return IntegerKernel(node.numbers("gate_scales"), node.number("cell_scale"), hidden)

    def sum(self, op: OpBuilder, value: SSAValue, gate: int) -> SSAValue:
        """The sum of a gate (by its index in i, f, c, o), clamped to the range of 16-bit integers of its scale."""
        return saturated(op, value, self.gates[gate])

    def activated_operand(self, op: OpBuilder, value: SSAValue) -> SSAValue:
        """The operand of an activation, a normalized sum, clamped to the range of 16-bit integers of the scale of
        activations.
        """
        return saturated(op, value, ACTIVATION_SCALE)

    def state(self, op: OpBuilder, value: SSAValue) -> SSAValue:
        """A cell state, clamped to the range of 16-bit integers of its scale."""
        return saturated(op, value, self.cell)

    def output(self, op: OpBuilder, value: SSAValue) -> SSAValue:
        """The output of a cell, rounded to the integers that the next step reads."""
        if self.hidden is None:
            return value
        scale, zero = self.hidden
        # A FakeQuantize would round halves to even.
        steps = op.Round(op.Multiply(value, 1 / scale), mode="half_away_from_zero")
        limited = op.Clamp(steps, min=float(OUTPUTS.lowest - zero), max=float(OUTPUTS.highest - zero))
        return op.Multiply(limited, scale)


def saturated(op: OpBuilder, value: SSAValue, scale: float) -> SSAValue:
    """A value clamped to the range of integers of 16 bits with a scale and zero point 0."""
    return op.Clamp(value, min=SUMS.lowest * scale, max=SUMS.highest * scale)
