"""Subgraphs -> blocks in the `tflite` dialect.

    CONV_2D (x, w, b) -> y, with options
->  %y = tflite.CONV_2D(%x, %w, %b) {padding = "SAME", …, name = "y"}

In the module a quantized tensor is represented by the numbers that its integers stand for, so that an operation has
the same meaning as for floats. Conversions between integers and numbers are separate operations:

    tflite.dequantize(integers) {scale, zero_point}      of constants and inputs
    tflite.fake_quantize(numbers) {scale, zero_point}    rounds a result as its integers are rounded
    tflite.quantize(numbers) {scale, zero_point}         of outputs, and where an operation takes the integers
    tflite.round_for_comparison(numbers) {scale}         where the kernel compares rounded numbers

Control flow is an operation with regions. Variables are values: what a variable holds when it is read is known from the
order of the operators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import ComplexType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from moir.dialects import opset
from moir.dialects.data import DataAttr
from moir.dialects.element_types import dynamic, f32
from moir.dialects.framework import operation_class
from moir.dialects.names import several_tensor_names
from moir.dialects.properties import attribute_of, string_attribute, strings_attribute
from moir.dialects.shapes import UNKNOWN
from moir.dialects.shapes import tensor as tensor_type
from moir.frontends.operations import Operations, named
from moir.frontends.tflite.callees import INLINED, REGIONS, subgraph_number
from moir.frontends.tflite.custom import custom_attributes
from moir.frontends.tflite.flatbuffer import integers
from moir.frontends.tflite.integer_kernels import integer_kernel
from moir.frontends.tflite.options import attributes_of
from moir.frontends.tflite.parts import ModelParts
from moir.frontends.tflite.quantization import (
    TIES,
    as_taken,
    described,
    is_compared_roughly,
    is_looked_up,
    is_rounded,
    is_wide,
    keeps_levels,
    table_index,
    takes_integers,
)
from moir.frontends.tflite.state import STATE_OPERANDS
from moir.frontends.tflite.tensors import Tensor, constant_of

LARGEST_NESTING = 32


def block_of(model: ModelParts, index: int) -> Block:
    """The block of a model: that of the subgraph at an index."""
    frame = SubgraphImporter(model, index, Operations(), ())
    frame.run([frame.parameter(each) for each in frame.inputs])
    results = [frame.result(each) for each in frame.outputs]
    return Block([*frame.operations.list, *model.resources.finish(), *results])


class SubgraphImporter:
    """Builds the operations of a subgraph.

    Args:
        model: the parts that all subgraphs of a model share.
        index: the index of the subgraph.
        operations: the operations of the block so far.
        callers: the subgraphs that it is called from, the outermost one first.
        is_body: whether it is a body of control flow, which runs any number of times.
    """

    def __init__(self, model: ModelParts, index: int, operations: Operations, callers: tuple[int, ...], is_body: bool = False) -> None:
        self.model = model
        self.file = model.file
        self.index = index
        self.operations = operations
        self.callers = callers
        self.is_body = is_body
        self.tensors = model.tensors(index)
        self._table: Any = self.file.subgraphs[index]
        self._values: dict[int, SSAValue] = {}
        self._dequantized: dict[tuple[int, bytes | None], SSAValue] = {}
        self._handles: dict[int, str] = {}
        if index in callers or len(callers) > LARGEST_NESTING:
            raise self.file.error(f"subgraph {index} calls itself, or calls nest too deeply", "models with recursion cannot be converted")
        with self.file.damage(f"subgraph {index}"):
            self.inputs = integers(self._table.InputsAsNumpy())
            self.outputs = integers(self._table.OutputsAsNumpy())
        if not self.outputs and not is_body and not callers:
            raise self.file.error("the model has no outputs")

    def tensor(self, index: int) -> Tensor:
        """A tensor by its index in the subgraph. Raises ModelFileError for an index out of range."""
        if not 0 <= index < len(self.tensors):
            raise self.file.error(
                f"there is no tensor {index} among the {len(self.tensors)} of subgraph {self.index}", "the file is damaged"
            )
        return self.tensors[index]

    # The operators

    def run(self, values: Sequence[SSAValue]) -> list[SSAValue]:
        """Build the operations for given values of the inputs, one each; returns the values of the outputs."""
        if len(values) != len(self.inputs):
            raise self.file.error(
                f"subgraph {self.index} has {len(self.inputs)} inputs where {len(values)} are given", "the file is damaged"
            )
        self._values |= zip(self.inputs, values, strict=True)
        with self.file.damage(f"the operators of subgraph {self.index}"):
            operators = self.file.vector(self._table.OperatorsLength(), self._table.Operators)
        for operator in operators:
            self.model.count()
            self._operator(operator)
        return [] if not self.callers and not self.is_body else [self.value(each) for each in self.outputs]

    def _operator(self, operator: Any) -> None:
        with self.file.damage("an operator"):
            code: int = operator.OpcodeIndex()
            inputs, outputs = integers(operator.InputsAsNumpy()), integers(operator.OutputsAsNumpy())
            intermediates = integers(operator.IntermediatesAsNumpy())
        if code >= len(self.file.operators):
            raise self.file.error(f"there is no operator code {code}", "the file is damaged")
        kind, is_custom = self.file.operators[code]
        for each in outputs:
            self.tensor(each)
        attributes = (custom_attributes if is_custom else attributes_of)(self.file, operator, kind)
        if not is_custom and kind in STATE_OPERANDS:
            operands = [None if each < 0 else self.tensor(each) for each in inputs]
            attributes |= integer_kernel(self.file, kind, attributes, operands, [self.tensor(each) for each in intermediates])
        if not is_custom and self.model.resources.takes(kind):
            self._resource(kind, inputs, outputs, attributes)
        elif not is_custom and kind in INLINED:
            self._call(subgraph_number(attributes, INLINED[kind]), inputs, outputs)
        else:
            regions = [] if is_custom else [self._region(subgraph_number(attributes, name)) for _, name in REGIONS.get(kind, ())]
            self._operation(kind, inputs, outputs, attributes, regions, is_custom)

    def _operation(
        self,
        kind: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        attributes: dict[str, Attribute],
        regions: Sequence[Region],
        is_custom: bool,
    ) -> None:
        """Build the operation of an operator of a kind, and the operations that round its results; an input of -1 is
        absent.
        """
        if not is_custom and (part := self._complex_part(inputs)) is not None:
            attributes = attributes | {"T": ComplexType(part)}
        if kind == "CAST" and (part := self._complex_part(outputs)) is not None:
            attributes = attributes | {"DstT": ComplexType(part)}
        if regions:
            attributes = attributes | {"graph_attributes": strings_attribute([name for name, _ in REGIONS[kind]])}
        declared = [self.tensor(each) for each in outputs]
        given = [None if each < 0 else self.tensor(each) for each in inputs]
        given = given if is_custom else as_taken(kind, given, declared)
        present = [each for each in given if each is not None]
        is_table = self._is_constant(inputs, table_index(kind))
        of_integers = not is_custom and takes_integers(kind, present, declared, is_table)
        operands = [self._operand(kind, index, each, given[index], of_integers) for index, each in enumerate(inputs)]
        if not is_custom and is_compared_roughly(kind, present):
            operands = [self._converted("round_for_comparison", value, each) for value, each in zip(operands, present, strict=True)]
        if kind == "QUANTIZE" and len(outputs) == 1 and is_wide(kind, 0, declared[0]):
            self._values[outputs[0]] = self._converted("quantize", operands[0], declared[0], self._names(outputs[0]))
            return
        variables = [inputs[index] for index in STATE_OPERANDS.get(kind, ()) if index < len(inputs) and not is_custom]
        keeps = not regions and not is_custom and not of_integers and keeps_levels(kind, present)
        # The variables that an operator changes are results of its operation.
        operations = [*outputs, *variables]
        tensors = [self.tensor(each) for each in operations]
        rounds = [
            is_rounded(each) and not (keeps and described(each) in [described(own) for own in present]) and not regions for each in tensors
        ]
        results = self._append(
            kind,
            operands,
            attributes,
            [UNKNOWN if regions else self._type(each, numbers=not of_integers) for each in tensors],
            tensors[0].name if tensors else kind,
            [[] if rounds[index] else self._names(each) for index, each in enumerate(operations)],
            regions,
        )
        for index, each in enumerate(operations):
            value = results[index]
            if rounds[index]:
                ties = None if of_integers or is_custom else TIES.get(kind)
                value = self._converted("dequantize" if of_integers else "fake_quantize", value, tensors[index], self._names(each), ties)
            if index < len(outputs):
                self._values[each] = value
            else:
                self.model.resources.assign(self._variable_name(each), value)

    def _append(
        self,
        kind: str,
        operands: Sequence[SSAValue],
        attributes: Mapping[str, Attribute],
        types: Sequence[Attribute],
        name: str,
        names: Sequence[Sequence[str]],
        regions: Sequence[Region] = (),
    ) -> Sequence[SSAValue]:
        op = operation_class("tflite", kind).create(
            operands=operands,
            properties=dict(attributes),
            attributes={"name": string_attribute(name), "tensor_names": several_tensor_names(names)},
            result_types=types,
            regions=regions,
        )
        self.operations.append(op)
        return op.results

    def _converted(self, kind: str, value: SSAValue, tensor: Tensor, names: Sequence[str] = (), ties: str | None = None) -> SSAValue:
        """The result of `kind`, as `dequantize`, for a value with a tensor's quantization; `ties` as in `TIES`."""
        attributes = described(tensor)
        assert attributes is not None
        if ties is not None:
            attributes["ties"] = attribute_of(ties)
        type_ = self._type(tensor, numbers=kind != "quantize")
        return self._append(kind, [value], attributes, [type_], f"{tensor.name}/{kind}", [names])[0]

    # Values

    def _operand(self, kind: str, operand_index: int, index: int, operand: Tensor | None, takes_integers: bool) -> SSAValue:
        """The value of operand `operand_index`: real numbers, or their quantized integers if the operator takes these.

        `operand` is the tensor at `index` with the quantization that the operator assumes; None if it is absent.
        """
        if operand is None:
            return self.operations.absent()
        tensor = self.tensor(index)
        if index in self._handles:
            raise self.file.error(
                f"a handle of {self._handles[index]!r} goes into a {kind}", "models that pass variables on cannot be converted"
            )
        if not takes_integers and is_wide(kind, operand_index, operand):
            return self._wide(index, operand)
        if takes_integers or not is_rounded(tensor):
            value = self.value(index)
            return value if not is_rounded(tensor) else self._integers(value, tensor)
        value = self.value(index)
        if kind == "DEQUANTIZE" and is_looked_up(value):
            # Products with such weights are computed in integers only if the model has a FakeQuantize.
            return self._converted("fake_quantize", value, tensor)
        if operand is tensor or not is_rounded(operand) or described(operand) == described(tensor):
            return value
        return self._converted("dequantize", self._integers(value, tensor), operand)

    def _integers(self, value: SSAValue, tensor: Tensor) -> SSAValue:
        """The quantized integers of a tensor, whose real numbers are `value`."""
        owner = value.owner
        if isinstance(owner, Operation) and owner.name == "tflite.dequantize":
            return owner.operands[0]
        return self._converted("quantize", value, tensor)

    def _is_constant(self, operands: Sequence[int], index: int | None) -> bool:
        """Whether operand `index` of an operator is a constant; false for None. `operands` are the indices of
        tensors.
        """
        if index is None or not 0 <= index < len(operands) or operands[index] < 0:
            return False
        return self.file.buffer(self.tensor(operands[index]).buffer) is not None

    def _wide(self, index: int, tensor: Tensor) -> SSAValue:
        """The real numbers of tensor `index`, of 32 or 64 bits, by the quantization of `tensor`; its own value has the
        integers.
        """
        key = index, None if tensor.quantization is None else tensor.quantization.scale.tobytes()
        if key not in self._dequantized:
            self._dequantized[key] = self._converted("dequantize", self.value(index), tensor)
        return self._dequantized[key]

    def value(self, index: int) -> SSAValue:
        """The value of a tensor, dequantized if necessary. Raises ModelFileError if nothing computes it."""
        if (known := self._values.get(index)) is not None:
            return known
        tensor = self.tensor(index)
        with self.file.damage(f"the constant {tensor.name!r}"):
            data = constant_of(self.file, tensor)
        if data is not None:
            value = self._constant(tensor, data)
        elif tensor.is_variable and not self.is_body:
            value = self.model.resources.variable(self._variable_name(index), tensor, self.operations)
        else:
            reason = f"the tensor {tensor.name!r} of subgraph {self.index} is read before it is computed"
            raise self.file.error(reason, "the file is damaged, or its operators are in no order")
        self._values[index] = value
        return value

    def _constant(self, tensor: Tensor, data: DataAttr) -> SSAValue:
        value = self.operations.constant(data, named(tensor.name))
        return self._converted("dequantize", value, tensor) if is_rounded(tensor) else value

    def _variable_name(self, index: int) -> str:
        return self.tensor(index).name or f"variable_{self.index}_{index}"

    def _type(self, wanted: Tensor, numbers: bool = True) -> Attribute:
        """The type that the file declares for a tensor; with `numbers` a quantized one has real numbers, f32."""
        element = f32 if numbers and is_rounded(wanted) else wanted.element
        if wanted.part is not None:
            return tensor_type((*wanted.shape, 2) if wanted.is_ranked else None, wanted.part)
        return UNKNOWN if element is dynamic else tensor_type(wanted.shape if wanted.is_ranked else None, element)

    def _complex_part(self, tensors: Sequence[int]) -> Any:
        """The element type of the real parts of the first complex tensor; None if no tensor is complex."""
        return next((part for each in tensors if each >= 0 and (part := self.tensor(each).part) is not None), None)

    def _names(self, index: int) -> list[str]:
        """The names of a tensor's value: from the signature, and its own name if no other tensor has the same; none
        for the real numbers of a quantized output whose integers have its own name.
        """
        own = self.tensor(index).name
        if self.callers or self.is_body or self._is_named_when_quantized(index):
            return []
        names = [*self.model.outputs.get(index, ()), *self.model.inputs.get(index, ())]
        if own and own not in self.model.names:
            self.model.names.add(own)
            names.append(own)
        return list(dict.fromkeys(names))

    def _is_named_when_quantized(self, index: int) -> bool:
        """Whether a tensor of the model is a quantized output, no input, that has no name in the signature."""
        return index in self.outputs and index not in self.inputs and not self.model.outputs.get(index) and is_rounded(self.tensor(index))

    def parameter(self, index: int) -> SSAValue:
        """The Parameter of an input; if it is quantized, its dequantized value."""
        tensor, names = self.tensor(index), self._names(index)
        attributes: dict[str, Attribute] = {"name": string_attribute(names[0] if names else tensor.name)}
        if not self.is_body:
            attributes["tensor_names"] = several_tensor_names([names])
        type_ = self._type(tensor, numbers=self.is_body)
        value = self.operations.parameter(type_, attributes)
        return value if self.is_body or not is_rounded(tensor) else self._converted("dequantize", value, tensor)

    def result(self, index: int) -> Operation:
        """The Result of an output; for a quantized output it has the integers."""
        tensor, value = self.tensor(index), self.value(index)
        names = self.model.outputs.get(index, ())
        if is_rounded(tensor) and not self.is_body:
            # The names belong to the quantized output.
            own = [tensor.name] if self._is_named_when_quantized(index) and tensor.name else []
            value = self._converted("quantize", value, tensor, names or own)
        attributes: dict[str, Attribute] = {} if self.is_body else {"name": string_attribute(names[0] if names else tensor.name)}
        return opset.operation("opset1.Result").create(operands=[value], attributes=attributes)

    # Subgraphs, variables

    def _region(self, index: int) -> Region:
        """The region of control flow for subgraph `index`, with Parameters for its inputs."""
        frame = SubgraphImporter(self.model, index, Operations(), (*self.callers, self.index), is_body=True)
        frame.run([frame.parameter(each) for each in frame.inputs])
        return Region(Block([*frame.operations.list, *[frame.result(each) for each in frame.outputs]]))

    def _call(self, index: int, inputs: Sequence[int], outputs: Sequence[int]) -> None:
        """Build the operations of subgraph `index`, called with `inputs`; `outputs` get its results, which must be as
        many.
        """
        frame = SubgraphImporter(self.model, index, self.operations, (*self.callers, self.index), self.is_body)
        results = frame.run([self.value(each) for each in inputs])
        if len(results) != len(outputs):
            raise self.file.error(f"subgraph {index} has {len(results)} outputs where {len(outputs)} are expected", "the file is damaged")
        self._values |= zip(outputs, results, strict=True)

    def _resource(self, kind: str, inputs: Sequence[int], outputs: Sequence[int], attributes: Mapping[str, Attribute]) -> None:
        """Create, read or write a variable or a table. Raises ModelFileError without a handle, or in control flow."""
        resources = self.model.resources
        if kind == "CALL_ONCE":
            self._initialize(subgraph_number(attributes, "init_subgraph_index"))
            return
        if kind in resources.HANDLES:
            if len(outputs) != 1:
                raise self.file.error(f"a {kind} has {len(outputs)} outputs", "the file is damaged")
            self._handles[outputs[0]] = resources.name(kind, attributes)
            return
        if not inputs or (name := self._handles.get(inputs[0])) is None:
            raise self.file.error(f"a {kind} has no handle", "models that pass variables on cannot be converted")
        if resources.writes(kind) and self.is_body:
            raise self.file.error(f"{name!r} is written within control flow", "unroll the loop, or move the variable out of it")
        operands = [self.value(each) for each in inputs[1:]]
        if kind == "ASSIGN_VARIABLE":
            resources.assign(name, operands[0])
        elif kind == "READ_VARIABLE":
            self._values[outputs[0]] = resources.read(name, self.tensor(outputs[0]), self.operations)
        elif kind == "HASHTABLE_IMPORT":
            resources.fill(name, operands)
        else:
            keys, values = resources.table(name)
            types = [self._type(self.tensor(each)) for each in outputs]
            names = [self._names(each) for each in outputs]
            own = self.tensor(outputs[0]).name
            self._values[outputs[0]] = self._append(kind, [keys, values, *operands], {}, types, own, names)[0]

    def _initialize(self, index: int) -> None:
        """Run subgraph `index`, which initializes variables and tables. Raises ModelFileError in control flow."""
        if self.is_body:
            raise self.file.error("a CALL_ONCE stands within control flow", "move it out of the loop or branch")
        frame = SubgraphImporter(self.model, index, self.operations, (*self.callers, self.index))
        with self.model.resources.initialization():
            frame.run([])
