"""Files that are not ONNX models, are damaged, or contradict themselves."""

from __future__ import annotations

import gzip
import random
from pathlib import Path

import pytest
from onnx import GraphProto, ModelProto, helper

from moir.errors import ConversionError, ModelFileError
from moir.files.protobuf.wire import encode_varint
from moir.frontends.onnx import read_model
from moir.frontends.onnx.model import NEWEST_IR_VERSION, NEWEST_OPSET
from tests.unit.frontends.onnx.samples import FLOAT, branch, graph, initializer, model, node, operations, read, rich_model, value


def simple() -> ModelProto:
    """A model of one node."""
    return model(graph([node("Relu", "x", "y", name="relu")], [value("x")], [value("y")]))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "the file is empty"),
        (b"PK\x03\x04rest", "zip archive"),
        (gzip.compress(b"model", mtime=0), "a compressed file; unpack it"),
        (b"\x80\x02}q\x00.", "pickle"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
        (b"<!DOCTYPE html><html></html>", "HTML"),
        (b'<?xml version="1.0"?><net/>', "this is a model of OpenVINO IR; read it as such: openvino_ir"),
        (b'{"node": []}', "JSON"),
        (b"ir_version: 8\ngraph {}\n", "text"),
        (bytes(100), "zeros"),
        # A TensorFlow GraphDef: field 1 is a message.
        (b"\x0a\x0b\x0a\x01x\x12\x06Tensor", "ir_version of ModelProto is of another kind"),
        # A TensorFlow SavedModel: field 1 is a number, field 2 a message.
        (b"\x08\x01\x12\x02\x0a\x00", "does not have a graph"),
        (b"\x3a\x02\x12\x00", "does not have an IR version"),
        (b"\x08\x08\x4b", "wire type 3"),
        (b"\x08\x08\x03\x00", "impossible number|wire type"),
        (b"\x08" + b"\xff" * 12, "overlong integer"),
    ],
)
def test_other_files(tmp_path, content, reason):
    with pytest.raises(ModelFileError, match=reason) as error:
        read(content, tmp_path)
    assert "model.onnx" in str(error.value)


def test_missing_files_and_folders(tmp_path):
    with pytest.raises(ModelFileError, match="No such file"):
        read_model(tmp_path / "none.onnx")
    with pytest.raises(ModelFileError, match="not a regular file"):
        read_model(tmp_path)


def test_every_truncation_is_found(tmp_path):
    content = rich_model(300).SerializeToString()
    for end in range(1, len(content), 7):
        try:
            module = read(content[:end], tmp_path)
        except ModelFileError:
            continue
        # A cut between two fields after the graph leaves a model without something it does not need.
        assert operations(module, "onnx.If")


def test_truncation_says_where(tmp_path):
    content = rich_model().SerializeToString()
    with pytest.raises(ModelFileError, match=r"model.onnx, offset \d+: a field of \d+ bytes is truncated: the file ends after"):
        read(content[: len(content) // 2], tmp_path)


def test_damage_inside_small_messages_says_where(tmp_path):
    content = simple().SerializeToString()
    at = content.index(b"\x22\x04Relu") + 1
    with pytest.raises(ModelFileError, match=rf"offset {at - 1}: a field of 116 bytes is truncated"):
        read(content[:at] + b"\x74" + content[at + 1 :], tmp_path)


@pytest.mark.parametrize("version", [-1, 0, NEWEST_IR_VERSION + 1, 2**40])
def test_unknown_ir_versions(tmp_path, version):
    proto = simple()
    proto.ir_version = version
    with pytest.raises(ModelFileError, match=rf"IR version {version}"):
        read(proto, tmp_path)


@pytest.mark.parametrize(
    ("imports", "reason"),
    [
        ([("", NEWEST_OPSET + 1)], f"version {NEWEST_OPSET + 1} of the operator set 'ai.onnx'; versions 1 to {NEWEST_OPSET}"),
        ([("", 0)], "version 0"),
        ([("ex", -2)], "version -2 of the operator set 'ex'"),
        ([("", 13), ("ai.onnx", 14)], "two versions of the operator set ''"),
        ([], "imports no operator set"),
    ],
)
def test_bad_operator_sets(tmp_path, imports, reason):
    proto = simple()
    del proto.opset_import[:]
    proto.opset_import.extend(helper.make_opsetid(*entry) for entry in imports)
    with pytest.raises(ModelFileError, match=reason):
        read(proto, tmp_path)


X, Y = [value("x")], [value("y")]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (graph([node("Relu", "q", "y", name="n")], X, Y), "onnx.Relu 'n': input 'q' is defined nowhere"),
        (graph([node("Relu", "x", "z")], X, Y), "output 'y' is computed by no node"),
        (
            graph([node("Relu", "x", "y", name="a"), node("Exp", "x", "y", name="b")], X, Y),
            "'y' is defined twice: by node 'a' and node 'b'",
        ),
        (graph([node("Relu", "x", "x")], X, X), "'x' is defined twice: by an input or initializer"),
        (graph([node("Relu", "x", "w")], X, Y, [initializer("w", 1)]), "'w' is defined twice"),
        (graph([node("Relu", "x", "y")], [*X, *X], Y), "'x' is defined twice"),
        (graph([node("Relu", "w", "y")], X, Y, [initializer("w", 1)] * 2), "initializer 'w' is there twice"),
        (
            graph([node("Add", "x c", "a", name="A"), node("Exp", "a", "b", name="B"), node("Exp", "b", "c", name="C")], X, [value("c")]),
            "3 nodes form a cycle: 'B', 'C', 'A'|3 nodes form a cycle: 'C', 'A', 'B'|3 nodes form a cycle: 'A', 'B', 'C'",
        ),
        (graph([node("Add", "x y", "y", name="self")], X, Y), "1 nodes form a cycle: 'self'"),
        (graph([node("Constant", "", "y")], X, Y), "a Constant has one attribute, this one has 0"),
        (graph([node("Constant", "", "y", value_int=1, value_float=1.0)], X, Y), "this one has 2"),
        (graph([node("Constant", "", "y", value=1)], X, Y), "'value' is not a tensor"),
        (graph([node("Constant", "", "y", value_int=1.0)], X, Y), "'value_int' is of another type"),
        (graph([node("Constant", "", "y", value_ints=1)], X, Y), "'value_ints' is of another type"),
        (graph([node("Constant", "", "y", other=1)], X, Y), "no attribute 'other'"),
        (graph([node("Constant", "x", "y", value_int=1)], X, Y), "no inputs"),
        (graph([node("", "x", "y")], X, Y), "no operation type"),
        (graph([node("Re\0lu", "x", "y")], X, Y), "impossible operation type"),
        (
            graph([node("Relu", "x", "y")], [helper.make_tensor_sequence_value_info("x", FLOAT, None)], Y),
            r"'x' is of type seq\(tensor\(float\)\)",
        ),
        (graph([node("Relu", "x", "y")], [value("x", None, 14)], Y), r"tensor\(complex64\)"),
        (graph([node("Relu", "x", "y")], [helper.make_empty_tensor_value_info("x")], Y), "type unknown"),
    ],
)
def test_graphs_that_contradict_themselves(tmp_path, content, reason):
    with pytest.raises(ModelFileError, match=reason):
        read(model(content), tmp_path)


def test_an_attribute_twice(tmp_path):
    proto = simple()
    proto.graph.node[0].attribute.extend([helper.make_attribute("a", 1)] * 2)
    with pytest.raises(ModelFileError, match=r"onnx\.Relu 'relu': attribute 'a' is there twice"):
        read(proto, tmp_path)


def nested(levels: int, padding: int) -> GraphProto:
    """Graphs within one another, each with a constant of some bytes beside the next one."""
    inner = branch("leaf", [], "x")
    for _ in range(levels):
        inner = branch("level", [node("If", "x", "z", then_branch=inner, blob=b"a" * padding)], "z")
    return inner


@pytest.mark.parametrize("padding", [0, 2000])
def test_nesting_bombs(tmp_path, padding):
    # Graph, node and attribute are a level each; put together by hand, since protobuf does not write what it would not read.
    content = branch("leaf", [], "x").SerializeToString()
    blob = helper.make_attribute("blob", b"a" * padding).SerializeToString()

    def field(number: int, data: bytes) -> bytes:
        return encode_varint(number << 3 | 2) + encode_varint(len(data)) + data

    for _ in range(500):
        attribute = field(1, b"then_branch") + field(6, content) + b"\xa0\x01\x05"
        content = field(1, field(1, b"x") + field(2, b"z") + field(4, b"If") + field(5, attribute) + field(5, blob))
    with pytest.raises(ModelFileError, match="nested more than"):
        read(b"\x08\x09" + field(8, helper.make_opsetid("", 17).SerializeToString()) + field(7, content), tmp_path)


def test_reasonable_nesting_is_fine(tmp_path):
    proto = model(graph(list(nested(12, 2000).node), X, [value("z")]))
    assert operations(read(proto, tmp_path), "onnx.If")


def test_strings_that_are_no_text(tmp_path):
    content = simple().SerializeToString()
    for mark in (b"Relu", b"relu", b"\x0a\x01x\x12\x01y"):
        at = content.index(mark) + len(mark) - 1
        with pytest.raises(ModelFileError, match=r"UTF-8|defined nowhere|computed by no node"):
            read(content[:at] + b"\xff" + content[at + 1 :], tmp_path)


def mutated(content: bytes, source: random.Random) -> bytes:
    """A copy with one or a few bytes changed, inserted, removed or copied from elsewhere."""
    data = bytearray(content)
    for _ in range(source.choice((1, 1, 1, 3))):
        place, other, length = source.randrange(len(data)), source.randrange(len(data)), source.randrange(1, 20)
        match source.randrange(6):
            case 0:
                data[place] = source.randrange(256)
            case 1:
                data[place] ^= 1 << source.randrange(8)
            case 2:
                data[place:place] = source.randbytes(length)
            case 3:
                del data[place : place + min(length, len(data) - 2)]
            case 4:
                data[place : place + length] = data[other : other + length]
            case _:
                del data[max(2, place) :]
        data = data or bytearray(b"\x08")
    return bytes(data)


@pytest.mark.parametrize("seed", range(3))
def test_mutations_are_read_or_refused(tmp_path: Path, seed: int):
    source = random.Random(seed)
    samples = [rich_model(4).SerializeToString(), rich_model(700).SerializeToString()]
    outcomes = {True: 0, False: 0}
    messages: list[str] = []
    for _ in range(120):
        content = mutated(source.choice(samples), source)
        try:
            read(content, tmp_path)
            outcomes[True] += 1
        except ConversionError as error:
            outcomes[False] += 1
            messages.append(str(error))
    assert all("model.onnx" in message for message in messages)
    assert outcomes[False] > 20
    assert outcomes[True] > 2
