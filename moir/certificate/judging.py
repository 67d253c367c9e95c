"""Whether a piece of an IR computes what the model does: by its execution alone, on tensors of the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from moir.analysis.constants import constant_of
from moir.certificate.pieces import Cut, Piece
from moir.certificate.records import Justification
from moir.dialects.data import DataAttr
from moir.dialects.element_types import is_element_type, to_numpy
from moir.dialects.memory_map import Array
from moir.dialects.moir import ModelOp
from moir.dialects.opset.infrastructure import Constant, VariableOp
from moir.dialects.shapes import element_of
from moir.errors import MoirError
from moir.execution.comparison import QUANTIZED, Difference, difference, is_permuted, with_infinities_of
from moir.execution.evaluation import EvaluationRunner
from moir.execution.openvino_runtime import run_module
from moir.execution.ports import interface_of, matched, only_model
from moir.reduction.module_graph import ModuleGraph
from moir.support.records import Record

RANDOM = ("RandomUniform", "Multinomial")
"""Kinds of operations whose results are random."""


class Judgement(Record):
    """The judgement of a piece.

    Args:
        justification: see `Justification`.
        reason: why the piece was not judged, or what is wrong.
        difference: the difference of the result from the model's; None if it was not executed.
    """

    justification: Justification
    reason: str = ""
    difference: Difference | None = None


class Request(Record):
    """A piece that is to be executed.

    Args:
        piece: the piece.
        digest: its digest.
        inputs: the values of its inputs in the model, by name.
        expected: the value of its tensor in the model.
    """

    piece: Piece
    digest: str
    inputs: Mapping[str, Array]
    expected: Array


def unjudged_reason(piece: Piece) -> str:
    """The reason why a piece cannot be judged; empty if it can."""
    for op in piece.operations:
        for each in op.walk():
            if isinstance(each, VariableOp) and not each.operands:
                return "it reads a state that has no initial value"
            if each.name.partition(".")[2] in RANDOM:
                return f"{each.name} gives random numbers"
    return ""


def constant_data(cut: Cut) -> tuple[DataAttr | None, DataAttr | None]:
    """The constant data of a cut in the model, and in the IR; None for a side that computes the value."""
    owners = cut.source.owner, cut.value.owner
    source, target = (owner.value if isinstance(owner, Constant) else None for owner in owners)
    return source, target


def _reads_integers(request: Request) -> bool:
    return any(values.dtype.kind in "iu" and values.ndim for values in request.inputs.values())


class PieceExecution:
    """Executes pieces of an IR, one at a time.

    Args:
        module: the converted model.
        tolerance: the relative tolerance for floats; None for those of the element types.
    """

    def __init__(self, module: ModuleOp, tolerance: float | None) -> None:
        self._tolerance = tolerance
        self._values: dict[SSAValue, Array] = {}
        self._graph = ModuleGraph(module, self._values)

    def judged_exactly(self, piece: Piece, inputs: Mapping[str, Array], expected: Array) -> Judgement | None:
        """The judgement of a piece of constants and shapes, computed by the definitions of its operations.

        Judged are integers and booleans that are computed from integers, booleans and the shapes of tensors, and all
        constants of the IR. None for other pieces, and if the result is not equal bit by bit.

        Args:
            piece: the piece.
            inputs: the values of its inputs in the model, by name.
            expected: the value of its tensor in the model.
        """
        if isinstance(piece.cut.value.owner, Constant):
            values = constant_of(piece.cut.value)
        elif expected.dtype.kind in "iub" and not any(map(_reads_floats, piece.operations)):
            try:
                values = self._defined(piece, inputs)
            except MoirError:
                return None
        else:
            return None
        if values is None or values.shape != expected.shape or values.dtype == object:
            return None
        if expected.dtype.kind in "iub" and values.dtype.kind in "iub":
            return Judgement("exact") if np.array_equal(values, expected) else None
        return Judgement("exact") if values.dtype == expected.dtype and values.tobytes() == expected.tobytes() else None

    def executed_together(self, requests: Sequence[Request]) -> list[Judgement | None]:
        """The judgements of pieces that are executed side by side in one model, since compiling takes most of the time.

        A piece with a wrong result is executed again, alone. If the model cannot be run, it is divided in halves. An
        element is None for a piece whose tensor is not a cut, see `executed`.
        """
        # Most pieces that the runtime refuses read integers: side by side, halving finds them sooner.
        computed = sorted((each for each in requests if _is_computed(each.piece)), key=_reads_integers)
        results = dict(zip([each.digest for each in computed], self._side_by_side(computed), strict=True))
        judgements: list[Judgement | None] = []
        for request in requests:
            actual = results.get(request.digest)
            judgement = None if actual is None else _compared(request.piece, actual, request.expected, self._tolerance_of(request.piece))
            is_wrong = judgement is not None and judgement.justification == "wrong"
            judgements.append(self.executed(request) if actual is None or is_wrong else judgement)
        return judgements

    def _side_by_side(self, requests: Sequence[Request]) -> list[Array | None]:
        """Run several pieces as one model. Returns the array of each piece's tensor, in order.

        If the model cannot be run, halves are tried. The entry is None for a piece that is left alone or cannot be run.
        """
        if len(requests) < 2:
            return [None] * len(requests)
        parts = [self._part(each.piece, each.inputs) for each in requests]
        interfaces = [interface_of(part) for part, _ in parts]
        arrays = [part[1][port.name] for part, interface in zip(parts, interfaces, strict=True) for port in interface.inputs]
        try:
            results, _ = run_module(_joined([part for part, _ in parts]), arrays)
        except MoirError:
            middle = len(requests) // 2
            return [*self._side_by_side(requests[:middle]), *self._side_by_side(requests[middle:])]
        starts = accumulate((len(interface.outputs) for interface in interfaces), initial=0)
        return [results[start + _index(each.piece)] for each, start in zip(requests, starts, strict=False)]

    def executed(self, request: Request) -> Judgement | None:
        """The judgement of a piece by executing it alone.

        None if its tensor is not a valid cut: the result has the elements of the model's tensor in another order, or
        other integers, which were rounded from floats.
        """
        piece, expected, tolerance = request.piece, request.expected, self._tolerance_of(request.piece)
        if not _is_computed(piece):
            value = constant_of(piece.cut.value)
            return Judgement("not judged", "its value is unknown") if value is None else _compared(piece, value, expected, tolerance)
        note = ""
        try:
            part, arrays = self._part(piece, request.inputs)
            results, _ = run_module(part, [arrays[port.name] for port in interface_of(part).inputs])
            actual = results[_index(piece)]
        except MoirError as error:
            try:
                actual, note = self._defined(piece, request.inputs), "executed by the definitions of its operations"
            except MoirError:
                return Judgement("not judged", f"it cannot be executed alone: {error.reason}")
        judgement = _compared(piece, actual, expected, tolerance)
        return judgement and judgement.with_fields(reason=judgement.reason or note)

    def _tolerance_of(self, piece: Piece) -> float | None:
        """The tolerance of a piece: larger for quantized numbers, which may become either of two neighbours.

        None for the tolerances of the element types.
        """
        is_quantized = any(op.name == "opset1.FakeQuantize" for op in piece.operations) or any(map(_has_quantized_weights, piece.nodes))
        return max(self._tolerance or 0.0, QUANTIZED) if is_quantized else self._tolerance

    def _part(self, piece: Piece, inputs: Mapping[str, Array]) -> tuple[ModuleOp, dict[str, Array]]:
        """A module with the operations of a piece, and the arrays of its inputs by name."""
        self._values.clear()
        self._values.update((cut.value, inputs[cut.name]) for cut in piece.inputs)
        number = self._graph.number(_owner(piece))
        assert number is not None
        candidate = self._graph.part(frozenset([number]))
        self._values.clear()
        assert isinstance(candidate.model, ModuleOp)
        _begin_states(candidate.model)
        return candidate.model, matched(candidate.inputs, interface_of(candidate.model).inputs, "input")

    def _defined(self, piece: Piece, inputs: Mapping[str, Array]) -> Array:
        """The tensor of a piece, computed by the definitions of its operations.

        Raises ExecutionError if an operation has none.
        """
        part, arrays = self._part(piece, inputs)
        results = EvaluationRunner(part, alone=False).run(arrays)
        return results[interface_of(part).outputs[_index(piece)].name]


def _begin_states(part: ModuleOp) -> None:
    """Replace reads of variables in a module by the initial values, as in the first inference."""
    for op in [op for op in part.walk() if isinstance(op, VariableOp)]:
        op.results[0].replace_all_uses_with(op.operands[0])
        op.detach()
        op.erase()


def _joined(modules: Sequence[ModuleOp]) -> ModuleOp:
    """One module with the operations of several, which are removed from theirs; the names of operations are dropped."""
    block = Block()
    for module in modules:
        for op in list(only_model(module).block.ops):
            op.detach()
            for name in ("name", "tensor_names", "output_names"):
                op.attributes.pop(name, None)
            block.add_op(op)
    return ModuleOp([ModelOp.of("pieces", block)])


def _is_computed(piece: Piece) -> bool:
    """Whether the tensor of a piece is no constant in the IR."""
    return not isinstance(piece.cut.value.owner, Constant)


def _has_quantized_weights(node: Operation) -> bool:
    """Whether a node has 8-bit weights, so that its framework may quantize the other operand at run time."""
    if "Dequant" in node.name or "Cast" in node.name or not node.name.startswith("tfl"):
        return False
    weights = [op.value.data.values for operand in node.operands if isinstance(op := operand.owner, Constant)]
    return any(values is not None and values.dtype.itemsize == 1 and values.ndim > 1 for values in weights)


def _owner(piece: Piece) -> Operation:
    owner = piece.cut.value.owner
    assert isinstance(owner, Operation)
    return owner


def _index(piece: Piece) -> int:
    """The index of the piece's tensor among the results of its operation, and so among the outputs of the module of the
    piece.
    """
    return list[SSAValue](_owner(piece).results).index(piece.cut.value)


def _reads_floats(op: Operation) -> bool:
    """Whether an operation reads elements of a tensor of floats, and not only its shape."""
    if op.name.endswith(".ShapeOf"):
        return False
    types = [element_of(value) for value in (*op.operands, *op.results)]
    return bool(op.regions) or not all(is_element_type(each) and to_numpy(each).kind in "iub" for each in types)


def _compared(piece: Piece, actual: Array, expected: Array, tolerance: float | None) -> Judgement | None:
    """The judgement of a result, "executed" or "wrong".

    Returns None if the tensor is no valid cut: the result is a permutation of the expected array, an array where the
    model has a scalar (the flow of TensorFlow's TensorArray), or has other integers that come from rounded floats.
    """
    apart = difference(with_infinities_of(expected, actual), expected, tolerance)
    if not apart.exceeds:
        return Judgement("executed", difference=apart)
    if not piece.cut.outputs and (is_permuted(actual, expected, tolerance) or (actual.ndim and not expected.ndim)):
        return None
    if expected.dtype.kind in "iub" and not piece.cut.outputs and any(map(_reads_floats, piece.operations)):
        # Rounding before the conversion to integers may differ; the operations that use the integers are judged.
        return None
    return Judgement("wrong", f"its values differ from the model's ({apart})", apart)
