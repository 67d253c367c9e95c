"""Messages in protobuf's encoding, compared with protobuf's own parser."""

from __future__ import annotations

import numpy as np
import onnx
import pytest

from moir.emit.onnx.encoding import MessageWriter, varint


def encoded(message: MessageWriter) -> bytes:
    """The bytes of a message."""
    parts: list[bytes] = []
    message.write(lambda piece: parts.append(bytes(piece)))
    content = b"".join(parts)
    assert len(content) == message.size
    return content


@pytest.mark.parametrize("value", [0, 1, 127, 128, 300, 1 << 40, (1 << 63) - 1, -1, -(1 << 63)])
def test_integers(value: int) -> None:
    message = MessageWriter()
    message.integer(3, value)
    assert onnx.AttributeProto.FromString(encoded(message)).i == value


def test_the_length_of_a_negative_number() -> None:
    assert len(varint(-1)) == 10
    assert varint(1) == b"\x01"


@pytest.mark.parametrize(("value", "stored"), [(0.1, np.float32(0.1)), (-2.5, -2.5), (1e300, np.inf)])
def test_floats(value: float, stored: float) -> None:
    message = MessageWriter()
    message.number(2, value)
    assert onnx.AttributeProto.FromString(encoded(message)).f == stored


def test_lists() -> None:
    message = MessageWriter()
    message.integers(8, [1, -1, 1 << 40])
    message.numbers(7, [0.5, -2])
    message.text(9, "é")
    parsed = onnx.AttributeProto.FromString(encoded(message))
    assert list(parsed.ints) == [1, -1, 1 << 40]
    assert list(parsed.floats) == [0.5, -2]
    assert [text.decode() for text in parsed.strings] == ["é"]


@pytest.mark.parametrize("shape", [(0,), (3, 5), (700, 900)])
def test_elements_are_in_c_order(shape: tuple[int, ...]) -> None:
    values = np.arange(np.prod(shape), dtype=np.float32).reshape(shape[::-1]).T
    tensor, attribute = MessageWriter(), MessageWriter()
    tensor.integers(1, values.shape)
    tensor.integer(2, onnx.TensorProto.FLOAT)
    tensor.elements(9, values)
    attribute.message(5, tensor)
    parsed = onnx.AttributeProto.FromString(encoded(attribute))
    np.testing.assert_array_equal(onnx.numpy_helper.to_array(parsed.t), values)
