"""`#moir.data`: the value of a constant, a read-only view of memory that another object owns.

A weight is never copied on its way from the model file to the `.bin`: the attribute wraps a numpy array over the memory
map of the file (possibly strided: a transposed weight is a view), or a `ComputedArray` of such arrays. Printing elides
it beyond 64 bytes, unless the printer writes a side file.

Text forms, `T` a static tensor type:

    #moir.data<T, [1, 2, 3]>             small values, flat in C order (hexadecimal bytes for packed element types)
    #moir.data<T, "weights.bin", 4096>   bytes at an offset of a side file beside the text
    #moir.data<T, elided "9f3c…">        value left out; it can be inspected, not computed with or emitted
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition

from moir.dialects import element_types
from moir.dialects.large_arrays import ComputedArray, Values, same_bytes, windows
from moir.dialects.memory_map import Array
from moir.dialects.shapes import tensor
from moir.errors import ConversionError

if TYPE_CHECKING:
    from xdsl.parser import AttrParser
    from xdsl.printer import Printer

INLINE_BYTES = 64


class SideFileWriter(Protocol):
    """The interface of a printer's attribute `weights`: a store for data that is too large for the text."""

    def store(self, data: DataAttr) -> tuple[str, int]:
        """Store the bytes of `data`; returns the name of the file and the offset in it, in bytes."""
        ...


class SideFileReader(Protocol):
    """The interface of a context's attribute `weights`: access of the parser to side files."""

    def load(self, file_name: str, offset: int, size: int) -> Array:
        """The `size` bytes at `offset` (bytes) of a side file, as an array of uint8 [size].

        Raises ConversionError if the file or the bytes are missing.
        """
        ...


class TensorData:
    """Shape, element type and storage of a constant.

    Args:
        values: the elements. For packed element types the bytes (uint8) in C order; None if elided.
        element: element type.
        shape: shape of the constant (differs from the array's only for packed element types).
    """

    __slots__ = ("_hash", "_windows", "element", "key", "shape", "values")

    def __init__(self, values: Values | None, element: Attribute, shape: tuple[int, ...], key: str = "") -> None:
        self.values = values
        self.element = element
        self.shape = shape
        self.key = key
        self._hash: int | None = None
        self._windows: bytes | None = None

    @property
    def windows(self) -> bytes:
        """A few 64-byte windows of the elements, read once. The elements are neither elided nor strings."""
        if self._windows is None:
            assert self.values is not None
            self._windows = windows(self.values)
        return self._windows

    @property
    def array(self) -> Array | None:
        """The elements as an array; None if they are elided.

        If they are a computed array, each call computes them anew.
        """
        return None if self.values is None else np.asarray(self.values)

    def __hash__(self) -> int:
        """Hash of element type, shape and a few 64-byte windows of the value."""
        if self._hash is None:
            self._hash = hash((self.element, self.shape, self.key if self.values is None else sample(self)))
        return self._hash

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, TensorData) or self.shape != other.shape or self.element != other.element:
            return False
        if self.values is None or other.values is None:
            return self.values is other.values and self.key == other.key
        if self.values is other.values:
            return True
        return hash(self) == hash(other) and equal(self.values, other.values)


def sample(data: TensorData) -> bytes:
    """Bytes that are equal for equal values: the size of a value, which is not elided, and a few windows of its
    bytes.
    """
    assert data.values is not None
    if data.values.dtype == object:
        return repr(np.asarray(data.values).ravel().tolist()).encode()
    return data.windows + struct.pack("<q", data.values.nbytes)


def equal(a: Values, b: Values) -> bool:
    """Whether two arrays of one shape and type are equal bit by bit, so that -0.0 is not 0.0 and a NaN equals
    itself.
    """
    return np.asarray(a).ravel().tolist() == np.asarray(b).ravel().tolist() if a.dtype == object else same_bytes(a, b)


@irdl_attr_definition
class DataAttr(Data[TensorData]):
    """The value of a constant.

    Equality compares identity, then element type, shape and sampled hash, then all bytes.
    """

    name = "moir.data"

    @staticmethod
    def of(array: Values | float | Iterable[Any], element: Attribute | None = None, shape: Iterable[int] | None = None) -> DataAttr:
        """Wrap an array without a copy; any other value is converted to an array.

        Args:
            array: values; the packed bytes if `element` is a packed type, for which `shape` is required.
            element: element type, by default that of the array.
            shape: shape, by default that of the array.
        """
        dtype = None if element is None else element_types.to_numpy(element)
        if isinstance(array, ComputedArray):
            values: Values = array if dtype is None else array.astype(dtype)
        else:
            values = np.asarray(array, dtype=dtype)
        element = element_types.from_numpy(values.dtype) if element is None else element
        if values.dtype.kind in "US":
            values = values.astype(np.dtype(object))
        return DataAttr(TensorData(values, element, values.shape if shape is None else tuple(shape)))

    @property
    def values(self) -> Values:
        """The elements (for packed types their bytes), which may not be computed yet.

        Raises ConversionError if the text from which the constant was parsed elides them.
        """
        if self.data.values is None:
            raise ConversionError(
                f"the value of a constant of shape {list(self.data.shape)} was left out of the text",
                hint="print with --weights-file FILE (moir-opt) or --dump-ir DIR (moir) to keep the values",
            )
        return self.data.values

    @property
    def array(self) -> Array:
        """All elements as an array, see `values`; large ones that are not computed yet are computed for each call."""
        return np.asarray(self.values)

    @property
    def element(self) -> Attribute:
        """Element type."""
        return self.data.element

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the constant."""
        return self.data.shape

    @property
    def nbytes(self) -> int:
        """Size in the `.bin` in bytes; for strings their number of characters, without count and offsets."""
        row = element_types.describe(self.data.element)
        if row.bits == 0:
            return sum(len(str(item)) for item in self.array.ravel())
        return row.storage(math.prod(self.data.shape))

    def contiguous_bytes(self) -> memoryview:
        """The bytes as written to a `.bin`: little endian, in C order; a copy only if the array is strided."""
        if self.data.element == element_types.string:
            return memoryview(pack_strings([str(item) for item in self.array.ravel()]))
        return np.ascontiguousarray(self.array).reshape(-1).view(np.uint8).data if self.array.size else memoryview(b"")

    def print_parameter(self, printer: Printer) -> None:
        weights: SideFileWriter | None = getattr(printer, "weights", None)
        # Side files hold no strings, so strings that must not be elided are printed in the text.
        with printer.in_angle_brackets():
            printer.print_attribute(tensor(self.data.shape, self.data.element))
            printer.print_string(", ")
            if self.data.values is None:
                printer.print_string(f'elided "{self.data.key}"')
            elif self.nbytes <= INLINE_BYTES or (weights is not None and self.data.element == element_types.string):
                printer.print_string(_inline(self.array))
            elif weights is not None:
                file_name, offset = weights.store(self)
                printer.print_string(f'"{file_name}", {offset}')
            else:
                import hashlib

                printer.print_string(f'elided "{hashlib.sha1(sample(self.data)).hexdigest()[:12]}"')

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> TensorData:
        with parser.in_angle_brackets():
            type_ = parser.parse_type()
            if not isinstance(type_, TensorType):
                parser.raise_error("the type of #moir.data is a ranked tensor type")
            element, shape = cast("TensorType[Attribute]", type_).element_type, type_.get_shape()
            if not element_types.is_element_type(element) or min(shape, default=0) < 0:
                parser.raise_error("the type of #moir.data has a static shape and an element type of OpenVINO IR")
            parser.parse_punctuation(",")
            if parser.parse_optional_keyword("elided"):
                return TensorData(None, element, shape, parser.parse_str_literal())
            if (file_name := parser.parse_optional_str_literal()) is not None:
                parser.parse_punctuation(",")
                offset = parser.parse_integer(allow_boolean=False)
                return _load(parser, file_name, offset, element, shape)
            return _parse_inline(parser, element, shape)


def _storage_size(element: Attribute, shape: tuple[int, ...]) -> int:
    return element_types.describe(element).storage(math.prod(shape))


def _load(parser: AttrParser, file_name: str, offset: int, element: Attribute, shape: tuple[int, ...]) -> TensorData:
    reader = cast("SideFileReader | None", getattr(parser.ctx, "weights", None))
    if reader is None or element == element_types.string:
        parser.raise_error(f"this tool reads no side file of weights ({file_name!r}); use moir-opt")
    position = parser.pos
    try:
        raw = reader.load(file_name, offset, _storage_size(element, shape))
    except ConversionError as error:
        parser.raise_error(str(error), position)
    row = element_types.describe(element)
    return TensorData(raw if row.is_packed else raw.view(row.numpy).reshape(shape), element, shape)


_PLAIN = frozenset(range(0x20, 0x7F)) - frozenset(b'"\\')
"""The ASCII codes of the characters that need no escaping in a string."""


def _format_string(text: str) -> str:
    """A string literal for the text form; all characters but plain ASCII are written in hexadecimal, as xDSL does."""
    return f'"{"".join(chr(byte) if byte in _PLAIN else f"{chr(92)}{byte:02X}" for byte in text.encode())}"'


def _format_element(value: Any, dtype: np.dtype[Any]) -> str:
    if dtype.kind == "O":
        return _format_string(str(value))
    if dtype.kind == "b":
        return "true" if value else "false"
    if dtype.kind in "iu":
        return str(int(value))
    if not math.isfinite(float(value)):
        # The bits are printed, since there are many NaN values.
        return f"0x{int.from_bytes(np.asarray(value).tobytes(), 'little'):0{2 * dtype.itemsize}X}"
    return decimal(str(value))


def decimal(text: str) -> str:
    """A decimal number in the syntax that the lexer has for floats: with a decimal point, also if there is an
    exponent.
    """
    mantissa, mark, exponent = text.partition("e")
    return f"{mantissa}{'' if '.' in mantissa else '.0'}{mark}{exponent}"


def _inline(array: Array) -> str:
    """The elements of an array as text, from which parsing restores each bit."""
    return f"[{', '.join(_format_element(value, array.dtype) for value in array.ravel())}]"


def _parse_inline(parser: AttrParser, element: Attribute, shape: tuple[int, ...]) -> TensorData:
    row = element_types.describe(element)
    dtype = row.numpy

    def parse_element() -> Any:
        if dtype.kind == "O":
            return parser.parse_str_literal()
        if dtype.kind == "b":
            return parser.parse_boolean()
        if dtype.kind in "iu":
            return parser.parse_integer(allow_boolean=False)
        start = parser.pos
        value = parser.parse_number(allow_boolean=False)
        # Hexadecimal digits are the bits of a value, which need not be finite.
        is_bits = isinstance(value, int) and parser.lexer.input.content.startswith("0x", start)
        return value if is_bits else float(value)

    position = parser.pos
    values = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parse_element)
    expected = _storage_size(element, shape) if row.is_packed else math.prod(shape)
    if len(values) != expected:
        parser.raise_error(f"{expected} values expected, {len(values)} given", position)
    if row.is_packed:
        return TensorData(np.array(values, dtype=np.uint8), element, shape)
    if dtype.kind in "fV":
        bits = np.dtype(f"u{dtype.itemsize}")
        cells = [np.array(v, bits).view(dtype) if isinstance(v, int) else np.array(v, dtype) for v in values]
        return TensorData(np.array(cells, dtype=dtype).reshape(shape), element, shape)
    # numpy 1 wraps integers that do not fit.
    if dtype.kind in "iu" and not all(np.iinfo(dtype).min <= value <= np.iinfo(dtype).max for value in values):
        parser.raise_error(f"a value does not fit {row.xml}", position)
    return TensorData(np.array(values, dtype=dtype).reshape(shape), element, shape)


def pack_strings(strings: list[str]) -> bytes:
    """Strings in the form in which an IR stores them: their count, their offsets (count + 1 integers of 32 bits), and
    their UTF-8 bytes.
    """
    encoded = [text.encode() for text in strings]
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in encoded], dtype=np.int64)]).astype("<i4")
    return struct.pack("<i", len(strings)) + offsets.tobytes() + b"".join(encoded)
