"""A user gives a file that is not a model, or an option of Model Optimizer, and the message says what to do."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import onnx
import pytest
import tensorflow as tf
from onnx import TensorProto, helper

import moir
from moir.errors import ConversionError, ModelFileError, UsageError
from moir.tools.former_options import translated
from tests.numerical.onnx.conversion import node

POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 40960000\n"


def saved(folder: Path) -> Path:
    inputs = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 64])]
    weights = onnx.numpy_helper.from_array(np.ones((64, 64), np.float32), "w")
    graph = helper.make_graph([node("MatMul", ["x", "w"], ["y"])], "g", inputs, [helper.make_empty_tensor_value_info("y")], [weights])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "m.onnx", save_as_external_data=True, location="m.onnx.data", size_threshold=0)
    return folder / "m.onnx"


def test_external_data_that_was_not_downloaded(tmp_path: Path) -> None:
    path = saved(tmp_path)
    (tmp_path / "m.onnx.data").write_bytes(POINTER)
    with pytest.raises(ModelFileError, match=r"m\.onnx\.data is a pointer of Git LFS; .*; run git lfs pull"):
        moir.convert_model(path)


@pytest.mark.parametrize("name", ["net.weights.h5", "vgg16_weights.h5", "NET.WEIGHTS.H5"])
def test_weights_of_keras(tmp_path: Path, name: str) -> None:
    with h5py.File(tmp_path / name, "w") as file:
        file.create_dataset("layers/dense/vars/0", data=[[1.0, 2.0]])
    with pytest.raises(ModelFileError, match=r"weights of a Keras model without its layers; .*load_weights"):
        moir.convert_model(tmp_path / name)


def test_a_text_that_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "labels.txt").write_text("cat\nköpek\n")
    with pytest.raises(ModelFileError, match=r"this is a text, and no model; give the file of the model \(\.onnx, \.pb, "):
        moir.convert_model(tmp_path / "labels.txt")


def of_shape(folder: Path, shape: list[int], output: str = "y") -> Path:
    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)]
    graph = helper.make_graph([node("Relu", ["x"], [output])], "g", values, [helper.make_empty_tensor_value_info(output)])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "m.onnx")
    return folder / "m.onnx"


def in_tensorflow(folder: Path, shape: list[int]) -> Path:
    with tf.Graph().as_default() as graph:
        tf.nn.relu(tf.compat.v1.placeholder(tf.float32, shape, "x"), name="y")
    (folder / "m.pb").write_bytes(graph.as_graph_def().SerializeToString())
    return folder / "m.pb"


def test_channels_of_another_number(tmp_path: Path) -> None:
    """The layout that is suggested is the usual one of the framework."""
    reason = (
        r"no dimension is certain to be 3 channels; say which dimension the channels are, as in --layout 'x\({}\)', in which there are 6"
    )
    with pytest.raises(UsageError, match=reason.format("nchw")):
        moir.convert_model(of_shape(tmp_path, [1, 6, 8, 8]), mean_values="[1,2,3]")
    with pytest.raises(UsageError, match=reason.format("nhwc")):
        moir.convert_model(in_tensorflow(tmp_path, [1, 8, 8, 6]), mean_values="[1,2,3]")


def test_channels_that_cannot_be_reversed(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"as in --layout 'x\(nchw\)'"):
        moir.convert_model(of_shape(tmp_path, [1, 6, 8, 8]), reverse_input_channels=True)
    with pytest.raises(UsageError, match=r"as in --layout 'x\(nhwc\)'"):
        moir.convert_model(in_tensorflow(tmp_path, [1, 8, 8, 6]), reverse_input_channels=True)


def test_a_name_with_a_comma(tmp_path: Path) -> None:
    path = of_shape(tmp_path, [1, 3], output="13,a")
    with pytest.raises(ConversionError, match=r"""there is no node and no tensor '13'; names with commas are quoted: '"13,a"'"""):
        moir.convert_model(path, output="13,a")
    assert "13,a" in repr(moir.convert_model(path, output='"13,a"'))


def test_a_module_that_moir_does_not_have(tmp_path: Path) -> None:
    folder = tmp_path / "ext" / "front"
    folder.mkdir(parents=True)
    (folder / "wrong.py").write_text("import moir.no_such_module\n")
    with pytest.raises(ConversionError, match=r"this version of moir has no module moir\.no_such_module"):
        moir.convert_model(saved(tmp_path), extensions=tmp_path / "ext")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--framework", "kaldi"], "--framework cannot be 'kaldi'; moir does not read Kaldi models"),
        (["--framework=Kaldi"], "moir does not read Kaldi models"),
        (["--tensorflow_subgraph_patterns", "a"], "no runtime runs parts of a model by TensorFlow"),
        (["--tensorflow_operation_patterns=a"], "no runtime runs parts of a model by TensorFlow"),
        (["--offload_unsupported_operations_to_tf"], "no runtime runs parts of a model by TensorFlow"),
    ],
)
def test_options_that_are_refused(arguments: list[str], reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        translated(arguments)


@pytest.mark.parametrize(
    ("arguments", "note"),
    [
        (["--keep_quantize_ops_in_IR"], "FakeQuantize operations stay"),
        (["--plugin", "MKLDNNPlugin"], "the same for all plugins"),
        (["--tensorboard_logdir", "logs"], "`moir report`"),
        (["--framework", "onnx"], "recognized from the content"),
    ],
)
def test_options_without_effect(arguments: list[str], note: str) -> None:
    rest, [actual] = translated([*arguments, "m.onnx"])
    assert rest == ["m.onnx"]
    assert note in actual
