"""Detects shapes of inputs that were given in the layout after `--layout`, although `--input` takes those of the model.

    moir image.onnx --layout 'image(nchw->nhwc)' --input 'image[1,224,224,3]'       // the model: image[?,3,224,224]
->  shapes are those of the model, before --layout; did you mean image[1,3,224,224]?
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir.analysis.model_names import ModelNames
from moir.analysis.model_ports import ModelPorts, name_of_port
from moir.analysis.port_layouts import requested_layouts
from moir.dialects.moir import models_of
from moir.dialects.shapes import format_shape, shape_of
from moir.errors import MoirError
from moir.options import ConversionOptions
from moir.parameters.input_notation import InputItem
from moir.parameters.interface import INPUT
from moir.parameters.layout import LAYOUT, SOURCE_LAYOUT, TARGET_LAYOUT, layout_fields
from moir.parameters.tensor_layouts import TensorLayout
from moir.rewriting.rearrangement import Rearrangement


def hint_on_swapped_shapes(module: ModuleOp, options: ConversionOptions) -> str | None:
    """A hint that names the shapes probably meant; None unless a given shape fits the model only in the other layout.

    Args:
        module: the module as it was read.
        options: the options with the shapes and the layouts.
    """
    fields = layout_fields(options)
    if not fields:
        return None
    meant: list[str] = []
    for model in models_of(module):
        try:
            texts = [str(fields.get(each.name, "")) for each in (LAYOUT, SOURCE_LAYOUT, TARGET_LAYOUT)]
            layouts = requested_layouts(ModelPorts(model), *texts)
            meant += _meant(ModelNames(model.block), layouts, options[INPUT])
        except MoirError:
            # The passes report mistakes in names and layouts.
            return None
    return f"shapes of --input are those of the model, before --layout; did you mean {', '.join(meant)}?" if meant else None


def _meant(names: ModelNames, layouts: dict[Operation, TensorLayout], items: Sequence[InputItem]) -> Iterator[str]:
    """A text for each input whose given shape fits the declared shape only after it is converted to the layout of the
    model.
    """
    for index, item in enumerate(items):
        if item.shape is None:
            continue
        parameter = names.parameter_at(item.place, index)
        layout, declared = layouts.get(parameter), shape_of(parameter.results[0])
        if layout is None or layout.source is None or layout.target is None or declared is None:
            continue
        wanted = [each.size for each in item.shape]
        if len(wanted) != len(declared) or _fits(wanted, declared):
            continue
        original = Rearrangement.between(layout.target, layout.source, len(declared)).target_shape(wanted)
        if _fits(original, declared):
            yield f"{name_of_port(parameter)}{format_shape(original)}"


def _fits(shape: Sequence[int], declared: Sequence[int]) -> bool:
    """Whether two shapes of one rank are compatible: no two static dimensions differ."""
    return len(shape) == len(declared) and all(a == b or -1 in (a, b) for a, b in zip(shape, declared, strict=True))
