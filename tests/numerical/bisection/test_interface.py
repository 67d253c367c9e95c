"""`moir.run`, `moir.reduce` and `moir.report`: the commands as functions of Python."""

from __future__ import annotations

import base64
import gzip
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import moir
from moir.errors import ArgumentError, UnsupportedOperationError, UsageError


def save(path: Path, *kinds: str) -> Path:
    """A model x [1, 4] -> t0 -> t1 -> … -> y of nodes without attributes."""
    names = ["x", *(f"t{number}" for number in range(len(kinds) - 1)), "y"]
    nodes = [helper.make_node(kind, [names[at]], [names[at + 1]], name=f"n{at}") for at, kind in enumerate(kinds)]
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 4]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", ports[:1], ports[1:])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


def content(page: Path) -> bytes:
    """The content of a page, as JSON."""
    packed = max(re.findall(r"H4sI[A-Za-z0-9+/=]{100,}", page.read_text()), key=len)
    return gzip.decompress(base64.b64decode(packed))


@pytest.mark.parametrize("runtime", [None, "framework", "openvino", "definitions"])
def test_run(runtime: str | None, tmp_path: Path) -> None:
    model = save(tmp_path / "m.onnx", "Relu", "Neg")
    x = np.array([[-1, 0, 1, 2]], np.float32)
    actual = moir.run(model, {"x": x}, tensors=["t0"], runtime=runtime)
    np.testing.assert_array_equal(actual["y"], -np.maximum(x, 0))
    np.testing.assert_array_equal(actual["t0"], np.maximum(x, 0))


def test_run_of_objects(tmp_path: Path) -> None:
    model = save(tmp_path / "m.onnx", "Relu")
    first = moir.run(onnx.load(model), seed=3)["y"]
    np.testing.assert_array_equal(first, moir.run(moir.convert_model(model), seed=3)["y"])
    assert first.shape == (1, 4)


def test_arguments_of_run(tmp_path: Path) -> None:
    model = save(tmp_path / "m.onnx", "Relu", "Neg")
    with pytest.raises(UsageError, match="there is no tensor 't9'"):
        moir.run(model, tensors=["t9"])
    with pytest.raises(ArgumentError, match="neither a path"):
        moir.run(5)


def test_reduce(tmp_path: Path) -> None:
    model = save(tmp_path / "m.onnx", "Relu", "Sigmoid", "Neg", "Abs")
    seen: list[Path] = []

    def fails(path: Path) -> bool:
        seen.append(path)
        assert path.with_name("candidate-inputs.npz").exists()
        return "Neg" in {node.op_type for node in onnx.load(path).graph.node}

    actual = moir.reduce(model, fails, tmp_path / "small")
    assert actual == tmp_path / "small.onnx"
    assert [node.op_type for node in onnx.load(actual).graph.node] == ["Neg"]
    assert seen
    with pytest.raises(UsageError, match="does not fail"):
        moir.reduce(model, lambda _: False, tmp_path / "other")


def test_report(tmp_path: Path) -> None:
    model, other = save(tmp_path / "m.onnx", "Relu"), save(tmp_path / "o.onnx", "Neg")
    assert moir.report(model, tmp_path / "page.html", verdict="a verdict of mine") == tmp_path / "page.html"
    assert b"a verdict of mine" in content(tmp_path / "page.html")
    assert b"o.onnx" in content(moir.report(model, tmp_path / "both.html", other=other))
    with pytest.raises(UsageError, match="leave out passes"):
        moir.report(model, tmp_path / "both.html", other=other, passes="default")


def test_report_of_a_failure(tmp_path: Path) -> None:
    model = save(tmp_path / "m.onnx", "Relu", "NoSuchKind")
    with pytest.raises(UnsupportedOperationError, match="NoSuchKind"):
        moir.report(model, tmp_path / "page.html")
    assert b"NoSuchKind" in content(tmp_path / "page.html")
