"""`cut-outputs`: the outputs of the model become the given tensors, in that order; all else is erased.

    cut-outputs{outputs="act"}

    %1 = onnx.Relu(%0) {name = "act", tensor_names = ["a"]} : tensor<1x8xf32>
    %2 = onnx.Mystery(%1) {name = "other", tensor_names = ["y"]} : tensor<1x8xf32>
    opset1.Result(%2) {name = "y"}
->  %1 = onnx.Relu(%0) {name = "act", tensor_names = ["a,act"]} : tensor<1x8xf32>
    opset1.Result(%1) {name = "act"}

An output is named as an output of the model, a tensor, a node with one output, `node:1` (an output port), or `0:node`
(the tensor that enters an input port). The tensor has that name afterwards, besides those that it had.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.model_names import ModelNames
from moir.dialects.moir import models_of
from moir.dialects.names import add_tensor_names, escaped, name_of, names_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.errors import ConversionError
from moir.parameters.input_notation import place
from moir.rewriting.model_inputs import prune
from moir.rewriting.reporting_pass import ReportingPass


@dataclass(frozen=True)
class CutOutputsPass(ReportingPass):
    """Makes tensors the outputs of the model.

    Args:
        outputs: the outputs, in the notation of `--output`.
    """

    name = "cut-outputs"

    outputs: tuple[str, ...] = ()

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        for model in models_of(module) if self.outputs else ():
            _cut(model.block, self.outputs)
        return bool(self.outputs)


def _cut(block: Block, outputs: tuple[str, ...]) -> None:
    names = ModelNames(block)
    wanted = [place(text) for text in outputs]
    values = [names.output_at(each) for each in wanted]
    known = {name: op for op in names.results if (name := name_of(op))}
    for index, (each, value) in enumerate(zip(wanted, values, strict=True)):
        if value in values[:index]:
            other = wanted[values.index(value)]
            raise ConversionError(f"the outputs {other.text!r} and {each.text!r} are one tensor", hint="leave one of them out")
    for op in names.results:
        op.detach()
    for each, value in zip(wanted, values, strict=True):
        text = str(each) if each.is_exact and (each.input_port, each.output_port) != (None, None) else each.text
        result = known.get(text)
        if result is None or result.operands[0] is not value:
            result = Result.create(operands=[value], attributes={"name": StringAttr(text)})
            _name(value, text, names)
        block.add_op(result)
    for op in names.results:
        if op.parent is None:
            op.drop_all_references()
    # Erases inputs that no remaining output needs, except those that are outputs themselves.
    prune(block, [op for op in names.parameters if any(value.owner is op for value in values)])


def _name(value: SSAValue, name: str, names: ModelNames) -> None:
    """Give a tensor the name of the output, unless another tensor has it."""
    if name not in names_of(value) and not names.is_tensor(name) and not isinstance(value.owner, Parameter):
        add_tensor_names(value, escaped(name), required=True)
