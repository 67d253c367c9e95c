"""`set-layouts`: inputs and outputs get the layouts that callers of the model use, which are written to the IR.

    set-layouts{layout="image(nhwc->nchw)"}

    %0 = opset1.Parameter() {name = "image"} : tensor<?x224x160x3xf32>
->  %0 = opset1.Parameter() {name = "image", runtime_info = {layout = {layout = "[N,C,H,W]"}}} : tensor<?x3x224x160xf32>
    %1 = opset1.Transpose(%0, [0, 2, 3, 1])

One Transpose (and a Reshape, if dimensions are fused or split) is built after a Parameter, or before a Result,
for the layout change to move and to cancel. A layout that does not change is recorded only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.analysis.known_values import KnownValues
from moir.analysis.model_ports import ModelPorts, name_of_port, value_of_port
from moir.analysis.port_layouts import record_layout, requested_layouts
from moir.dialects.inference import infer_block, set_type
from moir.dialects.moir import PARAMETER, ModelOp, add_notes, models_of
from moir.dialects.properties import string_attribute, strings_attribute, value_of
from moir.dialects.shapes import element_of, format_shape, rank_of, shape_of, tensor
from moir.errors import UsageError
from moir.parameters.tensor_layouts import TensorLayout
from moir.passes.interface.output_names import keep_output_name, move_output_names
from moir.rewriting.builder import OpBuilder
from moir.rewriting.rearrangement import Parts, Rearrangement
from moir.rewriting.reporting_pass import ReportingPass


@dataclass(frozen=True)
class SetLayoutsPass(ReportingPass):
    """Sets the layouts of inputs and outputs.

    Args:
        layout: layouts of the model's tensors, and of the tensors that callers use in their place, as
            `image(nhwc->nchw),mask(nhw)`.
        source_layout: those of the model alone, as `image(nhwc)`.
        target_layout: those of the callers alone, as `image(nchw)`.
    """

    name = "set-layouts"

    layout: str = ""
    source_layout: str = ""
    target_layout: str = ""

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        for model in models_of(module):
            layouts = requested_layouts(ModelPorts(model), self.layout, self.source_layout, self.target_layout)
            for port, layout in layouts.items():
                _set_layout(model, port, layout)
        return True


def _set_layout(model: ModelOp, port: Operation, layout: TensorLayout) -> None:
    value = value_of_port(port)
    rank = rank_of(value)
    try:
        if layout.source is not None and layout.target is not None:
            change = Rearrangement.between(layout.source, layout.target, rank)
            if change.changes:
                (_change_input if port.name == PARAMETER else _change_output)(model, port, change)
            recorded = change.layout
        else:
            recorded = layout.source or layout.target
            assert recorded is not None
            recorded = recorded if rank is None else recorded.of_rank(rank)
    except UsageError as error:
        kind = "input" if port.name == PARAMETER else "output"
        description = f"{kind} {name_of_port(port)!r} of shape {format_shape(shape_of(value))}"
        raise UsageError(f"{description}: {error.reason}", hint=error.hint) from error
    if layout.source is None:
        add_notes(model, [f"{name_of_port(port)!r} stays as it is: its layout in the model, which is to become {recorded}, is not given"])
    record_layout(port, recorded)


def _change_input(model: ModelOp, parameter: Operation, change: Rearrangement) -> None:
    value = parameter.results[0]
    known_rank = shape_of(value)
    shape = (-1,) * len(change.source) if known_rank is None else known_rank
    uses = list(value.uses)
    set_type(value, tensor(change.target_shape(shape), element_of(value)))
    _rearrange_texts(parameter, change.source, change.target)
    changed = change.of_input(OpBuilder(KnownValues(), model.block, parameter.next_op), value, shape)
    for use in uses:
        use.operation.operands[use.index] = changed
    keep_output_name(changed)
    if known_rank is None:
        infer_block(model.block, KnownValues())


def _rearrange_texts(parameter: Operation, source: Parts, target: Parts) -> None:
    """Reorder the attributes of a Parameter that have an element for each dimension: names and bounds.

    `source` and `target` are the parts of each dimension before and after, as in `Rearrangement`.
    """
    names = parameter.attributes.get("dimension_names")
    if names is not None:
        parameter.attributes["dimension_names"] = strings_attribute(_rearranged(value_of(names), source, target, ""))
    bounds = parameter.properties.get("bounds")
    if isinstance(bounds, StringAttr) and bounds.data:
        parameter.properties["bounds"] = string_attribute(",".join(_rearranged(bounds.data.split(","), source, target, "?")))


def _rearranged(texts: Sequence[str], source: Parts, target: Parts, unknown: str) -> list[str]:
    known = {parts[0]: text for parts, text in zip(source, texts, strict=True) if len(parts) == 1}
    return [known.get(parts[0], unknown) if len(parts) == 1 else unknown for parts in target]


def _change_output(model: ModelOp, result: Operation, change: Rearrangement) -> None:
    value = result.operands[0]
    shape = shape_of(value) or (-1,) * len(change.source)
    changed = change.of_output(OpBuilder(KnownValues(), model.block, result), value, shape)
    result.operands[0] = changed
    move_output_names(result, value)
