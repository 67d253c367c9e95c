"""`cut-inputs`: the inputs of the model become the given places, in that order; unused operations are erased.

    cut-inputs{inputs="0:act[1,8]"}

    %0 = opset1.Parameter() {name = "x"} : tensor<1x4xf32>
    %1 = onnx.Mystery(%0) {name = "other"} : tensor<*x!moir.dynamic>
    %2 = onnx.Relu(%1) {name = "act"} : tensor<*x!moir.dynamic>
->  %1 = opset1.Parameter() {name = "act/placeholder_port_0", tensor_names = ["0:act"]} : tensor<1x8xf32>
    %2 = onnx.Relu(%1) {name = "act"} : tensor<*x!moir.dynamic>

A place is an input of the model, a node with one input, a tensor, `0:node` (an input port: that port alone gets the new
input) or `node:0` (an output port: the new input takes the place of the tensor). A new input has the given shape and
element type, else those of the tensor; where its element type is unknown, f32. An item without a name stands for the
input of the model in its position.

Inputs of the model that are not listed stay after the listed ones if all of these are inputs of the model, or get
values. If the model is cut, it must not depend on an input that is not listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.liveness import needed_for
from moir.analysis.model_names import InputPort, ModelNames
from moir.dialects import element_types
from moir.dialects.locations import located
from moir.dialects.moir import models_of
from moir.dialects.names import name_of, names_of, set_names, several_tensor_names
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.errors import ConversionError
from moir.parameters.input_notation import InputItem, input_item
from moir.rewriting.model_inputs import new_parameter, prune, set_dimensions, update_types
from moir.rewriting.reporting_pass import ReportingPass


@dataclass(frozen=True)
class CutInputsPass(ReportingPass):
    """Cuts the model at tensors: each becomes an input, and operations that no output needs any longer are removed.

    Args:
        inputs: the items of `--input`.
    """

    name = "cut-inputs"

    inputs: tuple[str, ...] = ()

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        for model in models_of(module) if self.inputs else ():
            _Cut(model.block).to([input_item(text) for text in self.inputs])
        return bool(self.inputs)


class _Cut:
    def __init__(self, block: Block) -> None:
        self.block = block
        self.names = ModelNames(block)
        self.needed = self._needed()

    def _needed(self) -> set[Operation]:
        return needed_for(self.names.results)

    def to(self, items: Sequence[InputItem]) -> None:
        """Make the listed tensors and ports the inputs of the model."""
        ports = [self.names.input_at(item.place, index) for index, item in enumerate(items)]
        for index, each in enumerate(ports):
            if each in ports[:index]:
                raise ConversionError(f"the input {str(items[index].place)!r} is listed twice", hint="leave one of them out")
        listed = [each if isinstance(each, Parameter) else self._cut(each, item) for each, item in zip(ports, items, strict=True)]
        new = [item for item, each, before in zip(items, listed, ports, strict=True) if each is not before]
        # A tensor with a frozen value does not cut the model, so inputs that are not listed stay.
        is_cut = any(item.value is None for item in new)
        needed = self._needed()
        for item, each in zip(items, listed, strict=True):
            if each not in needed and (each not in ports or each in self.needed):
                reason = f"no output of the model needs the input {str(item.place)!r}"
                raise ConversionError(reason + ", as the model is cut after it" if each in ports else reason, hint="leave it out")
        others = [op for op in self.names.parameters if op not in listed]
        missing = [op for op in others if op in needed] if is_cut else []
        if missing:
            names = [name_of(op) or next(iter(names_of(op.results[0])), "") for op in missing]
            raise ConversionError(
                f"the outputs also need the input{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}",
                hint="list all inputs of the part of the model that is left",
            )
        kept = list(listed)
        if not is_cut:
            kept += [op for op in others if op in needed or op not in self.needed]
        prune(self.block, kept)
        self._reorder(kept)
        if new:
            update_types(self.block, refined=True, same_ranks=True)

    def _reorder(self, parameters: Sequence[Parameter]) -> None:
        """Put the inputs of the model before all other operations, in order."""
        for op in parameters:
            op.detach()
        first = self.block.first_op
        if first is None:
            self.block.add_ops(parameters)
        else:
            self.block.insert_ops_before(list(parameters), first)

    def _cut(self, port: InputPort | SSAValue, item: InputItem) -> Parameter:
        """A new input that replaces the tensor at one input port, or a tensor for all its users."""
        value = port.value if isinstance(port, InputPort) else port
        element = element_types.from_xml(item.element) if item.element else element_of(value)
        element = element_types.f32 if element == element_types.dynamic else element
        if isinstance(port, InputPort):
            node, kind, number = name_of(port.op) or port.op.name, "port", port.number
            names = [f"{number}:{node}"] + ([node] if number == 0 and not self.names.is_tensor(node) else [])
        else:
            assert isinstance(value, OpResult)
            node, kind, number = name_of(value.op) or value.op.name, "out_port", value.index
            alias = f"{node}:{number}"
            names = [*names_of(value), *([] if self.names.is_tensor(alias) else [alias])]
            set_names(value, [])
        type_ = tensor(shape_of(value), element)
        parameter = new_parameter(type_, f"{node}/placeholder_{kind}_{number}", several_tensor_names([dict.fromkeys(names)]))
        first = self.block.first_op
        assert first is not None
        self.block.insert_op_before(parameter, first)
        if item.shape is not None:
            set_dimensions(parameter, item.shape)
        if isinstance(value, OpResult):
            parameter.location = located(value.op)
        if isinstance(port, InputPort):
            port.op.operands[port.number] = parameter.results[0]
        else:
            value.replace_all_uses_with(parameter.results[0])
        return parameter
