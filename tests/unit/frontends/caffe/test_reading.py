"""Caffe models: which files are read, and what the module says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir.dialects.moir import models_of
from moir.dialects.names import name_of, names_of
from moir.dialects.opset.infrastructure import Constant
from moir.errors import ModelFileError
from moir.frontends.caffe import read_model
from moir.frontends.caffe.messages import MESSAGES

TEXT = """
name: "net"
layer { name: "in" type: "Input" top: "x" input_param { shape { dim: 1 dim: 3 } } }
layer { name: "odd" type: "Odd" bottom: "x" top: "y" odd_param { size: 3 size: 4 mode: FAST inner { on: true } scale: 0x10 } }
"""


def array_of(op: Operation) -> np.ndarray[Any, Any]:
    """The value of a constant."""
    assert isinstance(op, Constant)
    return op.value.array


def write(folder: Path, text: str = TEXT, blobs: int = 1, name: str = "net", layer: str = "odd") -> Path:
    """Write a network whose layer has blobs [2, 3] of 0, 1, …; returns the path of the `.caffemodel`."""
    model = MESSAGES.message_class("NetParameter")(name=b"net")
    added = model.layer.add(name=layer.encode(), type=b"Odd")
    for _ in range(blobs):
        blob = added.blobs.add(data=range(6))
        blob.shape.dim.extend((2, 3))
    path = folder / f"{name}.caffemodel"
    path.write_bytes(model.SerializeToString())
    (folder / "net.prototxt").write_text(text)
    return path


def operations(module: ModuleOp) -> list[str]:
    return [op.name for op in models_of(module)[0].block.ops]


def test_layers_of_forks_keep_their_parameters_and_blobs(tmp_path: Path) -> None:
    module = read_model(write(tmp_path))
    assert operations(module) == ["opset1.Parameter", "opset1.Constant", "caffe.Odd", "opset1.Result"]
    odd = list(models_of(module)[0].block.ops)[2]
    assert str(odd.properties["odd_param"]) == '{size = array<i64: 3, 4>, mode = "FAST", inner = {on = true}, scale = 16 : i64}'
    assert name_of(odd) == "odd"
    assert names_of(odd.results[0]) == ["y", "odd"]
    constant = list(models_of(module)[0].block.ops)[1]
    np.testing.assert_array_equal(array_of(constant), np.arange(6, dtype=np.float32).reshape(2, 3))


def test_text_may_be_the_argument(tmp_path: Path) -> None:
    path = write(tmp_path)
    assert str(read_model(tmp_path / "net.prototxt")) == str(read_model(path))


def test_text_has_another_name(tmp_path: Path) -> None:
    path = write(tmp_path, name="weights")
    with pytest.raises(
        ModelFileError, match=r"there is no weights.prototxt and no deploy.prototxt beside the file; name it: --input-proto"
    ):
        read_model(path)
    named = read_model(path, input_proto=tmp_path / "net.prototxt")
    (tmp_path / "net.prototxt").rename(tmp_path / "deploy.prototxt")
    assert str(read_model(path)) == str(named)
    with pytest.raises(ModelFileError, match=r"a .prototxt has no weights, and there is no deploy.caffemodel beside it"):
        read_model(tmp_path / "deploy.prototxt")


def test_files_may_change_places(tmp_path: Path) -> None:
    path = write(tmp_path, name="weights")
    assert str(read_model(tmp_path / "net.prototxt", input_proto=path)) == str(read_model(path, input_proto=tmp_path / "net.prototxt"))


BAD_TEXTS = {
    'layer { name: "a" type: "ReLU" bottom: "y" top: "z" }': r"line 1.*reads the blob 'y', which no layer writes",
    'layer { name: "a" type: "ReLU" bottom: "z" top: "y" }\nlayer { name: "b" type: "ReLU" bottom: "y" top: "z" }': (
        r"line 1.*'z' before a layer writes it"
    ),
    'layer { name: "a" type: "ReLU" ': r"the text ends within a message",
    'layer { name: "a" type "ReLU" }': r"line 1: this is not protobuf's text format: \":\" or a message is expected",
    'layer { name: "a" type: ,}': r"this is not protobuf's text format",
    "net: 1": r"not a network: it has no layers",
    'layer { name: "a" }': r"layer 'a' has no type",
    'layers { layer { name: "a" type: "conv" } }': r"Caffe's format V0, of 2013.*upgrade_net_proto_text",
    'layer { name: "a" type: "Accuracy" bottom: "x" }\ninput: "x"': r"the network has no outputs",
    'input: "x"\ninput: "x"\nlayer { name: "a" type: "ReLU" bottom: "x" top: "y" }': r"two inputs of the network have the same name",
    'input: "x"\ninput_shape { dim: -3 }\nlayer { name: "a" type: "ReLU" bottom: "x" top: "y" }': r"1 inputs with 1 shapes",
    'input: "x"\nlayer { name: "odd" type: "R" bottom: "x" top: "y" p { a: 1 } p: 2 }': r"a message in one place and a value in another",
    "a { " * 70: r"messages are nested more than 64 deep",
}


@pytest.mark.parametrize("text", BAD_TEXTS)
def test_bad_texts(tmp_path: Path, text: str) -> None:
    path = write(tmp_path, text, blobs=0)
    with pytest.raises(ModelFileError, match=BAD_TEXTS[text]):
        read_model(path)


def test_weights_of_another_network(tmp_path: Path) -> None:
    path = write(tmp_path, layer="other")
    with pytest.raises(ModelFileError, match=r"no layer of net.prototxt has weights in net.caffemodel, whose layers are other"):
        read_model(path)


def test_truncated_weights(tmp_path: Path) -> None:
    path = write(tmp_path)
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(ModelFileError, match=r"net.caffemodel.*offset"):
        read_model(path)


@pytest.mark.parametrize("dims", [(2, 4), (-1, 6), (2**40, 2**40), (1,) * 40 + (6,)])
def test_blobs_that_do_not_fit_their_shape(tmp_path: Path, dims: tuple[int, ...]) -> None:
    path = write(tmp_path)
    model = MESSAGES.message_class("NetParameter").FromString(path.read_bytes())
    del model.layer[0].blobs[0].shape.dim[:]
    model.layer[0].blobs[0].shape.dim.extend(dims)
    path.write_bytes(model.SerializeToString())
    with pytest.raises(ModelFileError, match=r"blob 0 of layer 'odd' has 6 values, which do not fit its shape"):
        read_model(path)


@pytest.mark.parametrize(("field", "stored"), [(0, np.float64), (1, np.float32), (2, np.float16)])
def test_raw_data(tmp_path: Path, field: int, stored: type[np.floating]) -> None:
    path = write(tmp_path)
    model = MESSAGES.message_class("NetParameter").FromString(path.read_bytes())
    blob = model.layer[0].blobs[0]
    blob.ClearField("data")
    blob.raw_data_type, blob.raw_data = field, np.arange(6, dtype=stored).tobytes()
    path.write_bytes(model.SerializeToString())
    constant = list(models_of(read_model(path))[0].block.ops)[1]
    np.testing.assert_array_equal(array_of(constant).reshape(-1), np.arange(6, dtype=np.float32))


def test_large_weights_are_views_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, blobs=0)
    model = MESSAGES.message_class("NetParameter").FromString(path.read_bytes())
    blob = model.layer[0].blobs.add(data=range(1000))
    blob.shape.dim.extend((10, 100))
    path.write_bytes(model.SerializeToString())
    array = array_of(list(models_of(read_model(path))[0].block.ops)[1])
    assert not array.flags.owndata
    assert not array.flags.writeable
    assert array[9, 99] == 999
