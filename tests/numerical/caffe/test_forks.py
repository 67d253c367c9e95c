"""Forks of Caffe: layers that go into the IR as they are, parameters that only the binary has, layers of FlowNet."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import moir
from moir.errors import ConversionError, ModelFileError
from moir.frontends.caffe.proto_file import message_classes
from tests.numerical.caffe.networks import converted, input_layer, layer, opencv_result, random_inputs, results, write

MAPPING = """<CustomLayers>
    <CustomLayer NativeType="Warp" hasParam="true" protoParamName="warp_param"><CustomParam Name="origin" Value="left"/></CustomLayer>
    <CustomLayer NativeType="Mark" hasParam="false"/>
</CustomLayers>"""


def test_layers_of_a_custom_mapping_go_into_the_ir(tmp_path: Path) -> None:
    parameters = "warp_param { mode: FAST ratio: 0.7 size: 2 size: 3 flag: true inner { deep: 5 } }"
    text = (
        input_layer(x=(1, 3, 8, 8))
        + layer("Warp", parameters, ["x"], ["w"], "warp")
        + layer("Mark", "mark_param { a: 1 }", ["w"], ["m"], "mark")
        + layer("ReLU", "", ["m"], ["y"], "relu")
    )
    path = write(tmp_path, text, {"warp": [np.ones((2, 3), np.float32)]})
    (tmp_path / "CustomLayersMapping.xml").write_text(MAPPING)
    with pytest.raises(ConversionError, match=r"caffe\.Warp"):
        moir.convert_model(path)
    moir.save_model(moir.convert_model(path, custom_layers=tmp_path / "CustomLayersMapping.xml"), tmp_path / "net.xml")
    layers = {each.get("name"): each for each in ElementTree.parse(tmp_path / "net.xml").iter("layer")}
    warp, mark = layers["warp"], layers["mark"]
    assert (warp.get("type"), warp.get("version"), mark.get("type")) == ("Warp", "extension", "Mark")
    data = warp.find("data")
    assert data is not None
    assert data.attrib == {"origin": "left", "mode": "FAST", "ratio": "0.7", "size": "2,3", "flag": "1", "deep": "5"}
    assert len(warp.findall("input/port")) == 2
    assert mark.find("data") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("<CustomLayers><CustomLayer hasParam='true'/></CustomLayers>", "has no NativeType"),
        ("<CustomLayers><CustomLayer NativeType='A' hasParam='maybe'/></CustomLayers>", "not true or false"),
        ("<CustomLayers><CustomLayer NativeType='A' hasParam='true'/></CustomLayers>", "no protoParamName"),
        ("<CustomLayers><Layer/></CustomLayers>", "only CustomLayer"),
        ("<CustomLayers>", "not XML"),
        ("<!DOCTYPE a [<!ENTITY b 'c'>]><CustomLayers/>", "document type"),
        ("<CustomLayers>" + " " * (1 << 20), r"larger than 1 MiB; is it a CustomLayersMapping\.xml\?"),
        ("", "not XML"),
    ],
)
def test_damaged_mapping(tmp_path: Path, text: str, reason: str) -> None:
    path = write(tmp_path, input_layer(x=(1, 3)) + layer("ReLU"), {"layer": []})
    (tmp_path / "map.xml").write_text(text)
    with pytest.raises(ModelFileError, match=reason):
        moir.convert_model(path, custom_layers=tmp_path / "map.xml")


PROTO = """
syntax = "proto2"; // of a fork
package fork;
import "other.proto";
message BlobShape { repeated int64 dim = 1 [packed = true]; }
message NetParameter { optional string name = 1; repeated LayerParameter layer = 100; }
/* the parameters of
   all layers */
message LayerParameter {
  optional string name = 1; optional string type = 2; repeated string bottom = 3; repeated string top = 4;
  optional InputParameter input_param = 143; optional ClampParameter clip_param = 8266711;
  extensions 1000 to 2000; reserved 5, 6;
}
message InputParameter { repeated BlobShape shape = 1; }
message ClampParameter {
  enum Mode { option allow_alias = true; HARD = 0; SOFT = -1; GENTLE = -1; }
  required float min = 1; required float max = 2 [default = 0.5, deprecated = false];
  optional Mode mode = 3 [default = SOFT]; map<string, int32> marks = 4; oneof kind { int32 one = 5; string other = 7; }
}
"""


def write_fork(folder: Path) -> Path:
    """A network, whose parameters only the binary has."""
    (folder / "fork.proto").write_text(PROTO)
    network: Any = message_classes(folder / "fork.proto")("NetParameter")(name="net")
    network.layer.add(name="in", type="Input", top=["x"]).input_param.shape.add().dim.extend([2, 3])
    clip = network.layer.add(name="clip", type="Clip", bottom=["x"], top=["y"]).clip_param
    clip.min, clip.max, clip.mode, clip.one = -0.3, 0.4, -1, 7
    clip.marks["a"] = 1
    (folder / "net.caffemodel").write_bytes(network.SerializeToString())
    return folder / "net.caffemodel"


@pytest.mark.parametrize("has_text", [True, False])
def test_parameters_that_only_the_binary_has(tmp_path: Path, has_text: bool) -> None:
    path = write_fork(tmp_path)
    if has_text:
        path.with_suffix(".prototxt").write_text(input_layer(x=(2, 3)) + layer("Clip", name="clip"))
    with pytest.raises(ConversionError, match=r"clip_param\.min is missing" if has_text else "text is missing"):
        moir.convert_model(path)
    x = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)
    outputs = results(converted(path, caffe_proto=tmp_path / "fork.proto"), {"x": x})
    np.testing.assert_allclose(outputs["y"], np.clip(x, -0.3, 0.4))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("message NetParameter {", "message NetParameters {", "no message NetParameter"),
        ("optional string name = 1;", "optional string name = ;", "the number ';'"),
        ("map<string, int32> marks = 4;", "optional group Old = 4 { }", "groups are not supported"),
        ("optional ClampParameter", "optional NoParameter", "do not fit together"),
        ("message InputParameter {", "message InputParameter", "line 14"),
        ("SOFT = -1;", "SOFT -1;", "'='"),
    ],
)
def test_damaged_description(tmp_path: Path, old: str, new: str, reason: str) -> None:
    path = write_fork(tmp_path)
    assert old in PROTO
    (tmp_path / "fork.proto").write_text(PROTO.replace(old, new, 1))
    with pytest.raises(ModelFileError, match=reason):
        moir.convert_model(path, caffe_proto=tmp_path / "fork.proto")


@pytest.mark.parametrize(
    ("type_", "parameters", "shapes"),
    [
        ("Correlation", "pad: 3 kernel_size: 3 max_displacement: 2 stride_1: 2 stride_2: 1", [(2, 3, 10, 11)] * 2),
        ("Correlation", "pad: 4 kernel_size: 1 max_displacement: 4 stride_1: 1 stride_2: 2", [(1, 4, 6, 7)] * 2),
        ("Accum", "", [(2, 1, 5, 6)]),
        ("FlowWarp", "", [(2, 3, 5, 6), (2, 2, 5, 6)]),
    ],
)
def test_layers_of_flownet(tmp_path: Path, type_: str, parameters: str, shapes: list[tuple[int, ...]]) -> None:
    inputs = random_inputs(0, **{f"x{index}": shape for index, shape in enumerate(shapes)})
    if type_ == "FlowWarp":
        inputs["x1"] *= 3
    text = input_layer(**{name: value.shape for name, value in inputs.items()})
    path = write(tmp_path, text + layer(type_, f"{type_.lower()}_param {{ {parameters} }}", list(inputs)), {"layer": []})
    np.testing.assert_allclose(results(converted(path), inputs)["y"], opencv_result(path, inputs), rtol=1e-4, atol=1e-5)


def test_images_are_joined_in_the_largest_size(tmp_path: Path) -> None:
    inputs = random_inputs(a=(1, 2, 3, 3), b=(1, 1, 5, 5))
    path = write(tmp_path, input_layer(a=(1, 2, 3, 3), b=(1, 1, 5, 5)) + layer("Accum", "", ["a", "b"]), {"layer": []})
    output = results(converted(path), inputs)["y"]
    np.testing.assert_array_equal(output[:, 2:], inputs["b"])
    np.testing.assert_allclose(output[:, :2, ::2, ::2], inputs["a"], rtol=1e-6)
    np.testing.assert_allclose(output[:, :2, 1, 0], (inputs["a"][:, :, 0, 0] + inputs["a"][:, :, 1, 0]) / 2, rtol=1e-5)


def test_data_augmentation_subtracts_the_mean(tmp_path: Path) -> None:
    x = random_inputs(x=(2, 3, 6, 8))["x"]
    weights = [np.ones(1, np.float32), np.ones((1, 3, 6, 8), np.float32), np.array([1, 2, 3], np.float32)]
    parameters = "augmentation_param { recompute_mean: 10 mean_per_pixel: false crop_height: 4 crop_width: 4 }"
    path = write(tmp_path, input_layer(x=x.shape) + layer("DataAugmentation", parameters), {"layer": weights})
    expected = x[:, :, 1:5, 2:6] - weights[2].reshape(1, 3, 1, 1)
    np.testing.assert_allclose(results(converted(path), {"x": x})["y"], expected, rtol=1e-5)


def test_filter_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, input_layer(x=(2, 3), s=(2, 1)) + layer("Filter", "", ["x", "s"]), {"layer": []})
    with pytest.raises(ConversionError, match="depends on the data"):
        moir.convert_model(path)


def test_a_binary_convolution_is_refused(tmp_path: Path) -> None:
    path = write(tmp_path, input_layer(x=(1, 2, 3, 3)) + layer("ConvolutionBinary"), {"layer": [np.ones((1, 2, 3, 3), np.float32)]})
    with pytest.raises(ConversionError, match="makes bits of data and weights is not documented"):
        moir.convert_model(path)


def test_proposals_in_python_are_those_of_the_layer(tmp_path: Path) -> None:
    shapes = {"scores": (1, 12, 5, 6), "offsets": (1, 24, 5, 6), "info": (1, 3)}
    inputs = random_inputs(**shapes) | {"info": np.array([[80, 96, 1]], np.float32)}
    python = 'python_param { module: "rpn.proposal_layer" layer: "ProposalLayer" param_str: "%s" }'
    native = "proposal_param { feat_stride: 16 scale: 2 scale: 4 ratio: 0.5 ratio: 1 ratio: 2 post_nms_topn: 20 }"
    regions: list[Any] = []
    for type_, parameters in (
        ("Proposal", native),
        ("Python", python % "'feat_stride': 16, 'scales': (2, 4), 'post_nms_topn': 20"),
        ("Python", python % "feat_stride: 16\\nscales: [2, 4]\\npost_nms_topn: 20"),
    ):
        path = write(tmp_path, input_layer(**shapes) + layer(type_, parameters, list(shapes)), {"layer": []})
        regions.append(results(converted(path), inputs)["y"])
    assert np.ptp(regions[0]) > 10
    np.testing.assert_array_equal(regions[0], regions[1])
    np.testing.assert_array_equal(regions[0], regions[2])
    path = write(tmp_path, input_layer(**shapes) + layer("Python", python % "[1]", list(shapes)), {"layer": []})
    with pytest.raises(ConversionError, match="param_str"):
        moir.convert_model(path)
