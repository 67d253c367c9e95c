"""Reference kernels: operations of an extension, written in Python for the runtime."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import openvino

from tests.numerical.model_optimizer.conversion import Converted
from tests.numerical.runtime import Array, run

Attributes = Mapping[str, Any]


def kernel(
    type_: str,
    attributes: Attributes,
    shape: Callable[[Attributes, list[list[int]]], Sequence[int]],
    compute: Callable[[Attributes, list[Array]], Array],
) -> type[openvino.Op]:
    """The class of an operation with one output.

    Args:
        type_: its type.
        attributes: its attributes with values of their types.
        shape: the shape of the output, of the attributes and the shapes of the inputs.
        compute: the output, of the attributes and the inputs.
    """

    class Kernel(openvino.Op):
        def __init__(self, inputs: Any = None, **given: Any) -> None:
            super().__init__(self)
            self.attributes = {**attributes, **given}
            if inputs is not None:
                self.set_arguments(inputs)
                self.constructor_validate_and_infer_types()

        def validate_and_infer_types(self) -> None:
            shapes = [list(self.get_input_shape(index)) for index in range(self.get_input_size())]
            self.set_output_type(0, self.get_input_element_type(0), openvino.PartialShape(list(shape(self.attributes, shapes))))

        def clone_with_new_inputs(self, inputs: Any) -> Kernel:
            return Kernel(inputs, **self.attributes)

        def visit_attributes(self, visitor: Any) -> bool:
            visitor.on_attributes(self.attributes)
            return True

        def has_evaluate(self) -> bool:
            return True

        def evaluate(self, outputs: Any, inputs: Any) -> bool:
            outputs[0].data[...] = compute(self.attributes, [np.array(each.data) for each in inputs])
            return True

    Kernel.__name__ = Kernel.__qualname__ = type_
    return Kernel


def run_with(converted: Converted, inputs: Mapping[str, Array], *kernels: type[openvino.Op]) -> list[Array]:
    """What the runtime computes of an IR with these operations. Raises AssertionError if it lacks one of them."""
    assert {each.__name__ for each in kernels} <= set(converted.types)
    core = openvino.Core()
    core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    for each in kernels:
        core.add_extension(each)
    return run(core.read_model(converted.path), inputs)
