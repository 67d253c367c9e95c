"""Files that are not IR, are damaged, or are meant to do harm."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from moir import read_model
from moir.errors import ConversionError, ModelFileError
from tests.unit.frontends.openvino_ir.documents import constant, edge, layer, net, port, read, unary, written

SPLIT = '<data num_splits="1000000000"/>'

MALFORMED = [
    (unary("Relu").replace("</net>", ""), "the XML cannot be read"),
    (unary("Relu", net_version="12"), "it is an IR of version '12'; versions 10 and 11 are read"),
    (unary("Relu").replace(' version="11"', ""), "it is an IR of no version"),
    ("<network version='11'></network>", "an XML document, but no OpenVINO IR"),
    (unary("Relu").replace('id="1"', "", 1), "opset1.Relu 'op': a layer has no id"),
    (unary("Relu").replace('<layer id="1"', '<layer id="a"'), "id of <layer> is 'a', not a number"),
    (unary("Relu").replace('<layer id="1"', '<layer id="0"'), "opset1.Relu 'op': its id 0 is that of layer 'x', too"),
    (
        unary("Relu").replace('from-port="0"', 'from-port="7"'),
        "opset1.Parameter 'x': an edge is at port 7, but its output has no such port",
    ),
    (unary("Relu").replace('to-port="0"', 'to-port="7"'), "opset1.Relu 'op': an edge is at port 7, but its input has no such port"),
    (unary("Relu").replace('from-layer="0"', 'from-layer="9"'), "an edge is from layer 9, which does not exist"),
    (unary("Relu").replace('to-layer="2"', 'to-layer="two"'), "to-layer of an edge is 'two', not a number"),
    (re.sub(r"<edge [^>]*>", "", unary("Relu"), count=1), "opset1.Relu 'op': no edge ends at its input 0"),
    (unary("Relu").replace("</edges>", edge((1, 1), (1, 0)) + "</edges>"), "opset1.Relu 'op': two edges end at its input 0"),
    (unary("Relu").replace('from-layer="0" from-port="0"', 'from-layer="1" from-port="1"'), "the graph has a cycle: op -> op"),
    (unary("Relu").replace('from-layer="0" from-port="0"', 'from-layer="2" from-port="0"'), "an output of the model gives no value"),
    (unary("Reluu"), "opset1.Reluu 'op': no operation set has such an operation; did you mean opset1.Relu?"),
    (unary("Gelu"), "opset1.Gelu 'op': opset1 has no such operation; opset7.Gelu is the newest"),
    (unary("Softmax", '<data axis="one"/>'), "opset1.Softmax 'op': axis: 'one' is not an integer"),
    (unary("DepthToSpace", '<data block_size="2" mode="any"/>'), "mode: 'any' is not one of blocks_first, depth_first"),
    (unary("Convert", '<data destination_type="FP32"/>'), "destination_type: 'FP32' is not an element type"),
    (unary("Add"), "opset1.Add 'op'"),
    (unary("Split", SPLIT), "opset1.Split 'op': an operation with 1000000000 outputs is not possible"),
    (unary("Relu", parameter='<data shape="2,x" element_type="f32"/>'), "opset1.Parameter 'x': 'x' is not a dimension"),
    (unary("Relu", parameter='<data shape="2" element_type="FP32"/>'), "opset1.Parameter 'x': 'FP32' is not an element type"),
    (unary("If", version="opset8"), "opset8.If 'op': its then_body is missing"),
    (unary("Loop", "<body><layers/><edges/></body>", version="opset5"), "opset5.Loop 'op': its port map has no entry for output 0"),
    (
        unary("TensorIterator", '<body><layers/><edges/></body><port_map><input external_port_id="0" internal_layer_id="5"/></port_map>'),
        "internal_layer_id of <input> is 5, which is no Parameter of its body",
    ),
    (constant("f32", "2,2", 0, 8), "opset1.Constant|opset1.Const 'c': it has 8 bytes, but f32 of shape .2, 2. needs 16"),
    (constant("f32", "2,?", 0, 8), "'2,\\?' is not a shape of a constant"),
    (constant("f33", "2", 0, 8), "'f33' is not an element type"),
    (constant("f32", "2", -4, 8), "its offset -4 or size 8 is negative"),
    (constant("f32", "2", 12, 8), "bytes 12 to 20 of a constant are outside of the file, which has 16"),
    (constant("f32", "2", 0, 10**30), "offset '0' or size '1000+' is not a number"),
    (constant("f32", "4000000,4000000,4000000", 0, 16), "larger than any memory"),
    (constant("string", "1", 0, 16), "its bytes do not hold 1 strings"),
    (constant("f32", "2", 0, 8).replace(' offset="0"', ""), "its attribute offset is missing"),
]


@pytest.mark.parametrize(("text", "reason"), MALFORMED, ids=[reason[:40] for _, reason in MALFORMED])
def test_a_malformed_file_is_refused_with_a_reason(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(ConversionError, match=reason) as error:
        read(tmp_path, text, bytes(16))
    assert "model." in str(error.value)


def test_weights_that_are_missing(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"model\.bin: the file with the weights is missing; put the \.bin beside the \.xml"):
        read(tmp_path, constant("f32", "2", 0, 8))


def test_weights_that_are_truncated(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match=r"bytes 0 to 8 of a constant are outside of the file, which has 7; the file is truncated"):
        read(tmp_path, constant("f32", "2", 0, 8), bytes(7))


def test_weights_that_nothing_needs(tmp_path: Path) -> None:
    assert repr(read(tmp_path, unary("Relu"))) == "<module m(x: f32[2,3]) -> (y: f32[2,3]); 1 operation: 1 Relu>"


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))


@pytest.mark.parametrize(
    ("prolog", "reason"),
    [
        (f'<!DOCTYPE net [<!ENTITY l0 "ha">{LAUGHS}]>', "a document type, which no IR has"),
        ('<!DOCTYPE net [<!ENTITY secret SYSTEM "file:///etc/passwd">]>', "a document type, which no IR has"),
        ('<?xml version="1.0" encoding="utf-7"?>', "the XML is not in UTF-8"),
        ('<?xml version="1.0" encoding="cp037"?>', "the XML is not in UTF-8"),
    ],
)
def test_entities_are_not_expanded(tmp_path: Path, prolog: str, reason: str) -> None:
    path = written(tmp_path, prolog + "<net " + unary("Relu").removeprefix("<net ").replace('name="m"', 'name="&l9;"'))
    with pytest.raises(ModelFileError, match=f"{reason}|an XML document, but no OpenVINO IR"):
        read_model(path)
    from moir.frontends.openvino_ir import read_model as read_ir

    with pytest.raises(ModelFileError, match=reason):
        read_ir(path)


def test_other_encodings(tmp_path: Path) -> None:
    path = written(tmp_path, "")
    path.write_bytes(unary("Relu").encode("utf-16"))
    with pytest.raises(ModelFileError):
        read_model(path)


@pytest.mark.parametrize("element", ["layers", "rt_info"])
def test_deep_nesting(tmp_path: Path, element: str) -> None:
    depth = 200_000
    with pytest.raises(ModelFileError, match="nested more than 512 deep"):
        read(tmp_path, f'<net name="m" version="11">{f"<{element}>" * depth}{f"</{element}>" * depth}</net>')


def test_bodies_in_bodies(tmp_path: Path) -> None:
    text = "<layers/><edges/>"
    for _ in range(30):
        text = f"<layers>{layer(0, 'If', f'<then_body>{text}</then_body><else_body/>', version='opset8', ins=port(0))}</layers><edges/>"
    with pytest.raises(ModelFileError, match=r"opset8\.If 'n0': no edge ends at its input 0"):
        read(tmp_path, f'<net name="m" version="11">{text}</net>')


VALUES = (
    "",
    "-1",
    "0",
    "1",
    "7",
    "99999999999",
    "abc",
    "1,2",
    "f16",
    "i64",
    "string",
    "dynamic",
    "true",
    "?",
    "...",
    "1..3",
    "nan",
    "1e400",
)


def test_mutated_files_are_read_or_refused(tmp_path: Path) -> None:
    """A fixed sequence of changes of attributes, lines and types; nothing but errors that say what is wrong."""
    generator = random.Random(12)
    text = unary("Softmax", '<data axis="1"/><rt_info><attribute name="a" version="0"/></rt_info>', outs=2)
    text = text.replace(
        "</layers>", layer(3, "Const", '<data element_type="f32" shape="2" offset="0" size="8"/>', outs=port(0)) + "</layers>"
    )
    outcomes = set[bool]()
    for _ in range(400):
        places = list(re.finditer(r'[\w-]+="([^"]*)"', text))
        place = generator.choice(places)
        if generator.random() < 0.8:
            changed = text[: place.start(1)] + generator.choice(VALUES) + text[place.end(1) :]
        else:
            changed = text[: place.start()] + text[place.end() :]
        try:
            outcomes.add(bool(read(tmp_path, changed, bytes(8))))
        except ConversionError:
            outcomes.add(False)
    assert outcomes == {True, False}


def test_a_model_with_no_layers(tmp_path: Path) -> None:
    assert repr(read(tmp_path, net([], []))) == "<module m() -> (); 0 operations>"
