"""`set-input-types`: inputs get other element types, and are converted to those that the model was made for.

    set-input-types{inputs="x{u8}"}

    %0 = opset1.Parameter() {name = "x", tensor_names = ["x"]} : tensor<1x8xf32>
    %1 = onnx.Relu(%0)
->  %0 = opset1.Parameter() {name = "x", tensor_names = ["x"]} : tensor<1x8xui8>
    %2 = opset1.Convert(%0) {destination_type = f32} : tensor<1x8xf32>
    %1 = onnx.Relu(%2)

An input whose element type is not known gets the given one without a conversion.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, Block

from moir.analysis.analyses import Analyses
from moir.analysis.model_names import ModelNames
from moir.dialects import element_types
from moir.dialects.inference import set_type
from moir.dialects.locations import located
from moir.dialects.moir import models_of
from moir.dialects.names import name_of
from moir.dialects.opset.data_types import Convert
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.shapes import element_of, shape_of, tensor
from moir.errors import ConversionError
from moir.parameters.input_notation import input_item
from moir.rewriting.model_inputs import update_types
from moir.rewriting.reporting_pass import ReportingPass


@dataclass(frozen=True)
class SetInputTypesPass(ReportingPass):
    """Sets the element types of inputs.

    Args:
        inputs: items of `--input`; those without a type have no effect.
    """

    name = "set-input-types"

    inputs: tuple[str, ...] = ()

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = [_set(model.block, self.inputs) for model in models_of(module)]
        return any(changed)


def _set(block: Block, inputs: tuple[str, ...]) -> bool:
    names = ModelNames(block)
    changed = False
    for index, item in enumerate(map(input_item, inputs)):
        if item.element:
            parameter = names.parameter_at(item.place, index)
            changed |= _set_type(parameter, element_types.from_xml(item.element))
    if changed:
        update_types(block, refined=True, same_ranks=True)
    return changed


def _set_type(parameter: Parameter, element: Attribute) -> bool:
    value = parameter.results[0]
    before = element_of(value)
    if before == element:
        return False
    if element_types.string in (before, element):
        raise ConversionError("strings are not converted to or from numbers", operation=parameter.name, node=name_of(parameter))
    set_type(value, tensor(shape_of(value), element))
    if before == element_types.dynamic:
        return True
    converted = Convert.create(
        operands=[value],
        properties={"destination_type": before},
        result_types=[tensor(shape_of(value), before)],
        location=located(parameter),
    )
    if (name := name_of(parameter)) is not None:
        converted.attributes["name"] = StringAttr(f"{name}/convert")
    assert parameter.parent is not None
    uses = [use for use in value.uses if use.operation is not converted]
    parameter.parent.insert_op_after(converted, parameter)
    for use in uses:
        use.operation.operands[use.index] = converted.results[0]
    return True
