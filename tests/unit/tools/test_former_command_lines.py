"""Command lines as the documents of Model Optimizer and of ovc, and questions about them, have them, with `moir` in front."""

from __future__ import annotations

import re
import shlex
import shutil
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import onnx
import pytest
from onnx import TensorProto, helper

from moir.tools.convert import main
from moir.tools.former_options import FLAGS, REFUSED, SPELLINGS, TRANSLATED, UNNECESSARY

ROOT = Path(__file__).parents[3]
FIXTURES = ROOT / "tests" / "fixtures" / "tensorflow"

COMMANDS: list[tuple[str, str, str]] = [
    # ONNX.
    ("--input_model digits.onnx", "digits", "image: ?,1,8,8 f32"),
    ("-m digits.onnx", "digits", "image: ?,1,8,8 f32"),
    ("-w digits.onnx --framework onnx", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --output_dir out", "out/digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx -o out/deep/er", "out/deep/er/digits", "image: ?,1,8,8 f32"),
    ("--input_model=digits.onnx --output_dir=out --model_name=net", "out/net", "image: ?,1,8,8 f32"),
    ("--framework onnx -m digits.onnx -n net -o .", "net", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --batch 1", "digits", "image: 1,1,8,8 f32"),
    ("--input_model digits.onnx -b 4", "digits", "image: 4,1,8,8 f32"),
    ("--input_model digits.onnx --input_shape [1,1,8,8]", "digits", "image: 1,1,8,8 f32"),
    ("--input_model digits.onnx --input_shape (1,1,8,8)", "digits", "image: 1,1,8,8 f32"),
    ("--input_model digits.onnx --input_shape '[1, 1, 8, 8]'", "digits", "image: 1,1,8,8 f32"),
    ("--input_model digits.onnx --input_shape [-1,1,8,8]", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --input_shape [?,1,8,8]", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --input_shape [1..10,1,8,8]", "digits", "image: 1..10,1,8,8 f32"),
    ("--input_model digits.onnx --input image --input_shape [3,1,8,8]", "digits", "image: 3,1,8,8 f32"),
    ("--input_model digits.onnx --input image[1,1,8,8]", "digits", "image: 1,1,8,8 f32"),
    ("--input_model digits.onnx --input 'image[1 1 8 8]'", "digits", "image: 1,1,8,8 f32"),
    ("--input_model digits.onnx --input 'image[1 1 8 8]{u8}'", "digits", "image: 1,1,8,8 u8"),
    ("--input_model digits.onnx --input image{f16}[1,1,8,8]", "digits", "image: 1,1,8,8 f16"),
    ("--input_model digits.onnx --output logits", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --output /Add,/MaxPool:0", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --output 0:/Flatten", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --input 0:/MaxPool[1,32,8,8]", "digits", "/MaxPool/placeholder_port_0: 1,32,8,8 f32"),
    ("--input_model digits.onnx --input /MaxPool:0[1,32,4,4]{f32}", "digits", "/MaxPool/placeholder_out_port_0: 1,32,4,4 f32"),
    ("--input_model digits.onnx --data_type FP16", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --data_type=half", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --data_type float", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --compress_to_fp16", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --compress_to_fp16=False", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --compress_to_fp16 True", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --static_shape -b 2", "digits", "image: 2,1,8,8 f32"),
    ("--input_model digits.onnx --log_level DEBUG", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --log_level=ERROR --silent", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --silent False --progress --stream_output", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --use_legacy_frontend", "digits", "image: ?,1,8,8 f32"),
    (
        "--input_model digits.onnx --disable_fusing --disable_resnet_optimization --finegrain_fusing c1,c2",
        "digits",
        "image: ?,1,8,8 f32",
    ),
    ("--input_model digits.onnx --disable_weights_compression --enable_concat_optimization", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --keep_shape_ops --move_to_preprocess --disable_gfusing", "digits", "image: ?,1,8,8 f32"),
    ("--input_model digits.onnx --share_weights True --generate_deprecated_IR_V7", "digits", "image: ?,1,8,8 f32"),
    ("--input_model two.onnx --input mask,data", "two", "mask: 1,3 f32; data: ?,3 f32"),
    ("--input_model two.onnx --input data,mask --input_shape [2,3],[1,3]", "two", "data: 2,3 f32; mask: 1,3 f32"),
    ("--input_model two.onnx --input data[2,3],mask->[0,1,2]", "two", "data: 2,3 f32"),
    ("--input_model two.onnx --input data,mask --freeze_placeholder_with_value 'mask->[0 1 2]'", "two", "data: ?,3 f32"),
    ("--input_model two.onnx --freeze_placeholder_with_value mask->1", "two", "data: ?,3 f32"),
    # TensorFlow.
    ("--input_model convolution.pbtxt --input_model_is_text", "convolution", "x: ?,4,5,2 f32"),
    ("--input_model convolution.pbtxt --input_model_is_text --input x --input_shape [1,4,5,2] -n conv", "conv", "x: 1,4,5,2 f32"),
    ("--input_model convolution.pbtxt --input_model_is_text --input x:0[1,8,8,2] --output y:0", "convolution", "x: 1,8,8,2 f32"),
    ("--input_model convolution.pbtxt --disable_nhwc_to_nchw -b 1", "convolution", "x: 1,4,5,2 f32"),
    ("--input_model convolution.pbtxt --input 0:biased[1,4,5,3] --output y", "convolution", "biased/placeholder_port_0: 1,4,5,3 f32"),
    ("--input_model convolution.pbtxt --input conv:0 --output biased", "convolution", "conv/placeholder_out_port_0: ?,2,3,3 f32"),
    ("--saved_model_dir keras_3", "keras_3", "a: ?,4 f32; b: ?,4 f32"),
    ("--saved_model_dir keras_3 --saved_model_tags serve --model_name net", "net", "a: ?,4 f32; b: ?,4 f32"),
    ("--saved_model_dir keras_3 --input a[1,4],b[1,4] --output output_1", "keras_3", "a: 1,4 f32; b: 1,4 f32"),
    ("--saved_model_dir keras_3 --batch 1 --framework tf --output_dir out", "out/keras_3", "a: 1,4 f32; b: 1,4 f32"),
    ("--input_meta_graph checkpoint/model.meta", "model", "x: ?,4 f32"),
    ("--input_model checkpoint/inference.pbtxt --input_checkpoint checkpoint/model --input_model_is_text", "inference", "x: ?,4 f32"),
    ("--input_meta_graph checkpoint/model.meta --tensorboard_logdir logs --output hidden", "model", "x: ?,4 f32"),
    # ovc.
    ("digits.onnx", "digits", "image: ?,1,8,8 f32"),
    ("digits.onnx --output_model net", "net", "image: ?,1,8,8 f32"),
    ("digits.onnx --output_model out/net.xml --compress_to_fp16=True", "out/net", "image: ?,1,8,8 f32"),
    ("digits.onnx --output_model existing", "existing/digits", "image: ?,1,8,8 f32"),
    ("digits.onnx --input image[1,1,8,8] --output logits --verbose", "digits", "image: 1,1,8,8 f32"),
    ("digits.onnx --input [2,1,8,8]", "digits", "image: 2,1,8,8 f32"),
    # `--output` as the place to write, as moir once had it.
    ("digits.onnx --output place.xml", "place", "image: ?,1,8,8 f32"),
    ("digits.onnx --output existing", "existing/digits", "image: ?,1,8,8 f32"),
]
"""The arguments, the stem of the files that are written, and the inputs of the model in them."""


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    shutil.copy(ROOT / "examples" / "digits" / "digits.onnx", folder)
    shutil.copy(FIXTURES / "convolution.pbtxt", folder)
    for name in ("keras_3", "checkpoint"):
        shutil.copytree(FIXTURES / name, folder / name)
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("data", ["n", 3]), ("mask", [1, 3]))]
    output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph([helper.make_node("Mul", ["data", "mask"], ["y"])], "two", inputs, [output])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), folder / "two.onnx")
    (folder / "existing").mkdir()
    return folder


def interface(xml: Path) -> str:
    """The inputs in an IR."""
    actual: list[str] = []
    for layer in ElementTree.parse(xml).getroot().iter("layer"):
        if layer.get("type") == "Parameter":
            data = layer.find("data")
            assert data is not None
            shape = str(data.get("shape")).replace("-1", "?")
            actual.append(f"{layer.get('name')}: {shape} {data.get('element_type')}")
    return "; ".join(actual)


@pytest.mark.parametrize(("command", "stem", "inputs"), COMMANDS, ids=[command for command, _, _ in COMMANDS])
def test_command_lines(
    models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, stem: str, inputs: str
) -> None:
    for each in models.iterdir():
        (tmp_path / each.name).symlink_to(each) if each.name != "existing" else (tmp_path / each.name).mkdir()
    monkeypatch.chdir(tmp_path)
    status = main(shlex.split(command))
    printed = capsys.readouterr()
    assert status == 0, printed.err
    assert printed.err == ""
    xml = tmp_path / f"{stem}.xml"
    assert xml.with_suffix(".bin").exists()
    assert interface(xml) == inputs
    if stem.endswith("net"):
        assert ElementTree.parse(xml).getroot().get("name") == ("net" if "name" in command or "-n" in command else "main_graph")
    options = {word.partition("=")[0] for word in shlex.split(command) if word.startswith("-")}
    notes = {line.split()[1] for line in printed.out.splitlines() if re.match(r"note: -", line)}
    if "--silent" not in options or "False" in command:
        assert notes - {"--output"} == options & UNNECESSARY.keys()


def test_weights_of_half_precision(models: Path, tmp_path: Path) -> None:
    def size(*options: str) -> int:
        assert main(["-m", str(models / "digits.onnx"), "-o", str(tmp_path), "--silent", *options]) == 0
        return (tmp_path / "digits.bin").stat().st_size

    full = size()
    assert size("--data_type", "FP32") == size("--compress_to_fp16=False") == size("--compress-to-fp16", "False") == full
    assert size("--data_type", "FP16") == size("--data_type=half") == size("--compress_to_fp16") == size("--compress_to_fp16", "True")
    assert size("--data_type", "FP16") < 0.6 * full


def test_what_is_noted(models: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = str(tmp_path / "net.xml")
    assert main(["-m", str(models / "digits.onnx"), "--framework", "onnx", "--framework=onnx", "--output", place]) == 0
    notes = [line for line in capsys.readouterr().out.splitlines() if line.startswith("note: ")]
    assert notes == [
        "note: --framework is not needed: the framework is recognized from the content of the file",
        f"note: --output says which outputs are kept; {place} is taken as the place to write, which is -o",
    ]


def test_an_output_that_is_named_like_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    value = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    nodes = [helper.make_node("Relu", ["x"], ["a.xml"]), helper.make_node("Exp", ["a.xml"], ["y"])]
    graph = helper.make_graph(nodes, "g", [value], [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), "m.onnx")
    assert main(["m.onnx", "--output", "a.xml"]) == 0
    assert "note:" not in capsys.readouterr().out
    assert Path("m.xml").exists()
    assert not Path("a.xml").exists()


def test_no_option_has_two_meanings() -> None:
    from moir.tools.convert import argument_parser

    parser = argument_parser()
    for table in (UNNECESSARY, REFUSED, TRANSLATED, FLAGS):
        assert not table.keys() & (parser._option_string_actions.keys() | parser.spellings.keys())
    assert set(SPELLINGS.values()) <= parser._option_string_actions.keys()
