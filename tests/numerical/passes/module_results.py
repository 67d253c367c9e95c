"""What the runtime computes for modules of an opset."""

from __future__ import annotations

from collections.abc import Sequence

import openvino
from xdsl.dialects.builtin import ModuleOp

from moir.dialects import element_types
from moir.emit.in_memory import to_openvino
from tests.numerical.runtime import Array, run_together


def results_of_modules(modules: Sequence[ModuleOp], arrays: Sequence[Array]) -> list[list[Array]]:
    """Results of each module on the CPU, for the same inputs, which are converted to the element types of its Parameters."""
    models = [to_openvino(module) for module in modules]
    return run_together(models, [converted(model, arrays) for model in models])


def converted(model: openvino.Model, arrays: Sequence[Array]) -> list[Array]:
    """Arrays for the inputs of a model, of the element types of these."""
    types = [element_types.to_numpy(element_types.from_xml(port.get_element_type().to_string())) for port in model.inputs]
    return [array.astype(type_) for array, type_ in zip(arrays, types, strict=True)]
