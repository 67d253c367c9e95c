"""Result types of the families convolution, pooling, normalization, quantization, image, detection and recurrent, against the runtime.

Each case is one instance of an operation with static operands. It is asked as it is and in variations: the rank of one operand or of all
unknown, one dimension or all dimensions of one operand or of all unknown, one dimension off by one. Moir and OpenVINO Runtime must infer
the same types or both refuse; where moir refuses more, the reason is in `STRICTER`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from xdsl.utils.exceptions import VerifyException

from moir.analysis.known_values import KnownValues
from moir.dialects.shapes import shape_of
from moir.errors import InferenceError
from tests.unit.dialects.opset.runtime_reference import (
    evaluate_with_moir,
    evaluate_with_runtime,
    infer_with_moir,
    infer_with_runtime,
    moir_operation,
)

Operands = tuple[Any, ...]
REFUSED = "refused"


@dataclass(frozen=True)
class Case:
    """One instance of an operation."""

    operation: str
    operands: Operands
    properties: dict[str, Any] = field(default_factory=dict)
    results: int = 1

    def __str__(self) -> str:
        return f"{self.operation}{list(map(operand_text, self.operands))}{self.properties}"


def operand_text(operand: Any) -> str:
    """An operand as part of a test's name."""
    return f"={operand.tolist()}" if isinstance(operand, np.ndarray) else "-" if operand is None else str(operand)


def integers(*values: int) -> np.ndarray:
    """A constant list of integers."""
    return np.array(values, dtype=np.int64)


def reals(*values: float) -> np.ndarray:
    """A constant list of f32."""
    return np.array(values, dtype=np.float32)


def typed(*shapes: Any, element: str = "f32") -> Operands:
    """Values of one element type; what is no shape stays as it is."""
    return tuple((element, shape) if isinstance(shape, tuple) and not (shape and isinstance(shape[0], str)) else shape for shape in shapes)


def variations(operands: Operands) -> Iterator[Operands]:
    """The operands with less known of their types, or with a dimension changed."""
    yield operands
    free = [index for index, operand in enumerate(operands) if isinstance(operand, tuple)]
    yield tuple((item[0], None) if isinstance(item, tuple) else item for item in operands)
    yield tuple((item[0], (-1,) * len(item[1])) if isinstance(item, tuple) else item for item in operands)
    for index in free:
        element, shape = operands[index]
        changed = [None, (-1,) * len(shape)]
        changed += [(*shape[:axis], size, *shape[axis + 1 :]) for axis, old in enumerate(shape) for size in (-1, old + 1)]
        changed += [(*shape, 1), shape[1:]]
        for new in changed:
            yield (*operands[:index], (element, new), *operands[index + 1 :])
        yield tuple((item[0], None) if isinstance(item, tuple) and other != index else item for other, item in enumerate(operands))


WINDOW = {"strides": [2, 2], "dilations": [1, 1], "pads_begin": [0, 1], "pads_end": [1, 1], "auto_pad": "explicit"}
LINE = {"strides": [1], "dilations": [2], "pads_begin": [2], "pads_end": [1]}
SPACE = {"strides": [1, 2, 1], "dilations": [1, 1, 3], "pads_begin": [0, 0, 1], "pads_end": [0, 1, 0]}
SAME = {**WINDOW, "auto_pad": "same_upper"}
VALID = {**WINDOW, "auto_pad": "valid"}
SPREAD = {**WINDOW, "output_padding": [1, 0]}
WANTED = integers(17, 20)

CONVOLUTION = [
    *(Case("opset1.Convolution", typed((1, 3, 9, 8), (4, 3, 3, 2)), window) for window in (WINDOW, SAME, VALID)),
    Case("opset1.Convolution", typed((2, 3, 9), (4, 3, 3)), LINE),
    Case("opset1.Convolution", typed((2, 3, 9, 8, 7), (4, 3, 3, 2, 2)), SPACE),
    Case("opset1.Convolution", typed((2, 3, 9, 8, 7), (4, 3, 3, 2, 2), element="dynamic"), SPACE),
    Case("opset1.Convolution", typed((1, 3, 4, 4), (4, 3, 7, 3)), WINDOW),
    Case("opset1.Convolution", typed((1, 3, 0, 4), (4, 3, 2, 3)), SAME),
    *(Case("opset1.GroupConvolution", typed((1, 4, 9, 8), (2, 3, 2, 3, 2)), window) for window in (WINDOW, SAME, VALID)),
    Case("opset1.GroupConvolution", typed((2, 4, 9), (4, 1, 1, 3)), LINE),
    *(Case("opset1.ConvolutionBackpropData", typed((1, 3, 9, 8), (3, 4, 3, 2)), {**SPREAD, **window}) for window in (WINDOW, SAME, VALID)),
    Case("opset1.ConvolutionBackpropData", typed((2, 3, 9, 8, 7), (3, 4, 3, 2, 2)), SPACE),
    Case("opset1.ConvolutionBackpropData", typed((1, 3, 9, 8), (3, 4, 3, 2), WANTED), SPREAD),
    Case("opset1.ConvolutionBackpropData", typed((1, 3, 9, 8), (3, 4, 3, 2), WANTED), {**SAME, "pads_begin": [], "pads_end": []}),
    Case("opset1.ConvolutionBackpropData", typed((1, 3, 9, 8), (3, 4, 3, 2)), {**WINDOW, "pads_begin": [-1, 0]}),
    *(
        Case("opset1.GroupConvolutionBackpropData", typed((1, 4, 9, 8), (2, 2, 3, 3, 2)), {**SPREAD, **window})
        for window in (WINDOW, SAME, VALID)
    ),
    Case("opset1.GroupConvolutionBackpropData", typed((1, 4, 9, 8), (2, 2, 3, 3, 2), WANTED), SPREAD),
    Case("opset8.DeformableConvolution", typed((1, 3, 8, 8), (1, 18, 4, 5), (4, 3, 3, 3)), {**WINDOW, "pads_end": [1, 2]}),
    Case(
        "opset8.DeformableConvolution",
        typed((2, 4, 8, 8), (2, 36, 4, 4), (4, 2, 3, 3), (2, 18, 4, 4)),
        {**SAME, "group": 2, "deformable_group": 2},
    ),
]

KERNEL = {**WINDOW, "kernel": [3, 2]}
POOL = {name: value for name, value in KERNEL.items() if name != "dilations"}
AVERAGE = {**POOL, "exclude-pad": True}
TORCH = {"strides": [3, 3], "pads_begin": [0, 0], "pads_end": [2, 2], "kernel": [3, 3], "rounding_type": "ceil_torch"}
VARIANTS: list[dict[str, Any]] = [{}, {"rounding_type": "ceil"}, {"auto_pad": "same_lower"}, {"auto_pad": "valid", "rounding_type": "ceil"}]

POOLING = [
    *(Case("opset1.MaxPool", typed((1, 3, 9, 8)), {**POOL, **variant}) for variant in VARIANTS),
    *(Case(f"opset{v}.MaxPool", typed((1, 3, 9, 8)), {**KERNEL, **variant}, 2) for v in (8, 14) for variant in VARIANTS),
    *(Case("opset14.AvgPool", typed((1, 3, 9, 8)), {**AVERAGE, **variant}) for variant in VARIANTS),
    *(Case("opset16.AvgPool", typed((1, 3, 9, 8)), {**AVERAGE, **variant, "dilations": [2, 1]}) for variant in VARIANTS),
    *(Case(f"opset{v}.MaxPool", typed((1, 3, 6, 6)), TORCH, 1 if v == 1 else 2) for v in (1, 8, 14)),
    *(Case(f"opset{v}.AvgPool", typed((1, 3, 6, 7)), {**TORCH, "exclude-pad": False}) for v in (14, 16)),
    Case("opset14.MaxPool", typed((1, 3, 6, 6)), {**TORCH, "axis": -2, "index_element_type": "i32"}, 2),
    Case("opset14.MaxPool", typed((1, 3, 6, 6)), {**TORCH, "axis": 4}, 2),
    Case("opset14.AvgPool", typed((1, 3, 6, 6)), {**AVERAGE, "pads_begin": [3, 0]}),
    Case("opset8.AdaptiveAvgPool", typed((1, 3, 9, 8), integers(4, 5))),
    Case("opset8.AdaptiveAvgPool", typed((1, 3, 9, 8), ("i64", (2,)))),
    Case("opset8.AdaptiveMaxPool", typed((1, 3, 9, 8), integers(4, 5)), {"index_element_type": "i32"}, 2),
    Case("opset8.AdaptiveMaxPool", typed((1, 3, 9), integers(4)), {}, 2),
]

AXES = (integers(1), integers(-1, 2), integers(), integers(4), np.array(1), ("i64", (2,)))
LRN = {"alpha": 1.0, "beta": 0.5, "bias": 1.0, "size": 3}
MVN = {"eps": 1e-5, "normalize_variance": True, "eps_mode": "INSIDE_SQRT"}
RANGE = {"levels": 255}

NORMALIZATION = [
    Case("opset5.BatchNormInference", typed((2, 3, 4, 5), (3,), (3,), (3,), (3,)), {"epsilon": 1e-5}),
    Case("opset5.BatchNormInference", typed((2, 3), (3,), (3,), (3,), (3,), element="dynamic"), {"epsilon": 1e-5}),
    Case("opset12.GroupNormalization", typed((2, 4, 5), (4,), (4,)), {"num_groups": 2, "epsilon": 1e-5}),
    *(Case("opset1.NormalizeL2", typed((2, 3, 4, 5), axes), {"eps": 1e-5, "eps_mode": "add"}) for axes in AXES),
    *(Case("opset1.LRN", typed((2, 3, 4, 5), axes), LRN) for axes in AXES),
    *(Case("opset6.MVN", typed((2, 3, 4, 5), axes), MVN) for axes in AXES if operand_text(axes) != "=[4]"),
    Case("opset1.FakeQuantize", typed((2, 3, 4), (1, 3, 1), (3, 1), (), (1,)), RANGE),
    Case("opset1.FakeQuantize", typed((4,), (1, 1, 1), (1, 1), (), (4,)), RANGE),
    Case("opset1.FakeQuantize", typed((2, 3), (2, 3), (2, 3), (2, 3), (2, 3)), {**RANGE, "auto_broadcast": "none"}),
    Case("opset1.FakeQuantize", (("dynamic", (2, 3)), *typed((), (), (), ())), RANGE),
    Case("opset13.FakeConvert", typed((2, 3), (3,), (3,))),
    Case("opset13.FakeConvert", typed((2, 3), (1,)), {"destination_type": "f8e5m2"}),
    Case("opset13.FakeConvert", typed((2, 3), (1,)), {"destination_type": "f16"}),
]

SIZES = {"mode": "nearest", "shape_calculation_mode": "sizes"}
SCALES = {"mode": "linear_onnx", "shape_calculation_mode": "scales"}
PADDED = {"pads_begin": [0, 1, 2], "pads_end": [0, 0, 0, 3]}
IMAGE_AXES = integers(2, 3)
PATCHES = {"sizes": [3, 2], "strides": [2, 1], "rates": [1, 2]}

IMAGE = [
    *(
        Case("opset4.Interpolate", typed((1, 3, 8, 9), sizes, scales, axes), {**mode, **pads})
        for mode in (SIZES, SCALES)
        for pads in ({}, PADDED)
        for sizes, scales in ((integers(16, 5), reals(0.3, 1.7)), (("i64", (2,)), ("f32", (2,))))
        for axes in (IMAGE_AXES, ("i64", (2,)))
    ),
    Case("opset4.Interpolate", typed((1, 3, 8, 9), integers(1, 3, 16, 5), reals(1, 1, 2, 0.5)), SIZES),
    Case("opset4.Interpolate", typed((1, 3, 8, 9), integers(1, 3, 16, 5), reals(1, 1, 2, 0.5)), SCALES),
    *(Case("opset11.Interpolate", typed((1, 3, 8, 9), sizes, IMAGE_AXES), SIZES) for sizes in (integers(16, 5), ("i64", (2,)))),
    *(Case("opset11.Interpolate", typed((1, 3, 8, 9), scales, IMAGE_AXES), SCALES) for scales in (reals(0.7, 0.33), ("f32", (2,)))),
    Case("opset11.Interpolate", typed((1, 3, 8, 9), integers(16, 5), integers(2, -1)), SIZES),
    Case("opset11.Interpolate", typed((1, 3, 8, 9), integers(1, 3, 16, 5)), SIZES),
    Case("opset11.Interpolate", typed((1, 3, 8, 9), integers(16, 5)), SIZES),
    *(Case("opset11.Interpolate", typed((1, 1, 100, 1000), reals(a, b), IMAGE_AXES), SCALES) for a, b in ((0.7, 0.1), (0.29, 0.003))),
    Case("opset9.GridSample", typed((2, 3, 8, 8), (2, 4, 5, 2))),
    *(Case("opset3.ExtractImagePatches", typed((1, 3, 9, 8)), {**PATCHES, "auto_pad": pad}) for pad in ("valid", "same_upper", "explicit")),
    Case("opset3.ExtractImagePatches", typed((1, 3, 2, 8)), {**PATCHES, "auto_pad": "valid"}),
    *(
        Case("opset15.Col2Im", typed((2, 12, 9), size, kernel))
        for size in (integers(4, 4), ("i64", (2,)))
        for kernel in (integers(2, 2), ("i64", (2,)))
    ),
    Case("opset15.Col2Im", typed((12, 4), integers(4, 4), integers(2, 2)), {"strides": [2, 2]}),
    Case("opset15.Col2Im", typed((12, 8), integers(4, 4), integers(2, 2)), {"strides": [2, 2]}),
]

DETECT = {"keep_top_k": [-1], "nms_threshold": 0.4, "normalized": True}
CLASSWISE = {"share_location": False, "normalized": False}
DETECTIONS = typed((2, 40), (2, 20), (1, 2, 40))
BOXES = typed((2, 10, 4), (2, 3, 10))
PRIOR = {"min_size": [30.0], "max_size": [60.0], "aspect_ratio": [2.0], "flip": True, "offset": 0.5, "variance": [0.1, 0.1, 0.2, 0.2]}
PRIOR_VARIANTS: list[dict[str, Any]] = [
    {"flip": False},
    {"max_size": []},
    {"aspect_ratio": []},
    {"aspect_ratio": [1.0, 2.0, 2.0, 0.5, 3.0]},
    {"min_size": [30.0, 40.0], "max_size": [60.0, 70.0]},
    {"min_size": [30.0, 40.0], "max_size": [60.0, 70.0], "scale_all_sizes": False},
    {"scale_all_sizes": False},
    {"fixed_size": [10.0, 20.0], "density": [2.0, 3.0]},
    {"fixed_size": [10.0, 20.0], "density": [2.7, 3.0], "fixed_ratio": [1.0, 2.0]},
    {"fixed_size": [10.0], "density": [2.0], "scale_all_sizes": False},
    {"fixed_size": [10.0, 20.0], "min_size": [], "max_size": []},
    {"fixed_size": [10.0], "density": [2.0], "fixed_ratio": [1.0, 2.0], "aspect_ratio": [3.0, 4.0]},
]
REGIONS = {"pooled_h": 2, "pooled_w": 3, "sampling_ratio": 2, "spatial_scale": 1.0, "mode": "avg"}

DETECTION = [
    *(Case("opset8.DetectionOutput", DETECTIONS, {**DETECT, **kept}) for kept in ({}, {"top_k": 5}, {"keep_top_k": [7]})),
    Case("opset8.DetectionOutput", typed((2, 40), (2, 20), (2, 1, 40)), {**DETECT, "variance_encoded_in_target": True}),
    *(
        Case("opset8.DetectionOutput", typed((2, 80), (2, 20), (1, 2, 50), *first_stage), {**DETECT, **CLASSWISE})
        for first_stage in ((), ((2, 20), (2, 80)))
    ),
    Case("opset8.MatrixNms", BOXES, {"keep_top_k": 3}, 3),
    Case("opset8.MatrixNms", typed((1, 10, 4), (1, 0, 10)), {"output_type": "i32"}, 3),
    Case("opset8.MulticlassNms", BOXES, {"nms_top_k": 3, "output_type": "i32"}, 3),
    Case("opset9.NonMaxSuppression", BOXES, {}, 3),
    *(Case("opset9.NonMaxSuppression", (*BOXES, np.array(limit)), {"output_type": "i32"}, 3) for limit in (3, 30, 0, -1)),
    Case("opset9.NonMaxSuppression", (*BOXES, integers(0), *typed((), (1,), ())), {}, 3),
    Case("opset9.NonMaxSuppression", (*BOXES, integers(3), *typed((), (2,), ())), {}, 3),
    Case("opset9.NonMaxSuppression", (*BOXES, ("i64", ())), {}, 3),
    *(Case("opset8.PriorBox", (integers(2, 3), integers(32, 32)), {**PRIOR, **variant}) for variant in PRIOR_VARIANTS),
    Case("opset8.PriorBox", (integers(0, 3), ("i64", (2,))), PRIOR),
    Case("opset8.PriorBox", (("i64", (2,)), integers(32, 32)), PRIOR),
    Case("opset1.PriorBoxClustered", (integers(2, 3), integers(32, 32)), {"width": [1.0, 2.0], "height": [3.0, 4.0], "offset": 0.5}),
    Case("opset1.PriorBoxClustered", (integers(2, 3), integers(32, 32)), {"width": [1.0, 2.0], "height": [3.0], "offset": 0.5}),
    Case("opset9.ROIAlign", (*typed((1, 8, 7, 6), (2, 4)), ("i32", (2,))), REGIONS),
]


def cell(gates: int, states: int, bias_gates: int) -> Operands:
    """Operands of a cell of hidden size 4."""
    return typed((2, 3), *((2, 4),) * states, (gates * 4, 3), (gates * 4, 4), (bias_gates * 4,))


def sequence(gates: int, states: int, bias_gates: int, directions: int) -> Operands:
    """Operands of a sequence of hidden size 4."""
    weights = typed((directions, gates * 4, 3), (directions, gates * 4, 4), (directions, bias_gates * 4))
    return (*typed((2, 5, 3), *((2, directions, 4),) * states), ("i32", (2,)), *weights)


SIZE = {"hidden_size": 4}
RESET = {**SIZE, "linear_before_reset": True}
DIRECTIONS = (("forward", 1), ("bidirectional", 2))

RECURRENT = [
    Case("opset1.RNNCell", cell(1, 1, 1), SIZE),
    Case("opset3.GRUCell", cell(3, 1, 3), SIZE),
    Case("opset3.GRUCell", cell(3, 1, 4), RESET),
    Case("opset4.LSTMCell", cell(4, 2, 4), SIZE, 2),
    *(Case("opset5.RNNSequence", sequence(1, 1, 1, n), {**SIZE, "direction": name}, 2) for name, n in DIRECTIONS),
    *(Case("opset5.GRUSequence", sequence(3, 1, 3, n), {**SIZE, "direction": name}, 2) for name, n in DIRECTIONS),
    *(Case("opset5.GRUSequence", sequence(3, 1, 4, n), {**RESET, "direction": name}, 2) for name, n in DIRECTIONS),
    *(Case("opset5.LSTMSequence", sequence(4, 2, 4, n), {**SIZE, "direction": name}, 3) for name, n in DIRECTIONS),
]

CASES = [*CONVOLUTION, *POOLING, *NORMALIZATION, *IMAGE, *DETECTION, *RECURRENT]


INPUT_SIZE = "the input size of data and W must agree"
STRICTER = {
    "MaxPool": "axis and rounding type are verified whether or not the rank of the data is known",
    "AvgPool": "pads are verified whether or not the sizes of the data are known",
    "FakeQuantize": "limits that broadcast with the data to a larger shape, or only because of its dimensions of 1, are an error",
    "Interpolate": "the number of sizes, scales and pads must fit even where their values are not known",
    "PriorBox": "layer_shape must have two entries even where they are not known",
    "PriorBoxClustered": "as PriorBox",
    **dict.fromkeys(("RNNCell", "GRUCell", "LSTMCell", "RNNSequence", "GRUSequence", "LSTMSequence"), INPUT_SIZE),
}
"""What moir refuses and the runtime accepts, by kind."""

LAXER = {
    "DetectionOutput": "the runtime finds 0 location classes where their number is not known",
    "Col2Im": "the runtime wants the shapes of output_size and kernel_size to be static",
    "MulticlassNms": "the runtime fails internally if only the rank of the scores is unknown",
}
"""What the runtime refuses and moir accepts, for types may still become more precise."""


def outcome(infer: Any, case: Case, operands: Operands) -> Any:
    """The inferred types, or REFUSED."""
    try:
        return infer(case.operation, list(operands), case.properties, case.results)
    except (InferenceError, VerifyException, RuntimeError):
        return REFUSED


@pytest.mark.parametrize("case", CASES, ids=str)
def test_types_are_those_of_the_runtime(case: Case) -> None:
    kind = case.operation.partition(".")[2]
    wrong = []
    for index, operands in enumerate(variations(case.operands)):
        ours, theirs = outcome(infer_with_moir, case, operands), outcome(infer_with_runtime, case, operands)
        excused = index > 0 and ((ours == REFUSED and kind in STRICTER) or (theirs == REFUSED and kind in LAXER))
        if ours != theirs and not excused:
            wrong.append(f"{list(map(operand_text, operands))}: {ours}, the runtime says {theirs}")
    assert not wrong, "\n".join(wrong)


def random(*shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    """Reproducible f32 values."""
    return np.random.default_rng(sum(shape)).uniform(low, high, shape).astype(np.float32)


CHANNELS = tuple(random(4, low=0.5) + index for index in range(4))
LIMITS = (
    random(1, 4, 1, low=-1, high=-0.5),
    random(1, 4, 1, low=0.5, high=1),
    random(1, 4, 1, low=-3, high=-2),
    random(1, 4, 1, low=2, high=3),
)

# The CPU plugin takes the whole part of the bias of LRN, and computes wrong values (2026.4.1) if the limits of FakeQuantize of one side
# have different shapes, so neither can be compared.
VALUES: list[tuple[str, tuple[np.ndarray, ...], dict[str, Any]]] = [
    ("opset5.BatchNormInference", (random(2, 4, 5), *CHANNELS), {"epsilon": 0.01}),
    ("opset12.GroupNormalization", (random(2, 4, 5, 3), *CHANNELS[:2]), {"num_groups": 2, "epsilon": 0.01}),
    ("opset12.GroupNormalization", (random(2, 4), *CHANNELS[:2]), {"num_groups": 2, "epsilon": 0.01}),
    *(
        ("opset1.NormalizeL2", (random(2, 3, 4, 5) * 0.1, axes), {"eps": 0.3, "eps_mode": mode})
        for mode in ("add", "max")
        for axes in (integers(1), integers(1, 2, 3))
    ),
    *(
        ("opset6.MVN", (random(2, 3, 4, 5), axes), {"eps": 0.1, "eps_mode": mode, "normalize_variance": variance})
        for mode in ("INSIDE_SQRT", "OUTSIDE_SQRT")
        for variance in (True, False)
        for axes in (integers(2, 3), integers(1, -2, -1))
    ),
    *(
        ("opset1.LRN", (random(2, 7, 4, 5), axes), {"alpha": 0.8, "beta": 0.75, "bias": 2.0, "size": size})
        for size in (1, 3, 5)
        for axes in (integers(1), integers(2, 3))
    ),
    *(("opset1.FakeQuantize", (random(3, 4, 50), *LIMITS), {"levels": levels}) for levels in (2, 16, 256)),
    ("opset1.FakeQuantize", (random(3, 4, 50), reals(-1), reals(1), reals(2), reals(-2)), {"levels": 16}),
]


@pytest.mark.parametrize(("name", "operands", "properties"), VALUES, ids=lambda item: item if isinstance(item, str) else None)
def test_values_are_those_of_the_runtime(name: str, operands: tuple[np.ndarray, ...], properties: dict[str, Any]) -> None:
    (ours,), (theirs,) = (evaluate(name, operands, properties) for evaluate in (evaluate_with_moir, evaluate_with_runtime))
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


IMPOSSIBLE: list[tuple[str, Operands, dict[str, Any], str]] = [
    ("opset1.Convolution", typed((1, 3, 9, 8), (4, 3, 3, 2)), {**WINDOW, "strides": [0, 1]}, "stride 0 is not positive"),
    ("opset1.Convolution", typed((1, 3, 9, 8), (4, 3, 3, 2)), {**WINDOW, "pads_end": [1]}, "1 entries for 2 spatial axes"),
    ("opset1.ConvolutionBackpropData", typed((1, 3, 9, 8), (3, 4, 3, 2)), {**WINDOW, "output_padding": [1]}, "output_padding has 1"),
    ("opset8.DeformableConvolution", typed((1, 3, 8, 8), (1, 18, 4, 5), (4, 3, 3, 3)), {**WINDOW, "group": 0}, "channels"),
    ("opset12.GroupNormalization", typed((2, 4), (4,), (4,)), {"num_groups": 0, "epsilon": 0.0}, "no multiple of 0"),
    ("opset3.ExtractImagePatches", typed((1, 3, 9, 8)), {**PATCHES, "auto_pad": "valid", "rates": [1]}, "two entries"),
    ("opset15.Col2Im", typed((12, 9), integers(4, 4), integers(2, 2)), {"strides": [1]}, "two entries"),
    ("opset11.Interpolate", typed((1, 3), reals(1e30, 1e38)), SCALES, "cannot be scaled"),
    ("opset11.Interpolate", typed((1, 3), reals(1, np.nan)), SCALES, "cannot be scaled"),
    ("opset11.Interpolate", typed((1, 3), reals(1, 2)), SIZES, "sizes of type"),
    ("opset8.PriorBox", (integers(2, 3), integers(32, 32)), {**PRIOR, "density": [float("inf")]}, "positive"),
    ("opset8.PriorBox", (integers(2, 3), integers(32, 32)), {**PRIOR, "aspect_ratio": [0.0]}, "positive"),
]


@pytest.mark.parametrize(("name", "operands", "properties", "reason"), IMPOSSIBLE, ids=lambda item: item if isinstance(item, str) else None)
def test_impossible_properties_are_inference_errors(name: str, operands: Operands, properties: dict[str, Any], reason: str) -> None:
    op = moir_operation(name, list(operands), properties)
    with pytest.raises(InferenceError, match=reason):
        op.infer(KnownValues())


SHAPE_READERS: list[tuple[str, Operands, int, dict[str, Any], tuple[int, ...]]] = [
    ("opset11.Interpolate", typed((1, 3, 8, 9), None, IMAGE_AXES), 1, SIZES, (1, 3, -1, 7)),
    ("opset1.ConvolutionBackpropData", typed((1, 3, 9, 8), (3, 4, 3, 2), None), 2, SPREAD, (1, 4, -1, 7)),
    ("opset8.AdaptiveAvgPool", typed((1, 3, 9, 8), None), 1, {}, (1, 3, -1, 7)),
    ("opset15.Col2Im", typed((12, 18), None, integers(2, 2)), 1, {}, (3, -1, 7)),
]


@pytest.mark.parametrize(("name", "operands", "index", "properties", "expected"), SHAPE_READERS, ids=lambda item: str(item)[:40])
def test_known_parts_of_a_computed_shape_are_used(
    name: str, operands: Operands, index: int, properties: dict[str, Any], expected: tuple[int, ...]
) -> None:
    op, shape = moir_operation(name, list(operands), properties), moir_operation("opset3.ShapeOf", [("f32", (-1, 7))], {})
    shape = type(shape).create(operands=shape.operands, properties=shape.properties, result_types=shape.infer(KnownValues()))
    op.operands[index] = shape.results[0]
    assert [shape_of(type_) for type_ in op.infer(KnownValues())] == [expected]
