"""MXNet models: which files are read, and what the module says."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.ir import Operation

from moir.dialects.moir import models_of
from moir.dialects.names import names_of
from moir.dialects.opset.infrastructure import Constant
from moir.errors import ModelFileError
from moir.frontends.mxnet import read_model
from moir.frontends.mxnet.ndarrays import read_arrays
from moir.frontends.mxnet.symbol import value_of_text
from tests.numerical.mxnet.models import parameters, write

NULL = {"op": "null", "name": "data", "inputs": []}
WEIGHT = {"op": "null", "name": "w", "inputs": []}


def array_of(op: Operation) -> np.ndarray[Any, Any]:
    """The value of a constant."""
    assert isinstance(op, Constant)
    return op.value.array


def odd(**fields: Any) -> dict[str, Any]:
    return {"op": "Odd", "name": "odd", "inputs": [[0, 0, 0], [1, 0, 0]], **fields}


def symbol(*nodes: dict[str, Any], heads: Any = None) -> dict[str, Any]:
    return {"nodes": list(nodes), "heads": [[len(nodes) - 1, 0]] if heads is None else heads}


W = {"w": np.arange(6, dtype=np.float32).reshape(2, 3)}


def text(folder: Path, content: dict[str, Any]) -> str:
    return str(read_model(write(folder, content, W)))


@pytest.mark.parametrize("place", ["param", "attr", "attrs"])
def test_attributes_of_all_versions(tmp_path: Path, place: str) -> None:
    given = {"kernel": "(3, 4)", "act_type": "relu", "no_bias": "False", "eps": "1e-05", "axis": "None", "__hint__": "1", "w_lr_mult": "2"}
    read = text(tmp_path, symbol(NULL, WEIGHT, odd(**{place: given}, backward_source_id=-1)))
    assert '{kernel = [3, 4], act_type = "relu", no_bias = false, eps = 1.0e-05, name = "odd"' in read


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ("(2, 3)", [2, 3]),
        ("[1]", [1]),
        ("(1.5, 2)", [1.5, 2.0]),
        ("()", []),
        ("(2,)", [2]),
        ("True", True),
        ("-3", -3),
        (".5", 0.5),
        ("None", None),
        ("(None, 2)", "(None, 2)"),
    ],
)
def test_texts_become_values(given: str, value: object) -> None:
    assert value_of_text(given) == value


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_arrays_of_all_versions(tmp_path: Path, version: int) -> None:
    arrays = {
        "arg:w": np.arange(6, dtype=np.float32).reshape(2, 3),
        "aux:h": np.arange(4, dtype=np.float16),
        "i": np.arange(3, dtype=np.int64),
        "b": np.array([[True], [False]]),
    }
    path = tmp_path / "a.params"
    path.write_bytes(parameters(arrays, version))
    actual = read_arrays(path)
    assert list(actual) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(actual[name].array, array)
        assert not actual[name].array.flags.owndata


def test_newest_parameters_count_and_either_file_may_be_given(tmp_path: Path) -> None:
    path = write(tmp_path, symbol(NULL, WEIGHT, odd()), W)
    (tmp_path / "net-0012.params").write_bytes(parameters({"arg:w": W["w"] + 1}))
    module = read_model(path)
    constant = list(models_of(module)[0].block.ops)[1]
    np.testing.assert_array_equal(array_of(constant), W["w"] + 1)
    assert str(read_model(tmp_path / "net-0012.params")) == str(module)
    assert str(read_model(path, input_symbol=tmp_path / "net-0012.params")) == str(module)


def test_snapshots_of_training_replace_values(tmp_path: Path) -> None:
    path = write(tmp_path, symbol(NULL, WEIGHT, odd()), W)
    (tmp_path / "run_args.nd").write_bytes(parameters({"w": W["w"] + 2}))
    (tmp_path / "run_auxs.nd").write_bytes(parameters({}))
    constant = list(models_of(read_model(path, nd_prefix_name=tmp_path / "run"))[0].block.ops)[1]
    np.testing.assert_array_equal(array_of(constant), W["w"] + 2)


def test_labels_are_no_inputs(tmp_path: Path) -> None:
    label = {"op": "null", "name": "softmax_label", "inputs": []}
    out = {"op": "SoftmaxOutput", "name": "softmax", "inputs": [[2, 0, 0], [3, 0, 0]]}
    module = read_model(write(tmp_path, symbol(NULL, WEIGHT, odd(), label, out), W))
    assert [op.name for op in models_of(module)[0].block.ops] == [
        "opset1.Parameter",
        "opset1.Constant",
        "mxnet.Odd",
        "mxnet.SoftmaxOutput",
        "opset1.Result",
    ]


def test_names_of_outputs_are_those_of_mxnet(tmp_path: Path) -> None:
    split = {"op": "SliceChannel", "name": "s", "attrs": {"num_outputs": "2"}, "inputs": [[2, 0, 0]]}
    norm = {"op": "BatchNorm", "name": "bn", "inputs": [[2, 0, 0]]}
    content = symbol(NULL, WEIGHT, odd(), split, norm, heads=[[2, 0, 0], [3, 1, 0], [4, 0, 0]])
    results = [op for op in models_of(read_model(write(tmp_path, content, W)))[0].block.ops if op.name == "opset1.Result"]
    assert [names_of(op.operands[0])[0] for op in results] == ["odd_output", "s_output1", "bn_output"]


def test_weights_say_what_convolutions_read(tmp_path: Path) -> None:
    node = {"op": "Convolution", "name": "c", "attrs": {"kernel": "(3, 3)", "num_group": "2"}, "inputs": [[0, 0, 0], [1, 0, 0]]}
    module = read_model(write(tmp_path, symbol(NULL, WEIGHT, node), {"w": np.zeros((4, 5, 3, 3), np.float32)}))
    assert "tensor<?x10x?x?xf32>" in str(module)


BAD_SYMBOLS: dict[str, tuple[Any, str]] = {
    "a list": ([], "it has no list of nodes"),
    "no nodes": ({}, "it has no list of nodes"),
    "a node without a name": (symbol({"op": "null"}), "node 0 has no op and no name"),
    "a later operand": (symbol(NULL, WEIGHT, odd(inputs=[[2, 0, 0]])), "the inputs of 'odd': node 2 is not before them"),
    "no reference": (symbol(NULL, WEIGHT, odd(inputs=["x"])), "'x' is not a reference to a result"),
    "a result too many": (symbol(NULL, WEIGHT, odd(inputs=[[0, 3, 0]])), "the variable 'data' has no result 3"),
    "no heads": (symbol(heads=[]), "the symbol has no outputs"),
    "control flow": (symbol(NULL, WEIGHT, odd(subgraphs=[symbol(NULL)])), "mxnet.Odd 'odd': graph 0 has 1 variables for operands [] of 2"),
}


@pytest.mark.parametrize("case", BAD_SYMBOLS)
def test_bad_symbols(tmp_path: Path, case: str) -> None:
    content, message = BAD_SYMBOLS[case]
    path = write(tmp_path, content, {} if case == "no heads" else W)
    with pytest.raises(ModelFileError) as caught:
        read_model(path)
    assert message in str(caught.value)


GOOD = parameters({"w": W["w"]})
BAD_FILES = {
    "truncated": (GOOD[:-30], "the file ends within a number; is it complete?|does not fit into the file; is it complete?"),
    "another mark": (struct.pack("<QQ", 0x113, 0), "not a file of NDArrays"),
    "too many": (struct.pack("<QQQ", 0x112, 0, 1 << 60), "arrays do not fit into the file"),
    "sparse": (struct.pack("<QQQIi", 0x112, 0, 1, 0xF993FAC9, 1), r"a sparse array, which is not supported; .*tostype\('default'\)"),
    "a type": (struct.pack("<QQQIiiqqi", 0x112, 0, 1, 0xF993FAC9, 0, 1, 1, 1, 77), "the unknown element type 77"),
    "a size": (struct.pack("<QQQIiiqqi", 0x112, 0, 1, 0xF993FAC9, 0, 1, 1 << 60, 1, 0), "does not fit into the file"),
    "dimensions": (struct.pack("<QQQIii", 0x112, 0, 1, 0xF993FAC9, 0, 99), "an array of 99 dimensions"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_bad_parameters(tmp_path: Path, case: str) -> None:
    content, message = BAD_FILES[case]
    path = write(tmp_path, symbol(NULL, WEIGHT, odd()), W)
    (tmp_path / "net-0000.params").write_bytes(content)
    with pytest.raises(ModelFileError, match=message):
        read_model(path)


def test_missing_and_foreign_files(tmp_path: Path) -> None:
    path = write(tmp_path, symbol(NULL, WEIGHT, odd()), {"other": W["w"]})
    with pytest.raises(ModelFileError, match=r"no variable of net-symbol.json has a value in net-0000.params, whose arrays are other"):
        read_model(path)
    (tmp_path / "net-0000.params").unlink()
    with pytest.raises(ModelFileError, match=r"there is no file of parameters beside it; put net-0000.params beside it"):
        read_model(path)
    (tmp_path / "a-0000.params").write_bytes(GOOD)
    with pytest.raises(ModelFileError, match=r"there is no a-symbol.json beside the file; name it: --input-symbol"):
        read_model(tmp_path / "a-0000.params")
    path.write_text(json.dumps(symbol(NULL))[:-4])
    with pytest.raises(ModelFileError, match=r"net-symbol.json, line 1: not a symbol"):
        read_model(path, input_symbol=tmp_path / "a-0000.params")


def test_a_model_by_the_common_beginning_of_its_names(tmp_path: Path) -> None:
    path = write(tmp_path, symbol(NULL, WEIGHT, odd(inputs=[[0, 0, 0], [1, 0, 0]])), W)
    assert str(read_model(tmp_path / "net")) == str(read_model(path))
    other = tmp_path / "other.json"
    other.write_bytes(path.read_bytes())
    assert list(models_of(read_model(tmp_path / "net", input_symbol=other)))


SCALED = {"op": "_mul_scalar", "name": "scaled", "attrs": {"scalar": "0.5"}, "inputs": [[0, 0, 0]]}


@pytest.mark.parametrize(
    ("between", "kind", "expected"),
    [
        ([SCALED], "Convolution", "?x5x?x?"),
        ([SCALED | {"op": "Pooling"}], "Convolution", "?x5x?x?"),
        ([SCALED], "Deconvolution", "?x4x?x?"),
        ([SCALED | {"op": "broadcast_mul", "inputs": [[0, 0, 0], [1, 0, 0]]}], "Convolution", "?x?x?x?"),
        ([SCALED | {"op": "Odd"}], "Convolution", "*"),
    ],
)
def test_convolutions_say_the_rank_of_what_precedes_them(tmp_path: Path, between: list[Any], kind: str, expected: str) -> None:
    node = {"op": kind, "name": "conv", "attrs": {"kernel": "(3, 3)"}, "inputs": [[2, 0, 0], [1, 0, 0]]}
    module = read_model(write(tmp_path, symbol(NULL, WEIGHT, *between, node), {"w": np.zeros((4, 5, 3, 3), np.float32)}))
    assert f"tensor<{expected}xf32>" in str(next(op for op in models_of(module)[0].block.ops if op.name == "opset1.Parameter"))
