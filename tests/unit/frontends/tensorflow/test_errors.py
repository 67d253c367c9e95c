"""Files that are not TensorFlow graphs, or are damaged; graphs as text."""

from __future__ import annotations

import random
import tracemalloc

import numpy as np
import pytest
from google.protobuf import text_format

from moir.errors import ConversionError, ModelFileError
from moir.files.protobuf.wire import Splitter
from moir.frontends.tensorflow import read_model
from moir.frontends.tensorflow import reading as reading_module
from moir.frontends.tensorflow.messages import message_class, parse
from moir.frontends.tensorflow.wire_schema import GRAPH_FORMAT
from tests.unit.frontends.tensorflow.samples import (
    FLOAT,
    Call,
    Shape,
    constant,
    function,
    graph,
    names,
    node,
    operations,
    placeholder,
    read,
    the,
)


def rich():
    """A graph with all kinds of content."""
    body = function("body", "i v", "r s", [constant("one", 1), node("a", "Add", "i one:output:0")], {"r": "a:z:0", "s": "v"})
    cond = function("cond", "i v", "r:BOOL", [constant("n", np.arange(400)), node("l", "Less", "i n:output:0")], {"r": "l:z:0"})
    nodes = [
        placeholder("x"),
        constant("w", np.arange(500)),
        node("c", "Conv2D", "x w", strides=[1, 1, 1, 1], padding="SAME", T=FLOAT, shapes=[Shape([2]), Shape(None)]),
        node("loop", "While", "c x", body=Call("body"), cond=Call("cond")),
        node("e", "Enter", "loop:1", frame_name="f"),
        node("m", "Merge", "e n"),
        node("s", "Switch", "m m"),
        node("n", "NextIteration", "s:1"),
        node("y", "Exit", "s ^loop"),
    ]
    return graph(*nodes, functions=[body, cond])


def test_a_small_graph_is_its_own_skeleton(tmp_path):
    content = graph(placeholder("x"), constant("w", 1)).SerializeToString()
    skeleton = Splitter(tmp_path, memoryview(content), GRAPH_FORMAT).split()
    assert (skeleton.data, skeleton.payloads) == (content, [])


def test_large_payloads_are_taken_out(tmp_path):
    content = rich().SerializeToString()
    skeleton = Splitter(tmp_path, memoryview(content), GRAPH_FORMAT).split()
    assert len(skeleton.data) < 1800 < 3600 < len(content)
    expected = [np.arange(500, dtype=np.float32).tobytes(), np.arange(400, dtype=np.float32).tobytes()]
    assert [content[payload.offset : payload.offset + payload.size] for payload in skeleton.payloads] == expected
    parsed = message_class("GraphDef").FromString(skeleton.data)
    assert [each.name for each in parsed.node] == [each.name for each in rich().node]
    assert parsed.node[1].attr["value"].tensor.payload_mark == f"{skeleton.key}:0"


def test_notes_for_debuggers_are_left_out(tmp_path):
    content = graph(placeholder("x"), node("y", "Abs", "x")).SerializeToString()
    debug_info = bytes([5 << 3 | 2, 0x80, 0x40]) + bytes(0x2000)
    skeleton = Splitter(tmp_path, memoryview(content + debug_info), GRAPH_FORMAT).split()
    assert skeleton.data == content
    assert names(read(content + debug_info, tmp_path), "tf.Abs") == ["y"]


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        (b"", "model.pb", "the file is empty"),
        (b"", "model.pbtxt", "the file is empty"),
        (b"PK\x03\x04" + bytes(30), "model.pb", "this is a zip archive; unpack it"),
        (
            b"version https://git-lfs.github.com/spec/v1\noid",
            "model.pb",
            "this is a pointer of Git LFS; the file itself was not downloaded; run git lfs pull",
        ),
        (
            b"version https://git-lfs.github.com/spec/v1\noid",
            "model.pbtxt",
            "this is a pointer of Git LFS; the file itself was not downloaded; run git lfs pull",
        ),
        (b"\x08\x01\x12\x80\x02\x0a", "model.pb", "offset 2: a field of 256 bytes is truncated"),
        (b'node {\n  name: "x"\n  op: 7\n}\n', "model.pb", "model.pb, line 3: not a TensorFlow graph as text: "),
        (b"<html></html>", "model.pb", "this is an HTML page; the download failed"),
        (bytes(100), "model.pb", "this is a file of zeros; copy or download it again"),
        (b"\x0a\x04\x0a\x01x\xff", "model.pb", "offset 5: truncated field tag; the file is damaged or not a TensorFlow graph"),
        (b"\x0a\x05\x0a\x01x", "model.pb", "offset 0: a field of 5 bytes is truncated: the file ends after 3 of them"),
        (b"\x0d\0\0\0\0", "model.pb", "not a TensorFlow graph: node of GraphDef is of another kind"),
        (b"\x0a\x03\x0a\x01\xff", "model.pb", "its protobuf encoding is invalid"),
        (b'node {\n  name: "x"\n  op 7\n}\n', "model.pbtxt", "model.pbtxt, line 3: not a TensorFlow graph as text: "),
        (b'node {\n  name: "\xff"\n}\n', "model.pbtxt", "model.pbtxt, offset 16: text that is not in UTF-8"),
        (b"node { name: 7 }", "model.pbtxt", "model.pbtxt, line 1: not a TensorFlow graph as text: "),
    ],
)
def test_other_files(tmp_path, content, name, message):
    with pytest.raises(ModelFileError) as caught:
        read(content, tmp_path, name)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(ModelFileError, match="cannot be read: No such file"):
        read_model(tmp_path / "model.pb")


def test_options_of_other_kinds_of_models(tmp_path):
    (tmp_path / "model.pb").write_bytes(graph(placeholder("x")).SerializeToString())
    with pytest.raises(ConversionError, match="a graph has no signature"):
        read_model(tmp_path / "model.pb", signature="serving_default")
    with pytest.raises(ConversionError, match="a graph has no tags"):
        read_model(tmp_path / "model.pb", tags=["serve"])
    with pytest.raises(ConversionError, match="a SavedModel has its own checkpoint"):
        read_model(tmp_path, checkpoint=tmp_path)


def test_graphs_as_text(tmp_path):
    content = rich()
    text = text_format.MessageToString(content) + 'debug_info { unknown_field: 3 files: "a" }\n'
    binary, textual = read(content, tmp_path), read(text.encode(), tmp_path, "model.pbtxt")
    assert [op.name for op in operations(binary)] == [op.name for op in operations(textual)]
    data = the(textual, "opset1.Constant").properties["value"].array
    assert np.array_equal(data, np.arange(500))


def test_text_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(reading_module, "MAXIMUM_TEXT_BYTES", 1 << 20)
    with pytest.raises(ModelFileError, match=r"more than 1 MB of text; convert it to a binary \.pb"):
        read(b"# " + b"x" * (1 << 20), tmp_path, "model.pbtxt")


def test_deeply_nested_text(tmp_path):
    depth = 20_000
    text = b"library { function { attr { value { func { attr { value { " * depth + b"} } } } } } } " * depth
    with pytest.raises(ModelFileError, match=r"model.pbtxt"):
        read(text, tmp_path, "model.pbtxt")


def test_deeply_nested_messages(tmp_path):
    content = b""
    for _ in range(300):
        content = message_class("NameAttrList")(name="f").SerializeToString() + _field(2, _field(1, b"a") + _field(2, _field(10, content)))
    with pytest.raises(ModelFileError, match="nested"):
        read(_field(1, _field(1, b"x") + _field(2, b"Y") + _field(5, _field(1, b"a") + _field(2, _field(10, content)))), tmp_path)


def _field(number: int, content: bytes) -> bytes:
    """A field of variable length."""
    size = len(content)
    encoded = bytearray()
    while size >= 0x80:
        encoded.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes([number << 3 | 2, *encoded, size]) + content


def outcome(content, tmp_path):
    """The error reading a file gives, "" for none; any other exception is passed on."""
    try:
        read(content, tmp_path)
    except ConversionError as error:
        return str(error)
    return ""


def test_truncations(tmp_path):
    """A file that ends after its first node is a graph of one placeholder; any other beginning is an error."""
    graph = rich()
    content, first = graph.SerializeToString(), len(_field(1, graph.node[0].SerializeToString()))
    errors = {size: outcome(content[:size], tmp_path) for size in [*range(1, 300), *range(300, len(content), 47)]}
    assert errors.pop(first) == ""
    assert all("model.pb" in error and "\n" not in error for error in errors.values())


def test_changed_bytes(tmp_path):
    source = random.Random(11)
    content = rich().SerializeToString()
    errors: list[str] = []
    tracemalloc.start()
    for _ in range(120):
        changed = bytearray(content)
        for _ in range(source.randrange(1, 4)):
            changed[source.randrange(len(changed))] = source.randrange(256)
        errors.append(outcome(bytes(changed), tmp_path))
    assert tracemalloc.get_traced_memory()[1] < 200 << 20
    tracemalloc.stop()
    assert not any("\n" in error for error in errors)
    assert 10 < errors.count("") < 110


def test_damaged_messages_are_errors(tmp_path):
    assert parse("SaverDef", b"\x1a\x01r", tmp_path, "the saver").restore_op_name == "r"
    with pytest.raises(ModelFileError, match="the saver is damaged: its protobuf encoding is invalid"):
        parse("SaverDef", b"\x1a\x05r", tmp_path, "the saver")
