"""Messages read without protobuf's package, against protobuf's."""

import random
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import onnx_ml_pb2

from moir.files.protobuf.message_table import MessageTable
from moir.files.protobuf.messages import ENUM, MAXIMUM_DEPTH, SCALAR_TYPES, Message
from moir.frontends.onnx.messages import MESSAGES

KINDS = (
    "double 1.5, float -0.25, fixed32 7, int64 -5, uint64 18446744073709551615, int32 -3, uint32 4294967295, bool True, string 'é', "
    "bytes b'\\xff', Color 2"
)
VALUES = {name: eval(value) for name, _, value in (each.partition(" ") for each in KINDS.split(", "))}
ROWS = (
    "Every: " + ", ".join(f"{number} {kind.lower()}_ {kind}" for number, kind in enumerate(VALUES, 1)) + "\n"
    "Lists: " + ", ".join(f"{number} {kind.lower()}_ *{kind}" for number, kind in enumerate(VALUES, 1)) + "\n"
    "Node: 1 name string, 2 inner Node, 3 nodes *Node, 4 by_name {Node}, 5 number int64|one, 6 text string|one, 2000 far Node|one\n"
    "Less: 1 name string"
)
TABLE = MessageTable("test", ROWS, {"Color": {0: "RED", 2: "BLUE"}})
LENIENT = MessageTable("lenient", "Text: 1 text string", {}, strict=False)


def both(name: str, **fields: Any) -> tuple[Any, Any]:
    """A message of protobuf, and the same read from its encoding."""
    message = TABLE.message_class(name)(**fields)
    return message, TABLE.reader(name).FromString(message.SerializeToString())


@pytest.mark.parametrize("kind", VALUES)
def test_fields_are_those_of_protobuf(kind: str) -> None:
    field = f"{kind.lower()}_"
    for values in ([VALUES[kind]], [VALUES[kind]] * 100, []):
        message, read = both("Lists", **{field: values})
        assert list(getattr(read, field)) == list(getattr(message, field))
    for fields in ({field: VALUES[kind]}, {}):
        message, read = both("Every", **fields)
        assert getattr(read, field) == getattr(message, field)
        assert type(getattr(read, field)) is type(getattr(message, field))


def test_lists_may_be_packed_or_not() -> None:
    read = TABLE.reader("Lists").FromString(b"\x20\x01\x22\x02\x02\x03\x20" + b"\xff" * 9 + b"\x01")
    assert read.int64_ == [1, 2, 3, -1]


def test_messages_maps_and_oneofs() -> None:
    node = TABLE.message_class("Node")
    message, read = both("Node", inner=node(name="a"), nodes=[node(name="b"), node()], by_name={"c": node(number=0)}, text="d")
    assert read.HasField("inner")
    assert not read.inner.HasField("inner")
    assert [each.name for each in read.nodes] == ["b", ""]
    assert list(read.by_name) == list(message.by_name)
    assert read.by_name["c"].WhichOneof("one") == message.by_name["c"].WhichOneof("one") == "number"
    assert read.by_name["other"].name == ""
    assert "other" not in read.by_name
    assert read.inner.inner.nodes == ()
    assert read.WhichOneof("one") == "text"
    assert read.inner.WhichOneof("one") is None
    with pytest.raises(AttributeError):
        assert read.unknown


def test_what_is_there_twice_is_as_protobuf_has_it() -> None:
    node = TABLE.message_class("Node")
    parts = [node(inner=node(name="a")), node(inner=node(number=1), number=2), node(text="x"), node(far=node(name="far"))]
    encoded = b"".join(part.SerializeToString() for part in parts)
    read, expected = TABLE.reader("Node").FromString(encoded), node.FromString(encoded)
    assert (read.inner.name, read.inner.number) == (expected.inner.name, expected.inner.number) == ("a", 1)
    assert read.WhichOneof("one") == expected.WhichOneof("one") == "far"
    assert not read.HasField("number")
    assert not read.HasField("text")
    assert (read.number, read.text) == (0, "")


def test_unknown_fields_are_skipped() -> None:
    message, _ = both("Every", **{f"{kind.lower()}_": value for kind, value in VALUES.items()})
    encoded = message.SerializeToString() + b"\x0a\x01n"
    # Field 1 is a double in one message, and a string in the other.
    assert TABLE.reader("Less").FromString(encoded).name == "n"


DAMAGED = (b"\x0a", b"\x0a\x05a", b"\x0a\xff", b"\x28", b"\x28\x80", b"\x28" + b"\xff" * 11, b"\x00\x00", b"\x0b", b"\x0a\x01\xff")


@pytest.mark.parametrize("encoded", DAMAGED)
def test_damage_is_an_error(encoded: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        TABLE.reader("Node").FromString(encoded)


def test_nesting_is_limited() -> None:
    encoded = b""
    for _ in range(MAXIMUM_DEPTH + 1):
        encoded = TABLE.message_class("Node")().SerializeToString() + b"\x12" + _length(len(encoded)) + encoded
    with pytest.raises(ValueError, match="nested"):
        TABLE.reader("Node").FromString(encoded)


def _length(size: int) -> bytes:
    return bytes([size & 0x7F | 0x80, size >> 7]) if size > 127 else bytes([size])


def test_text_that_is_not_utf8() -> None:
    assert LENIENT.reader("Text").FromString(b"\x0a\x01\xff").text == b"\xff"


def test_random_bytes_are_read_or_refused_as_by_protobuf() -> None:
    generator = random.Random(1)
    refused = groups = 0
    message, _ = both("Lists", **{f"{kind.lower()}_": [value] * 3 for kind, value in VALUES.items()})
    whole = message.SerializeToString()
    for _ in range(300):
        encoded = bytearray(whole)
        encoded[generator.randrange(len(encoded))] = generator.randrange(256)
        try:
            expected = TABLE.message_class("Lists").FromString(bytes(encoded))
        except Exception:
            refused += 1
            continue
        try:
            read = TABLE.reader("Lists").FromString(bytes(encoded))
        except ValueError:
            groups += 1
            continue
        for field in TABLE.reader("Lists").FIELDS:
            assert np.array_equal(list(getattr(read, field)), list(getattr(expected, field)), equal_nan=field in ("double_", "float_"))
    # Groups, of wire types 3 and 4, are refused here alone: no such file has them.
    assert groups < 10
    assert 0 < refused < 250


def test_the_table_of_onnx_is_that_of_the_package() -> None:
    seen: set[str] = set()

    def compare(kind: type[Message], descriptor: Any) -> None:
        if descriptor.full_name in seen:
            return
        seen.add(descriptor.full_name)
        for field in kind.FIELDS.values():
            given = descriptor.fields_by_name[field.name]
            assert all(kind.TAGS[tag] is field for tag in field.tags(given.number)), field.name
            assert field.repeated == given.is_repeated
            assert (field.oneof or None) == (given.containing_oneof and f"oneof {given.containing_oneof.name}")
            if given.message_type is not None:
                assert field.kind is not None
                compare(field.kind, given.message_type)
            elif field.scalar is not None:
                names = {name for name, scalar in SCALAR_TYPES.items() if scalar is field.scalar}
                number = {"double": 1, "float": 2, "int64": 3, "uint64": 4, "int32": 5, "fixed32": 7, "bool": 8, "uint32": 13}
                assert given.type in {number[name] for name in names} or (given.type == 14 and field.scalar is ENUM)
            else:
                assert given.type == (9 if field.text else 12)

    compare(MESSAGES.reader("ModelProto"), onnx_ml_pb2.ModelProto.DESCRIPTOR)
    assert {"onnx.TensorProto", "onnx.FunctionProto", "onnx.TypeProto.Map"} <= seen
    assert onnx.IR_VERSION
