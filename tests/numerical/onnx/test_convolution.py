"""Conv, ConvTranspose and DeformConv against ONNX Runtime."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from moir.errors import ConversionError
from tests.numerical.onnx.conversion import build, check, convert, node
from tests.numerical.onnx.node_case import COMPLETE, DYNAMIC, EVALUATED, STATIC, WITH_RANK, NodeCase, normal_numbers

RANDOM = np.random.default_rng(3)


def values(*shape):
    """Random f32 values."""
    return RANDOM.standard_normal(shape).astype(np.float32)


CONVOLUTIONS = {
    "1d": ((1, 3, 9), (4, 3, 3), {}),
    "2d": ((2, 3, 9, 8), (4, 3, 3, 2), {"kernel_shape": [3, 2]}),
    "3d": ((1, 2, 5, 6, 4), (3, 2, 2, 3, 2), {"pads": [0, 1, 2, 1, 0, 1]}),
    "strides and dilations": ((1, 3, 12, 11), (4, 3, 3, 2), {"strides": [2, 3], "dilations": [2, 1], "pads": [1, 0, 2, 3]}),
    "same upper": ((1, 3, 10, 7), (4, 3, 3, 4), {"auto_pad": "SAME_UPPER", "strides": [2, 1]}),
    "same lower": ((1, 3, 10, 7), (4, 3, 3, 4), {"auto_pad": "SAME_LOWER", "strides": [2, 1]}),
    "valid": ((1, 3, 10, 7), (4, 3, 3, 4), {"auto_pad": "VALID"}),
    "groups": ((1, 6, 8, 8), (4, 3, 3, 3), {"group": 2}),
    "depthwise": ((1, 4, 8, 8), (8, 1, 3, 3), {"group": 4, "pads": [1, 1, 1, 1]}),
    "groups 1d": ((2, 4, 8), (4, 2, 3), {"group": 2}),
    "groups 3d": ((1, 4, 5, 5, 5), (2, 2, 2, 2, 2), {"group": 2}),
}


@pytest.mark.parametrize("opset", [1, 11, 22])
@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_conv(name, opset):
    data, filters, attributes = CONVOLUTIONS[name]
    given = node("Conv", ["x", "w", "b"], ["y"], **attributes)
    constants = {"w": values(*filters), "b": values(filters[0])}
    # Windows of padding alone are padded before, for the plugin: a Pad and a PRelu.
    operations = 4 if name == "strides and dilations" else 2
    check([given], {"x": values(*data)}, constants=constants, opset=max(opset, 7), forms=["static"], operations=operations)
    given, constants = node("Conv", ["x", "w"], ["y"], **attributes), {"w": values(*filters)}
    check([given], {"x": values(*data)}, constants=constants, operations=operations - 1)


@pytest.mark.parametrize("name", ["2d", "groups", "depthwise", "groups 1d"])
def test_conv_with_computed_filters_and_bias(name):
    data, filters, attributes = CONVOLUTIONS[name]
    given = node("Conv", ["x", "w", "b"], ["y"], **({"kernel_shape": list(filters[2:])} | attributes))
    # The runtime needs the shape of the filters.
    check([given], {"x": values(*data), "w": values(*filters), "b": values(filters[0])}, fixed=["w"])


def test_conv_in_half_precision():
    constants = {"w": values(4, 3, 3, 3).astype(np.float16), "b": values(4).astype(np.float16)}
    check([node("Conv", ["x", "w", "b"], ["y"])], {"x": values(1, 3, 6, 6).astype(np.float16)}, constants=constants, rtol=2e-2, atol=2e-2)


TRANSPOSED = {
    "1d": ((1, 3, 5), (3, 4, 3), {}),
    "2d": ((1, 3, 5, 4), (3, 4, 3, 2), {"strides": [2, 3], "pads": [1, 0, 2, 1]}),
    "3d": ((1, 2, 3, 4, 3), (2, 3, 2, 3, 2), {"strides": [2, 1, 2]}),
    "output padding": ((1, 3, 5, 4), (3, 4, 3, 3), {"strides": [3, 2], "output_padding": [2, 1]}),
    "dilations": ((1, 3, 5, 4), (3, 4, 3, 2), {"dilations": [2, 2], "strides": [2, 1]}),
    "groups": ((1, 4, 5, 4), (4, 3, 3, 3), {"group": 2, "strides": [2, 2]}),
    "same upper": ((1, 3, 5, 4), (3, 4, 4, 3), {"auto_pad": "SAME_UPPER", "strides": [1, 2]}),
    "same lower": ((1, 3, 5, 4), (3, 4, 4, 3), {"auto_pad": "SAME_LOWER", "strides": [1, 2]}),
    "valid": ((1, 3, 5, 4), (3, 4, 4, 3), {"auto_pad": "VALID", "strides": [1, 2]}),
    "output shape": ((1, 3, 5, 4), (3, 4, 4, 3), {"output_shape": [12, 9], "strides": [3, 2]}),
    "output shape, same upper": ((1, 3, 5, 4), (3, 4, 4, 4), {"output_shape": [13, 9], "strides": [3, 2], "auto_pad": "SAME_UPPER"}),
    "output shape, groups": ((1, 4, 5, 4), (4, 2, 4, 3), {"output_shape": [13, 9], "strides": [3, 2], "group": 2}),
}


@pytest.mark.parametrize("name", TRANSPOSED)
def test_conv_transpose(name):
    data, filters, attributes = TRANSPOSED[name]
    channels = filters[1] * attributes.get("group", 1)
    given = node("ConvTranspose", ["x", "w", "b"], ["y"], **attributes)
    check([given], {"x": values(*data)}, constants={"w": values(*filters), "b": values(channels)}, operations=2)


@pytest.mark.parametrize("opset", [1, 11])
def test_conv_transpose_of_older_operator_sets(opset):
    given = node("ConvTranspose", ["x", "w"], ["y"], strides=[2, 2])
    check([given], {"x": values(1, 3, 4, 4)}, constants={"w": values(3, 2, 3, 3)}, opset=max(opset, 7), operations=1)


DEFORMED = {
    "plain": ({}, (1, 2, 5, 5), (3, 2, 2, 2), 1),
    "groups": ({"group": 2, "offset_group": 2, "pads": [1, 0, 1, 0]}, (1, 4, 5, 5), (2, 2, 2, 2), 2),
    "strides and dilations": ({"strides": [2, 1], "dilations": [1, 2]}, (1, 2, 6, 7), (3, 2, 2, 2), 1),
}


@pytest.mark.parametrize("with_mask", [False, True])
@pytest.mark.parametrize("name", DEFORMED)
def test_deform_conv(name, with_mask):
    attributes, data, filters, offset_groups = DEFORMED[name]
    pads, strides, dilations = (attributes.get(key, default) for key, default in DEFORM_DEFAULTS)
    sizes = [
        (data[axis + 2] + pads[axis] + pads[axis + 2] - (filters[axis + 2] - 1) * dilations[axis] - 1) // strides[axis] + 1
        for axis in (0, 1)
    ]
    taps = filters[2] * filters[3] * offset_groups
    inputs = {"x": values(*data), "o": values(1, 2 * taps, *sizes)}
    if with_mask:
        inputs["m"] = np.abs(values(1, taps, *sizes))
    names = ["x", "w", "o", "b"] + ["m"] * with_mask
    constants = {"w": values(*filters), "b": values(filters[0])}
    check([node("DeformConv", names, ["y"], **attributes)], inputs, constants=constants, opset=19, reference="onnx", rtol=1e-3)


DEFORM_DEFAULTS = (("pads", [0, 0, 0, 0]), ("strides", [1, 1]), ("dilations", [1, 1]))


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"strides": [2]}, "rank|entries|spatial"),
        ({"auto_pad": "SOMETIMES"}, "auto_pad 'SOMETIMES' does not exist"),
        ({"group": 0}, "group is 0"),
        ({"group": 3}, "cannot be divided into 3 groups"),
        ({"pads": [-1, 0, 0, 0]}, "below 0"),
        ({"dilations": [0, 1]}, "below 1"),
    ],
)
def test_impossible_attributes(attributes, reason, tmp_path):
    given = node("Conv", ["x", "w"], ["y"], name="c", **attributes)
    model = build([given], {"x": values(1, 3, 6, 6)}, constants={"w": values(4, 3, 3, 3)})
    with pytest.raises(ConversionError, match=reason) as caught:
        convert(model, tmp_path)
    assert "'c'" in str(caught.value)


def test_conv_transpose_with_automatic_padding_and_a_stride_above_the_kernel(tmp_path):
    given = node("ConvTranspose", ["x", "w"], ["y"], auto_pad="SAME_UPPER", strides=[2, 3])
    model = build([given], {"x": values(1, 3, 5, 4)}, constants={"w": values(3, 4, 1, 2)})
    with pytest.raises(ConversionError, match="stride above the extent"):
        convert(model, tmp_path)


real = normal_numbers(np.random.default_rng(5))

KERNELS: dict[str, Any] = {
    f"{kind} with filters of dynamic sizes, {name}": NodeCase(
        kind, {"x": x, "w": w, "b": real(4)}, attributes=attributes, options=WITH_RANK | {"opset": 11, "atol": 1e-4}
    )
    for kind, name, x, w, attributes in (
        ("Conv", "strided", real(2, 3, 7, 6), real(4, 3, 3, 2), {"strides": [2, 1], "pads": [1, 0, 2, 1]}),
        ("Conv", "in groups", real(2, 4, 7), real(4, 2, 3), {"group": 2, "dilations": [2]}),
        ("Conv", "same", real(1, 3, 5, 6, 4), real(4, 3, 2, 3, 1), {"auto_pad": "SAME_LOWER", "strides": [2, 2, 1]}),
        ("ConvTranspose", "strided", real(2, 3, 4, 5), real(3, 4, 3, 2), {"strides": [2, 3], "pads": [1, 0, 0, 1]}),
        ("ConvTranspose", "in groups", real(1, 4, 5), real(4, 2, 3), {"group": 2, "dilations": [2], "strides": [2], "output_padding": [1]}),
    )
}

NODES: dict[str, NodeCase] = {
    **KERNELS,
    **{
        f"ConvTranspose with filters of dynamic sizes, {name}": NodeCase(
            "ConvTranspose",
            {"x": real(2, 4, *sizes), "w": real(4, 3, 3, 2)},
            {"b": real(6)},
            attributes={"group": 2, "strides": [2, 3], "kernel_shape": [3, 2]} | given,
            options=DYNAMIC | {"opset": 11, "atol": 1e-4},
        )
        for name, sizes, given in (
            ("to a shape", (4, 5), {"output_shape": [7, 14]}),
            ("to a larger shape", (2, 2), {"output_shape": [6, 5], "auto_pad": "SAME_UPPER"}),
            ("padded automatically", (4, 3), {"auto_pad": "SAME_LOWER", "strides": [1, 2]}),
        )
    },
    "ConvTranspose to fewer columns than the kernel has": NodeCase(
        "ConvTranspose",
        {"x": real(1, 3, 4, 1)},
        {"w": real(3, 1, 1, 3), "b": real(1)},
        attributes={"output_shape": [8, 2], "strides": [2, 2], "kernel_shape": [1, 3]},
        options=DYNAMIC,
    ),
    "ConvTranspose of bf16 with gaps": NodeCase(
        "ConvTranspose",
        {"w": real(2, 2, 2, 1).astype(ml_dtypes.bfloat16)},
        {"x": real(1, 2, 4, 5).astype(ml_dtypes.bfloat16), "b": real(2).astype(ml_dtypes.bfloat16)},
        operands="x w b",
        attributes={"strides": [1, 3]},
        options=STATIC | EVALUATED | {"opset": 22, "rtol": 0.01, "atol": 0.02},
    ),
    "ConvTranspose with filters of dynamic sizes": NodeCase(
        "ConvTranspose", {"x": real(2, 2, 3, 4), "w": real(2, 3, 2, 2)}, attributes={"kernel_shape": [2, 2]}, options=COMPLETE | DYNAMIC
    ),
    "ConvTranspose in groups with filters of dynamic sizes": NodeCase(
        "ConvTranspose",
        {"x": real(2, 4, 3, 4), "w": real(4, 3, 2, 2)},
        attributes={"kernel_shape": [2, 2], "group": 2},
        options=COMPLETE | DYNAMIC,
    ),
    **{
        f"Conv of {name} of one channel to one column": NodeCase(
            "Conv", {"x": real(3, 1, *sizes)}, {"w": real(4, 1, *kernel)}, attributes={"strides": strides}, options=COMPLETE | STATIC
        )
        for name, sizes, kernel, strides in (
            ("images", (10, 6), (2, 5), [1, 2]),
            ("images of the kernel's width", (10, 5), (2, 5), [1, 3]),
            ("volumes", (7, 4, 4), (2, 3, 3), [1, 1, 2]),
        )
    },
    "Conv of volumes in bf16 to one column": NodeCase(
        "Conv",
        {"x": real(2, 3, 4, 4, 2).astype(ml_dtypes.bfloat16)},
        {"w": real(3, 3, 2, 2, 2).astype(ml_dtypes.bfloat16)},
        attributes={"strides": [1, 1, 2]},
        options=COMPLETE | STATIC | EVALUATED | {"opset": 22},
    ),
    "Conv of volumes in bf16 in groups to one column": NodeCase(
        "Conv",
        {"x": real(2, 4, 4, 4, 2).astype(ml_dtypes.bfloat16)},
        {"w": real(6, 2, 2, 2, 2).astype(ml_dtypes.bfloat16)},
        attributes={"strides": [1, 1, 2], "group": 2},
        options=COMPLETE | STATIC | EVALUATED | {"opset": 22},
    ),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()


@pytest.mark.parametrize(("has_state", "activation"), [(True, "silu"), (False, "none")])
def test_causal_convolution(has_state: bool, activation: str) -> None:
    inputs = {"x": real(2, 3, 5), "w": real(3, 1, 4), "b": real(3)} | ({"past": real(2, 3, 3)} if has_state else {})
    nodes = [node("CausalConvWithState", list(inputs), ["y", "present"], activation=activation)]
    check(nodes, inputs, opset=27, reference="onnx", forms=["static", "dynamic"])
    constants = {name: inputs.pop(name) for name in ("w", "b")}
    check(nodes, inputs, constants=constants, opset=27, reference="onnx", forms=["static", "dynamic"])
