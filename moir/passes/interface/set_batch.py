"""`set-batch`: sets the first dimension of each input.

    set-batch{size=4}

    %0 = opset1.Parameter() {name = "x"} : tensor<?x8xf32>
->  %0 = opset1.Parameter() {name = "x"} : tensor<4x8xf32>

That dimension must have been unknown, 0 or 1, since any other number is hardly a batch. Scalars are unchanged. If the
input has a layout, its dimension `n` is set. Other dimensions that have the name of one that is set get the number,
too.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation

from moir.analysis.analyses import Analyses
from moir.analysis.model_names import ModelNames
from moir.dialects.moir import ModelOp, models_of
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.shapes import format_shape, shape_of
from moir.errors import ConversionError
from moir.parameters.input_notation import ANY, Dimension
from moir.rewriting.model_inputs import NamedSizes, dimension_names, set_dimensions, update_types
from moir.rewriting.reporting_pass import ReportingPass


@dataclass(frozen=True)
class SetBatchPass(ReportingPass):
    """Sets the batch of all inputs.

    Args:
        size: the number; 0 changes nothing.
        layout, source_layout, target_layout: the layouts of inputs, see `set-layouts`: the batch is their dimension n.
    """

    name = "set-batch"

    size: int = 0
    layout: str = ""
    source_layout: str = ""
    target_layout: str = ""

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = [_set(model.block, self.size, self._batches(model)) for model in models_of(module)]
        return any(changed)

    def _batches(self, model: ModelOp) -> dict[Operation, int]:
        """The batch axis of each input, from the layouts."""
        texts = (self.layout, self.source_layout, self.target_layout)
        if not any(texts):
            return {}
        from moir.analysis.model_ports import ModelPorts
        from moir.analysis.port_layouts import requested_layouts

        layouts = {port: each.source or each.target for port, each in requested_layouts(ModelPorts(model), *texts).items()}
        axes = {port: None if layout is None else layout.index("N") for port, layout in layouts.items()}
        return {port: index for port, index in axes.items() if index is not None}


def _named_axis(parameter: Parameter, batch_names: Set[str]) -> int:
    """The batch axis of an input: the axis whose name is one of `batch_names` if dimension 0 is 1, otherwise axis 0.

    States of recurrent operations have the batch after the number of directions.
    """
    shape, names = shape_of(parameter.results[0]), dimension_names(parameter)
    if not shape or shape[0] != 1:
        return 0
    return next((axis for axis, name in enumerate(names) if name in batch_names), 0)


def _set(block: Block, size: int, batches: Mapping[Operation, int]) -> bool:
    refined, changed, named = True, False, NamedSizes()
    parameters = ModelNames(block).parameters if size else []
    batch_names = {names[0] for each in parameters if (names := dimension_names(each))} - {""}
    for parameter in parameters:
        shape = shape_of(parameter.results[0])
        if shape == ():
            continue
        axis = batches.get(parameter, _named_axis(parameter, batch_names))
        if shape is None or not -len(shape) <= axis < len(shape) or shape[axis] not in (-1, 0, 1):
            description = "its rank is not known" if shape is None else f"its shape is {format_shape(shape)}"
            reason = f"it has no batch that could be set to {size}: {description}"
            raise ConversionError(reason, operation=parameter.name, node=name_of(parameter), hint="set its shape with --input instead")
        names = dimension_names(parameter) or [""] * len(shape)
        dimensions = [Dimension(d, d) if d >= 0 else ANY._replace(name=name) for d, name in zip(shape, names, strict=True)]
        dimensions[axis] = Dimension(size, size)
        named.note(parameter, dimensions)
        refined &= set_dimensions(parameter, dimensions)
        changed = True
    if changed:
        named.spread(ModelNames(block).parameters)
        update_types(block, refined=refined, same_ranks=True)
    return changed
