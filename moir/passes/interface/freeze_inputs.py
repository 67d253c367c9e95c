"""`freeze-inputs`: constants take the place of inputs.

    freeze-inputs{inputs="training->False"}

    %0 = opset1.Parameter() {name = "training"} : tensor<i1>
->  %0 = opset1.Constant() {value = #moir.data<tensor<i1>, [false]>, name = "training"} : tensor<i1>

The constant has the element type and the shape of the input, or those of the item. One number fills a shape; unknown
dimensions follow from the number of values where that is possible.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block

from moir.analysis.analyses import Analyses
from moir.analysis.model_names import ModelNames
from moir.dialects import element_types
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.locations import located
from moir.dialects.moir import models_of
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.shapes import Shape, element_of, format_shape, shape_of, tensor
from moir.errors import ConversionError
from moir.parameters.input_notation import InputItem, input_item
from moir.rewriting.model_inputs import update_types
from moir.rewriting.reporting_pass import ReportingPass


@dataclass(frozen=True)
class FreezeInputsPass(ReportingPass):
    """Replaces inputs by constants.

    Args:
        inputs: items of `--input`; those without a value have no effect.
    """

    name = "freeze-inputs"

    inputs: tuple[str, ...] = ()

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = [_freeze(model.block, self.inputs) for model in models_of(module)]
        return any(changed)


def _freeze(block: Block, inputs: tuple[str, ...]) -> bool:
    names = ModelNames(block)
    items = list(map(input_item, inputs))
    parameters = [(item, names.parameter_at(item.place, index)) for index, item in enumerate(items) if item.value is not None]
    for item, parameter in parameters:
        data = _data(parameter, item)
        constant = Constant.create(
            properties={"value": data},
            attributes={name: each for name, each in parameter.attributes.items() if name != "dimension_names"},
            result_types=[tensor(data.shape, data.element)],
            location=located(parameter),
        )
        block.insert_op_before(constant, parameter)
        parameter.results[0].replace_all_uses_with(constant.results[0])
        block.erase_op(parameter)
    if parameters:
        update_types(block, refined=True, same_ranks=True)
    return bool(parameters)


def _data(parameter: Parameter, item: InputItem) -> DataAttr:
    values = item.value or ()

    def refused(reason: str, hint: str) -> ConversionError:
        return ConversionError(reason, operation=parameter.name, node=name_of(parameter), hint=hint)

    declared = shape_of(parameter.results[0])
    element = element_types.from_xml(item.element) if item.element else element_of(parameter.results[0])
    if element == element_types.dynamic:
        element = element_types.from_numpy(cast("Any", np.asarray(values)).dtype)
        element = element_types.f32 if element == element_types.f64 else element
    shape = _shape(declared, len(values), item.is_scalar)
    if shape is None:
        counted = f"{len(values)} value{'' if len(values) == 1 else 's'}"
        raise refused(f"{counted} cannot fill the shape {format_shape(declared)}", "give the shape with the value: name[2,3]->[...]")
    array = _array(values, element)
    if array is None:
        hint = "give the element type of the input, or values that it can have"
        raise refused(f"the value {str(list(values))[:60]} is not a value of type {element_types.describe(element).xml}", hint)
    array = np.ascontiguousarray(np.broadcast_to(array[0], shape) if array.size == 1 else array.reshape(shape))
    return DataAttr(TensorData(array, element, shape))


def _shape(declared: Shape, count: int, is_scalar: bool) -> tuple[int, ...] | None:
    """The declared shape with sizes in place of its dynamic dimensions, so that it holds `count` values.

    One value fits any static shape. Returns None if the values do not fit. Without a declared shape (None) it is [] if
    `is_scalar` is set, else [count].
    """
    if declared is None:
        return () if is_scalar else (count,)
    unknown = [index for index, d in enumerate(declared) if d < 0]
    known = prod(d for d in declared if d >= 0)
    if not unknown:
        return declared if count in (1, known) else None
    if len(unknown) == 1 and known and count % known == 0:
        return tuple(count // known if d < 0 else d for d in declared)
    return tuple(1 if d < 0 else d for d in declared) if count == known else None


def _array(values: tuple[Any, ...], element: Attribute) -> np.ndarray[Any, Any] | None:
    """Values as an array of an element type, flat; None if the type cannot hold them."""
    if element == element_types.string:
        return np.asarray([each if isinstance(each, str) else str(each) for each in values], dtype=object)
    try:
        given = np.asarray(values)
        if given.dtype.kind not in "biuf":
            return None
        with np.errstate(all="ignore"):
            array = given.astype(element_types.to_numpy(element))
    except (ValueError, OverflowError):
        return None
    exact = element in element_types.REAL_TYPES or np.array_equal(array.astype(given.dtype), given)
    return array if exact else None
