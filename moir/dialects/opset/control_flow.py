"""Operations that have bodies: If, Loop and TensorIterator.

A body is a region of one block without arguments. It contains Parameter and Result operations, as a model does, and
cannot use values from outside.
"""

from __future__ import annotations

from typing import ClassVar, cast

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Block, SSAValue
from xdsl.irdl import operand_def, region_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import NoTerminator
from xdsl.utils.exceptions import VerifyException

from moir.dialects.inference import infer_block, set_type
from moir.dialects.moir import BodyPort, BodyPortAttr, Isolated, Slicing
from moir.dialects.operand_values import OperandValues
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.opset.interfaces.operation import OpsetOp, Types
from moir.dialects.opset.interfaces.ports import ports_property
from moir.dialects.opset.interfaces.properties import deferred_definition, integer_property, integers_property
from moir.dialects.shapes import (
    Shape,
    TensorTypeAttribute,
    element_count,
    element_of,
    join_shapes,
    merge_elements,
    normalize_axis,
    shape_of,
    tensor,
)


def parameters_of(block: Block) -> list[Parameter]:
    """The Parameters of a body, in order."""
    return [op for op in block.ops if isinstance(op, Parameter)]


def results_of(block: Block) -> list[SSAValue]:
    """The operands of the Results of a body, in order."""
    return [op.operands[0] for op in block.ops if isinstance(op, Result)]


def _joined(a: SSAValue | TensorTypeAttribute, b: SSAValue | TensorTypeAttribute) -> TensorTypeAttribute:
    """The most precise type that covers both values or types. Raises InferenceError if the element types differ."""
    return tensor(join_shapes(shape_of(a), shape_of(b)), merge_elements(element_of(a), element_of(b)))


def _require(condition: bool, message: str) -> None:
    if not condition:
        raise VerifyException(message)


@deferred_definition
class If(OpsetOp):
    """Executes one of two bodies, selected by the scalar `cond`.

    `then_inputs`, `else_inputs`: for each Parameter of the body the index of the operand that initializes it, among all
    operands (`cond` has index 0). Result k of the operation is Result k of the body.
    """

    name = "opset8.If"
    cond = operand_def()
    arguments = var_operand_def()
    then_inputs = integers_property(())
    else_inputs = integers_property(())
    outputs = var_result_def()
    then_body = region_def("single_block")
    else_body = region_def("single_block")
    traits = traits_def(NoTerminator(), Isolated())

    def check_invariants(self) -> None:
        super().check_invariants()
        for name, body in (("then", self.then_body.block), ("else", self.else_body.block)):
            inputs = self.integers(f"{name}_inputs")
            _require(
                len(inputs) == len(parameters_of(body)),
                f"{name}_inputs has {len(inputs)} entries for {len(parameters_of(body))} Parameters",
            )
            _require(all(0 < index < len(self.operands) for index in inputs), f"{name}_inputs names an operand that does not exist")
            count = len(results_of(body))
            _require(count == len(self.results), f"the {name} body has {count} Results, the operation {len(self.results)}")

    def result_count(self) -> int:
        return len(results_of(self.then_body.block))

    def infer(self, known: OperandValues) -> Types:
        for name, body in (("then", self.then_body.block), ("else", self.else_body.block)):
            for parameter, index in zip(parameters_of(body), self.integers(f"{name}_inputs"), strict=True):
                set_type(parameter.results[0], self.operands[index].type)
            infer_block(body, known.of_body())
        return self.types_of_results(known)

    def types_of_results(self, known: OperandValues) -> Types:
        """The types of the results, from the types in the two bodies, which are inferred already."""
        taken = known.constant(self.operands[0])
        branches = [results_of(body.block) for body in (self.then_body, self.else_body)]
        if taken is not None and taken.size == 1:
            return [value.type for value in branches[0 if taken.ravel()[0] else 1]]
        return [self._either(then, otherwise) for then, otherwise in zip(*branches, strict=True)]

    @staticmethod
    def _either(then: SSAValue, otherwise: SSAValue) -> TensorTypeAttribute:
        a, b = shape_of(then), shape_of(otherwise)
        if a is not None and b is not None and len(a) + len(b) == 1:
            # The result merges a scalar and a 1-D tensor into a 1-D tensor: of one element, if that has one, else of
            # dynamic length.
            return tensor((1 if (a or b) == (1,) else -1,), merge_elements(element_of(then), element_of(otherwise)))
        return _joined(then, otherwise)


class RepeatingOp(OpsetOp):
    """Base of Loop and TensorIterator.

    `inputs` are the connections of the Parameters of the body, in order, `outputs` those of the results.
    """

    traits = traits_def(NoTerminator(), Isolated())

    FIRST_ARGUMENT: ClassVar[int] = 0
    """Index of the first operand that can initialize a Parameter."""

    @property
    def block(self) -> Block:
        """The block of the body."""
        return self.regions[0].block

    def ports(self, name: str) -> list[BodyPort]:
        """The connections of the property `inputs` or `outputs`."""
        return [port.data for port in cast("ArrayAttr[BodyPortAttr]", self.properties[name])]

    def check_invariants(self) -> None:
        super().check_invariants()
        inputs, outputs = self.ports("inputs"), self.ports("outputs")
        parameters, results = len(parameters_of(self.block)), len(results_of(self.block))
        _require(len(inputs) == parameters, f"inputs has {len(inputs)} entries for {parameters} Parameters")
        _require(len(outputs) == len(self.results), f"outputs has {len(outputs)} entries for {len(self.results)} results")
        for port in inputs:
            if port.index is None:
                _require(self.FIRST_ARGUMENT > 0, "only a Loop has an iteration counter")
            else:
                _require(self.FIRST_ARGUMENT <= port.index < len(self.operands), f"no operand {port.index} can feed a Parameter")
            _require(port.back_edge is None or 0 <= port.back_edge < results, f"the body has no Result {port.back_edge}")
            _require(port.back_edge is None or port.slicing is None, "a Parameter has a back edge or slices, not both")
        for port in outputs:
            _require(port.index is not None and 0 <= port.index < results, f"the body has no Result {port.index}")
        for port in (*inputs, *outputs):
            _require(port.slicing is None or (port.slicing.part_size > 0 and port.slicing.stride != 0), "a slice is empty or does not move")

    def result_count(self) -> int:
        return len(self.ports("outputs"))

    def infer_body(self, known: OperandValues) -> None:
        """Infer the types in the body; they have to hold for the values of all iterations.

        Types start from the operands; types of merged inputs are widened and the body is inferred again until they are
        stable.
        """
        inputs, parameters = self.ports("inputs"), parameters_of(self.block)
        for port, parameter in zip(inputs, parameters, strict=True):
            if port.index is not None:
                operand = self.operands[port.index]
                set_type(parameter.results[0], operand.type if port.slicing is None else _part(operand, port.slicing))
        changed = True
        while changed:
            changed = False
            infer_block(self.block, known.of_body())
            results = results_of(self.block)
            for port, parameter in zip(inputs, parameters, strict=True):
                if port.back_edge is not None:
                    value = parameter.results[0]
                    joined = _joined(value, results[port.back_edge])
                    if joined != value.type:
                        set_type(value, joined)
                        changed = True

    def types_of_results(self, iterations: int) -> Types:
        """Types of the results for a number of iterations, -1 if it is dynamic."""
        results = results_of(self.block)
        types: list[TensorTypeAttribute] = []
        for port in self.ports("outputs"):
            value = results[port.index or 0]
            shape = shape_of(value)
            if port.slicing is not None and shape is not None:
                axis = normalize_axis(port.slicing.axis, len(shape))
                size = self.joined_size(shape[axis], port.slicing, iterations)
                shape = (*shape[:axis], size, *shape[axis + 1 :])
            types.append(tensor(shape, element_of(value)))
        return types

    def iterations(self, known: OperandValues) -> int:
        """The number of iterations, -1 if it is dynamic."""
        raise NotImplementedError

    def joined_size(self, size: int, slicing: Slicing, iterations: int) -> int:
        """Size of an output that concatenates slices of `size` elements, one per iteration, along its axis."""
        return size * iterations if size >= 0 and iterations >= 0 else -1


def _part(operand: SSAValue, slicing: Slicing) -> TensorTypeAttribute:
    """Type of the slice of an operand that one iteration gets."""
    shape: Shape = shape_of(operand)
    if shape is not None:
        axis = normalize_axis(slicing.axis, len(shape))
        shape = (*shape[:axis], slicing.part_size, *shape[axis + 1 :])
    return tensor(shape, element_of(operand))


@deferred_definition
class Loop(RepeatingOp):
    """Repeats the body `trip_count` times (-1: without limit) while the condition is true.

    `execution_condition` is the condition of the first iteration, Result `condition` of the body that of the next one.
    """

    name = "opset5.Loop"
    trip_count = operand_def()
    execution_condition = operand_def()
    arguments = var_operand_def()
    inputs = ports_property()
    outputs = ports_property()
    condition = integer_property()
    values = var_result_def()
    body = region_def("single_block")

    FIRST_ARGUMENT: ClassVar[int] = 2

    def check_invariants(self) -> None:
        super().check_invariants()
        results = results_of(self.block)
        _require(0 <= self.integer("condition") < len(results), f"the body has no Result {self.integer('condition')}")
        shape = shape_of(results[self.integer("condition")])
        _require(shape is None or (len(shape) < 2 and element_count(shape) in (None, 1)), "the condition of its body is not one element")

    def infer(self, known: OperandValues) -> Types:
        self.infer_body(known)
        return self.types_of_results(self.iterations(known))

    def iterations(self, known: OperandValues) -> int:
        first = known.constant(self.operands[1])
        if first is not None and not first.any():
            return 0
        following = known.of_body().constant(results_of(self.block)[self.integer("condition")])
        if following is None:
            return -1
        trip_count = known.integers(self.operands[0])
        limit = trip_count[0] if trip_count else -1
        if following.any():
            return max(limit, -1)
        return 1 if limit != 0 else 0


@deferred_definition
class TensorIterator(RepeatingOp):
    """Repeats the body for each slice of its sliced inputs."""

    name = "opset1.TensorIterator"
    arguments = var_operand_def()
    inputs = ports_property()
    outputs = ports_property()
    values = var_result_def()
    body = region_def("single_block")

    def infer(self, known: OperandValues) -> Types:
        self.infer_body(known)
        return self.types_of_results(self.iterations(known))

    def iterations(self, known: OperandValues) -> int:
        cuts = [(self.operands[port.index], port.slicing) for port in self.ports("inputs") if port.index is not None and port.slicing]
        for operand, slicing in cuts:
            shape = shape_of(operand)
            if shape is not None and (size := shape[normalize_axis(slicing.axis, len(shape))]) >= 0:
                start, end = (bound + size if bound < 0 else bound for bound in (slicing.start, slicing.end))
                return (abs(end - start) + 1) // slicing.part_size
        return -1 if cuts else 1

    def joined_size(self, size: int, slicing: Slicing, iterations: int) -> int:
        return slicing.part_size * iterations if iterations >= 0 else -1
