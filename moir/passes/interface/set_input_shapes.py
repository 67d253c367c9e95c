"""`set-input-shapes`: inputs get other shapes.

    set-input-shapes{inputs="x[1..4,8]"}

    %0 = opset1.Parameter() {name = "x"} : tensor<1x8xf32>
    %1 = onnx.Relu(%0) : tensor<1x8xf32>
->  %0 = opset1.Parameter() {name = "x", bounds = "1..4,8"} : tensor<?x8xf32>
    %1 = onnx.Relu(%0) : tensor<?x?xf32>

Dynamic dimensions of other inputs get a size, too, if they have the name of a dimension that gets it. Types that the
file of the model declares for other tensors are dropped where they need not hold any more; types of opset operations
are inferred again.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block

from moir.analysis.analyses import Analyses
from moir.analysis.model_names import ModelNames
from moir.dialects.moir import models_of
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.shapes import rank_of
from moir.parameters.input_notation import input_item
from moir.rewriting.model_inputs import NamedSizes, set_dimensions, update_types
from moir.rewriting.reporting_pass import ReportingPass


@dataclass(frozen=True)
class SetInputShapesPass(ReportingPass):
    """Sets the shapes of inputs.

    Args:
        inputs: items of `--input`; those without a shape have no effect.
    """

    name = "set-input-shapes"

    inputs: tuple[str, ...] = ()

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = [_set(model.block, self.inputs) for model in models_of(module)]
        return any(changed)


def _set(block: Block, inputs: tuple[str, ...]) -> bool:
    names = ModelNames(block)
    refined = same_ranks = True
    changed, named, resized = False, NamedSizes(), list[Parameter]()
    for index, item in enumerate(map(input_item, inputs)):
        if item.shape is None:
            continue
        parameter = names.parameter_at(item.place, index)
        rank = rank_of(parameter.results[0])
        same_ranks &= rank in (None, len(item.shape))
        named.note(parameter, item.shape)
        resized.append(parameter)
        refined &= set_dimensions(parameter, item.shape)
        changed = True
    if changed:
        named.spread(each for each in names.parameters if each not in resized)
        update_types(block, refined=refined, same_ranks=same_ranks)
    return changed
