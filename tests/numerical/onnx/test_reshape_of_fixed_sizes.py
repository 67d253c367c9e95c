"""Models whose inputs have fixed sizes, and that compute with these sizes, are reshaped in the runtime, too.

What such a model computes from a shape is a number when it is converted. It has to be computed in the IR nevertheless:
amounts of padding, the sizes of a resized image, numbers of repetitions, places at which parts begin.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import openvino
import pytest

import moir
from tests.numerical.runtime import core

FIXED, OTHER = (2, 3, 10, 12), (3, 3, 19, 9)

PADDED = """
    s = Shape (x)
    height = Gather (s, two)
    width = Gather (s, three)
    rows_over = Mod (height, seven)
    columns_over = Mod (width, seven)
    rows_missing = Sub (seven, rows_over)
    columns_missing = Sub (seven, columns_over)
    below = Mod (rows_missing, seven)
    right = Mod (columns_missing, seven)
    below_list = Unsqueeze (below, zero)
    right_list = Unsqueeze (right, zero)
    pads = Concat <axis = 0> (zeros, below_list, right_list)
    y = Pad (x, pads)
"""

# As torch writes pads: the last axis first, begins and ends in pairs, which are reversed and transposed.
REVERSED = """
    s = Shape (x)
    height = Gather (s, two)
    over = Mod (height, seven)
    missing = Sub (seven, over)
    below = Mod (missing, seven)
    below_list = Unsqueeze (below, zero)
    pairs = Concat <axis = 0> (zero, one, zero, below_list, zero, zero, zero, zero)
    table = Reshape (pairs, square)
    reversed = Slice (table, minus_one, least, zero, minus_one)
    sides = Transpose <perm = [1, 0]> (reversed)
    pads = Reshape (sides, minus_one)
    y = Pad (x, pads)
"""

RESIZED = """
    small = MaxPool <kernel_shape = [2, 2], strides = [2, 2]> (x)
    s = Shape (x)
    ends = Slice (s, two_list, four, zero)
    t = Shape (small)
    starts = Slice (t, zero, two_list, zero)
    sizes = Concat <axis = 0> (starts, ends)
    y = Resize <mode = "nearest"> (small, , , sizes)
"""

TILED = """
    s = Shape (x)
    height = Gather (s, two)
    blocks = Div (height, seven)
    rows = Unsqueeze (blocks, zero)
    repeats = Concat <axis = 0> (one, rows, rows, one)
    y = Tile (x, repeats)
"""

FILLED = """
    s = Shape (x)
    filled = ConstantOfShape <value = float[1] {1.5}> (s)
    y = Add (x, filled)
"""

ROLLED = """
    last = Slice (x, minus_three, most, two_list)
    first = Slice (x, zero, minus_three, two_list)
    y = Concat <axis = 2> (last, first)
"""

HALVES = """
    above = Slice (x, zero, five, two_list)
    below = Slice (x, five, most, two_list)
    y = Concat <axis = 2> (below, above)
"""

LAST = """
    part = Slice (x, minus_one, most, two_list)
    y = Squeeze (part, two_list)
"""

MODELS = {name.lower(): globals()[name] for name in ("PADDED", "REVERSED", "RESIZED", "TILED", "FILLED", "ROLLED", "HALVES", "LAST")}

NUMBERS = """
    two = Constant <value_int = 2> ()
    three = Constant <value_int = 3> ()
    seven = Constant <value_int = 7> ()
    zero = Constant <value_ints = [0]> ()
    one = Constant <value_ints = [1]> ()
    two_list = Constant <value_ints = [2]> ()
    four = Constant <value_ints = [4]> ()
    five = Constant <value_ints = [5]> ()
    minus_one = Constant <value_ints = [-1]> ()
    minus_three = Constant <value_ints = [-3]> ()
    least = Constant <value_ints = [-9223372036854775807]> ()
    most = Constant <value_ints = [9223372036854775807]> ()
    zeros = Constant <value_ints = [0, 0, 0, 0, 0, 0]> ()
    square = Constant <value_ints = [-1, 2]> ()
"""


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_fixed_sizes_computes_the_same_for_others(name: str, tmp_path: Path) -> None:
    head = '<ir_version: 8, opset_import: ["" : 17]>'
    rank = "[a, b, c]" if name == "last" else "[a, b, c, d]"
    text = f"{head} agraph (float[{', '.join(map(str, FIXED))}] x) => (float{rank} y) {{ {NUMBERS} {MODELS[name]} }}"
    model = onnx.parser.parse_model(text)
    onnx.save(model, tmp_path / "fixed.onnx")
    moir.save_model(moir.convert_model(tmp_path / "fixed.onnx"), tmp_path / "fixed.xml")
    for size, entry in zip(OTHER, model.graph.input[0].type.tensor_type.shape.dim, strict=True):
        entry.dim_value = size
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    x = np.random.default_rng(0).standard_normal(OTHER).astype(np.float32)
    reshaped = core().read_model(tmp_path / "fixed.xml")
    reshaped.reshape(openvino.PartialShape(list(OTHER)))
    actual = core().compile_model(reshaped, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})(x)[0]
    np.testing.assert_array_equal(actual, session.run(None, {"x": x})[0])
