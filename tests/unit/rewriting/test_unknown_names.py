"""Names of operations and properties that do not exist, in builders, and kinds without lowering."""

from __future__ import annotations

from pathlib import Path

import pytest
from xdsl.ir import Block

import moir
from moir.analysis.known_values import KnownValues
from moir.analysis.unlowered_operations import hint
from moir.dialects import opset
from moir.errors import UnsupportedOperationError
from moir.rewriting.builder import OpBuilder
from tests.unit.extensions.directories import chain


@pytest.fixture
def op() -> OpBuilder:
    return OpBuilder(KnownValues(), Block())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Convolutoin", "no operation set has an operation Convolutoin; did you mean Convolution?"),
        ("relu", "no operation set has an operation relu; did you mean Relu"),
        ("Frobnicate", "no operation set has an operation Frobnicate"),
        ("opset1.Convolutoin", "there is no operation opset1.Convolutoin; did you mean opset1.Convolution?"),
        ("opset3.Gather", "there is no operation opset3.Gather; did you mean opset8.Gather?"),
        ("opset7.Relu", "there is no operation opset7.Relu; did you mean opset1.Relu?"),
        ("opset1.Frobnicate", "there is no operation opset1.Frobnicate"),
    ],
)
def test_unknown_operations(name: str, message: str, op: OpBuilder) -> None:
    assert opset.unknown_operation(name).startswith(message)
    with pytest.raises((AttributeError, KeyError)) as raised:
        op[name] if "." in name else getattr(op, name)
    assert message in str(raised.value)


def test_unknown_properties(op: OpBuilder) -> None:
    x = op.constant(1.0)
    with pytest.raises(TypeError, match=r"opset8\.Softmax has no property axes; did you mean axis\?"):
        op.Softmax(x, axes=0)
    with pytest.raises(TypeError, match=r"opset1\.Relu has no property axis; it has no properties"):
        op.Relu(x, axis=0)


@pytest.mark.parametrize(
    ("kinds", "beginning"),
    [
        (["onnx.Rleu"], "did you mean onnx.Relu? add a lowering"),
        (["onnx.Convv", "tf.Reluu"], "did you mean onnx.Conv for onnx.Convv, tf.Relu"),
        (["onnx.mine.Odd"], "add a lowering for each"),
        (["onnx.com.acme.Relu"], "add a lowering for each"),
        (["mo.Odd"], "give each operation a type"),
        (["caffe.Odd"], "add a lowering for each"),
    ],
)
def test_kinds_without_lowering(kinds: list[str], beginning: str) -> None:
    assert hint(kinds).startswith(beginning)
    assert hint(kinds).count("new-extension") == (kinds != ["mo.Odd"])


def test_a_model_with_an_unknown_kind(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedOperationError, match=r"onnx\.com\.example\.my_op .*; .*`moir new-extension DIR` writes one"):
        moir.convert_model(chain(tmp_path / "m.onnx", "Relu", "my_op"))
