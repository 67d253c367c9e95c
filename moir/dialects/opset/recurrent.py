"""Recurrent cells and sequences. In shapes: N batch, D directions (1 or 2), T time, I input, H hidden size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.ir import Attribute
from xdsl.irdl import operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import (
    boolean_property,
    deferred_definition,
    float_property,
    floats_property,
    integer_property,
    optional_operands,
    string_property,
    strings_property,
)
from moir.dialects.shapes import Shapes, format_shape, is_fixed, merge_dimensions
from moir.dialects.symbols import Dimension
from moir.errors import InferenceError

ACTIVATIONS = ("relu", "sigmoid", "tanh", "hardsigmoid")

Sizes = dict[str, Dimension]
"""The dimensions N, D, T, I and H as far as they are known, by letter."""


class RecurrentOp(OpsetOp):
    """Base of cells and sequences: the shapes of all operands determine the dimensions.

    All operands except the sequence lengths have one element type.
    """

    OPERANDS: ClassVar[tuple[str, ...]]
    """The axes of each operand, one letter each; `G` is the number of gates times H, `B` the length of the bias."""
    GATES: ClassVar[int]
    """Number of gates that are stacked in the weights."""
    ACTIVATION_COUNT: ClassVar[int]

    def bias_gates(self) -> int:
        """Number of gates in the bias."""
        return self.GATES

    def sizes(self, shapes: Shapes) -> Sizes:
        """The dimensions that the shapes of the operands determine.

        Raises InferenceError if the shapes contradict each other.
        """
        sizes: Sizes = {"N": -1, "T": -1, "I": -1, "H": -1, "D": self.directions()}
        for index, (axes, shape) in enumerate(zip(self.OPERANDS, shapes, strict=True)):
            if shape is None:
                continue
            if len(shape) != len(axes):
                raise InferenceError(f"operand {index} has shape {format_shape(shape)} where rank {len(axes)} is required")
            for axis, size in zip(axes, shape, strict=True):
                if axis not in "GB":
                    self._note(sizes, axis, size, index)
        self._check_gates(sizes, shapes)
        return sizes

    def _note(self, sizes: Sizes, axis: str, size: Dimension, index: int) -> None:
        known = sizes[axis]
        if is_fixed(known) and is_fixed(size) and known != size:
            raise InferenceError(f"operand {index} has {size} where other operands or properties say {AXIS_NAMES[axis]} is {known}")
        sizes[axis] = merge_dimensions(known, size)

    def _check_gates(self, sizes: Sizes, shapes: Shapes) -> None:
        for index, (axes, shape) in enumerate(zip(self.OPERANDS, shapes, strict=True)):
            for axis, size in zip(axes, shape or (), strict=False):
                if axis not in "GB" or not is_fixed(size):
                    continue
                gates = self.GATES if axis == "G" else self.bias_gates()
                if size % gates:
                    raise InferenceError(f"operand {index} has {size} where a multiple of {gates} gates is required")
                if axis == "G" or is_fixed(sizes["H"]):
                    self._note(sizes, "H", size // gates, index)
        if is_fixed(hidden := sizes["H"]) and hidden != self.integer("hidden_size"):
            raise InferenceError(f"hidden_size is {self.integer('hidden_size')}, the operands are for {hidden}")

    def result_element(self) -> Attribute:
        # The lengths of the sequences have another element type than all other operands.
        return self.common_element(*[index for index, axes in enumerate(self.OPERANDS) if axes != "N"])

    def result_elements(self) -> Sequence[Attribute]:
        return (self.result_element(),) * len(self.results)

    def directions(self) -> int:
        """Number of directions."""
        return 1

    def check_invariants(self) -> None:
        super().check_invariants()
        count = self.ACTIVATION_COUNT
        if len(self.texts("activations")) != count:
            raise VerifyException(f"activations has {len(self.texts('activations'))} entries, not {count}")
        if self.integer("hidden_size") < 1:
            raise VerifyException("hidden_size is below 1")
        if self.number("clip") < 0:
            raise VerifyException("clip is negative")


AXIS_NAMES = {"N": "the batch size", "D": "the number of directions", "T": "the length", "I": "the input size", "H": "the hidden size"}


class CellOp(RecurrentOp):
    """Base of the cells, which compute one step; each result is [N, H]."""

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        sizes = self.sizes(shapes)
        return ((sizes["N"], sizes["H"]),) * len(self.results)


class SequenceOp(RecurrentOp):
    """Base of the sequences.

    Results: the hidden state of all steps [N, D, T, H], then each state after the last step [N, D, H].
    """

    UNWRITTEN: ClassVar[Mapping[str, object]] = {"direction": "forward"}

    def directions(self) -> int:
        return 2 if self.text("direction") == "bidirectional" else 1

    def result_shapes(self, shapes: Shapes, known: OperandValues) -> Shapes:
        sizes = self.sizes(shapes)
        batch, directions, hidden = sizes["N"], sizes["D"], sizes["H"]
        return ((batch, directions, sizes["T"], hidden), *((batch, directions, hidden),) * (len(self.results) - 1))


CELL = ("NI", "NH", "GI", "GH", "B")
SEQUENCE = ("NTI", "NDH", "N", "DGI", "DGH", "DB")


class ResetGateOp(RecurrentOp):
    """Base of the gated recurrent units.

    With `linear_before_reset` the hidden gate has a second bias, for the recurrence.
    """

    GATES: ClassVar[int] = 3
    ACTIVATION_COUNT: ClassVar[int] = 2

    def bias_gates(self) -> int:
        return self.GATES + self.flag("linear_before_reset")


@deferred_definition
class RNNCell(CellOp):
    """One step of a plain recurrent network.

    Data [N, I], state [N, H], W [H, I], R [H, H], B [H]; result [N, H].
    """

    name = "opset1.RNNCell"
    x = operand_def()
    initial_hidden_state = operand_def()
    w = operand_def()
    r = operand_def()
    b = operand_def()
    hidden_size = integer_property()
    activations = strings_property(("tanh",), *ACTIVATIONS)
    activations_alpha = floats_property(())
    activations_beta = floats_property(())
    clip = float_property(0.0)
    hidden_state = result_def()

    OPERANDS: ClassVar[tuple[str, ...]] = CELL
    GATES: ClassVar[int] = 1
    ACTIVATION_COUNT: ClassVar[int] = 1


@deferred_definition
class GRUCell(ResetGateOp, CellOp):
    """One step of gated recurrent units, gates z, r, h.

    Data [N, I], state [N, H], W [3H, I], R [3H, H], B [3H] or [4H]; result [N, H].
    """

    name = "opset3.GRUCell"
    x = operand_def()
    initial_hidden_state = operand_def()
    w = operand_def()
    r = operand_def()
    b = operand_def()
    linear_before_reset = boolean_property(False)
    hidden_size = integer_property()
    activations = strings_property(("sigmoid", "tanh"), *ACTIVATIONS)
    activations_alpha = floats_property(())
    activations_beta = floats_property(())
    clip = float_property(0.0)
    hidden_state = result_def()

    OPERANDS: ClassVar[tuple[str, ...]] = CELL


class MemoryCellOp(CellOp):
    """Base of the versions of LSTMCell: one step of long short-term memory.

    Data [N, I], states [N, H], W [4H, I], R [4H, H], B [4H]; results [N, H].
    """

    x = operand_def()
    initial_hidden_state = operand_def()
    initial_cell_state = operand_def()
    w = operand_def()
    r = operand_def()
    hidden_size = integer_property()
    activations = strings_property(("sigmoid", "tanh", "tanh"), *ACTIVATIONS)
    activations_alpha = floats_property(())
    activations_beta = floats_property(())
    clip = float_property(0.0)
    hidden_state = result_def()
    cell_state = result_def()

    OPERANDS: ClassVar[tuple[str, ...]] = ("NI", "NH", "NH", "GI", "GH", "B")
    GATES: ClassVar[int] = 4
    ACTIVATION_COUNT: ClassVar[int] = 3

    def sizes(self, shapes: Shapes) -> Sizes:
        sizes = super().sizes(shapes)
        sizes["H"] = self.integer("hidden_size")
        return sizes


@deferred_definition
class LSTMCell1(MemoryCellOp):
    """One step of long short-term memory, its gates in the order `weights_format`.

    The optional operands are the bias [4H] and weights of peepholes [3H], which have no effect.
    """

    name = "opset1.LSTMCell"
    optional = optional_operands(2)
    input_forget = boolean_property(False)
    weights_format = string_property("fico", "fico", "icof", "ifco", "ifoc", "iofc")

    UNWRITTEN: ClassVar[Mapping[str, object]] = {"weights_format": "ifco"}

    def sizes(self, shapes: Shapes) -> Sizes:
        if self.optional_operand(len(self.OPERANDS)) is not None and self.rank(len(self.OPERANDS)) != 1:
            raise InferenceError("the weights of peepholes have one dimension")
        missing = len(self.OPERANDS) - len(shapes)
        return super().sizes([*shapes[: len(self.OPERANDS)], *[None] * missing])

    def result_element(self) -> Attribute:
        return self.common_element()


@deferred_definition
class LSTMCell(MemoryCellOp):
    """One step of long short-term memory, gates f, i, c, o."""

    name = "opset4.LSTMCell"
    b = operand_def()


@deferred_definition
class RNNSequence(SequenceOp):
    """A plain recurrent network over sequences.

    Data [N, T, I], state [N, D, H], lengths [N], W [D, H, I], R [D, H, H], B [D, H].
    """

    name = "opset5.RNNSequence"
    x = operand_def()
    initial_hidden_state = operand_def()
    sequence_lengths = operand_def()
    w = operand_def()
    r = operand_def()
    b = operand_def()
    direction = string_property(None, "bidirectional", "forward", "reverse")
    hidden_size = integer_property()
    activations = strings_property(("tanh",), *ACTIVATIONS)
    activations_alpha = floats_property(())
    activations_beta = floats_property(())
    clip = float_property(0.0)
    hidden_states = result_def()
    hidden_state = result_def()

    OPERANDS: ClassVar[tuple[str, ...]] = SEQUENCE
    GATES: ClassVar[int] = 1
    ACTIVATION_COUNT: ClassVar[int] = 1


@deferred_definition
class GRUSequence(ResetGateOp, SequenceOp):
    """Gated recurrent units over sequences.

    Operands are those of GRUCell for data [N, T, I], with state [N, D, H], lengths [N] and a leading D in W, R and B.
    """

    name = "opset5.GRUSequence"
    x = operand_def()
    initial_hidden_state = operand_def()
    sequence_lengths = operand_def()
    w = operand_def()
    r = operand_def()
    b = operand_def()
    direction = string_property(None, "bidirectional", "forward", "reverse")
    linear_before_reset = boolean_property(False)
    hidden_size = integer_property()
    activations = strings_property(("sigmoid", "tanh"), *ACTIVATIONS)
    activations_alpha = floats_property(())
    activations_beta = floats_property(())
    clip = float_property(0.0)
    hidden_states = result_def()
    hidden_state = result_def()

    OPERANDS: ClassVar[tuple[str, ...]] = SEQUENCE


@deferred_definition
class LSTMSequence(SequenceOp):
    """Long short-term memory over sequences.

    Operands are those of LSTMCell for data [N, T, I], with states [N, D, H], lengths [N] and a leading D in W, R and B.
    """

    name = "opset5.LSTMSequence"
    x = operand_def()
    initial_hidden_state = operand_def()
    initial_cell_state = operand_def()
    sequence_lengths = operand_def()
    w = operand_def()
    r = operand_def()
    b = operand_def()
    direction = string_property(None, "bidirectional", "forward", "reverse")
    hidden_size = integer_property()
    activations = strings_property(("sigmoid", "tanh", "tanh"), *ACTIVATIONS)
    activations_alpha = floats_property(())
    activations_beta = floats_property(())
    clip = float_property(0.0)
    hidden_states = result_def()
    hidden_state = result_def()
    cell_state = result_def()

    OPERANDS: ClassVar[tuple[str, ...]] = ("NTI", "NDH", "NDH", "N", "DGI", "DGH", "DB")
    GATES: ClassVar[int] = 4
    ACTIVATION_COUNT: ClassVar[int] = 3
