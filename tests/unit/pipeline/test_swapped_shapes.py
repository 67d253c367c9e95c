"""Shapes of `--input` in the layout after `--layout` are mistakes that messages name."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import moir
from moir.conversion import notes_of
from moir.errors import ConversionError, ConversionWarning


def model(kind: str = "Conv") -> onnx.ModelProto:
    """An image network on [N, 3, 8, 8]: a convolution, or an operation that takes any shape."""
    weights = [numpy_helper.from_array(np.ones((4, 3, 1, 1), np.float32), "w")] if kind == "Conv" else []
    graph = helper.make_graph(
        [helper.make_node(kind, ["image", *(each.name for each in weights)], ["y"], name="first")],
        "g",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["n", 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


HINT = r"shapes of --input are those of the model, before --layout; did you mean image\[2,3,8,8\]\?"


@pytest.mark.parametrize(
    "options",
    [
        {"layout": "image(nchw->nhwc)"},
        {"layout": "nchw->nhwc"},
        {"source_layout": "nchw", "target_layout": "nhwc"},
        {"layout": {"image": ("nchw", "nhwc")}},
    ],
)
def test_an_error_names_the_shape_in_the_layout_of_the_model(options: dict[str, object]) -> None:
    with pytest.raises(ConversionError, match=HINT):
        moir.convert_model(model(), input="image[2,8,8,3]", **options)


def test_a_conversion_that_succeeds_has_a_note() -> None:
    with pytest.warns(ConversionWarning, match=HINT):
        moir.convert_model(model("Relu"), input="image[2,8,8,3]", layout="nchw->nhwc")


@pytest.mark.parametrize("shape", ["image[2,3,8,8]", "image[?,3,8,8]"])
def test_shapes_of_the_model_are_no_mistake(shape: str) -> None:
    module = moir.convert_model(model(), input=shape, layout="nchw->nhwc")
    assert not any("before --layout" in note for note in notes_of(module))


def test_a_shape_that_fits_in_no_layout_has_the_usual_message() -> None:
    with pytest.raises(ConversionError, match="filters") as error:
        moir.convert_model(model(), input="image[2,5,8,8]", layout="nchw->nhwc")
    assert "before --layout" not in str(error.value)
