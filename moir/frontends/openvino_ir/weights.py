"""The `.bin` of an IR: constants are views of its memory map."""

from __future__ import annotations

import math
import mmap
from pathlib import Path

import numpy as np
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.data import Array, DataAttr, TensorData
from moir.dialects.shapes import impossibility
from moir.errors import ModelFileError
from moir.files.reading import map_file


class WeightsFile:
    """The `.bin` beside an `.xml`. It is opened for the first constant with bytes.

    Args:
        path: the file, which need not exist if no constant has bytes.
        model: the `.xml`.
    """

    def __init__(self, path: Path, model: Path) -> None:
        self.path = path
        self._model = model
        self._map: mmap.mmap | None = None

    def constant(self, element: Attribute, shape: tuple[int, ...], offset: int, size: int) -> DataAttr:
        """A constant.

        Args:
            element: its element type.
            shape: its shape.
            offset: the position of its first byte in the file.
            size: the number of its bytes; surplus bytes are permitted and ignored.

        Raises ModelFileError if the bytes are not in the file, or contradict type and shape.
        """
        if reason := impossibility(shape):
            raise ModelFileError(reason)
        row = element_types.describe(element)
        if element == element_types.string:
            return self._strings(shape, offset, size)
        if row.bits == 0:
            raise ModelFileError("a constant has no element type")
        needed = row.storage(math.prod(shape))
        if size < needed:
            raise ModelFileError(f"it has {size} bytes, but {row.xml} of shape {list(shape)} needs {needed}")
        raw = self._bytes(offset, size)[:needed]
        if row.is_packed:
            return DataAttr(TensorData(raw, element, shape))
        if element == element_types.boolean and raw.size and raw.max() > 1:
            # Any byte but 0 is true, but numpy expects 1.
            raw = (raw != 0).view(np.uint8)
        return DataAttr(TensorData(raw.view(row.numpy).reshape(shape), element, shape))

    def _strings(self, shape: tuple[int, ...], offset: int, size: int) -> DataAttr:
        raw = self._bytes(offset, size)
        count = math.prod(shape)
        texts = unpacked_strings(raw, count) if count or size else []
        array = np.empty(count, dtype=object)
        array[:] = texts
        return DataAttr(TensorData(array.reshape(shape), element_types.string, shape))

    def _bytes(self, offset: int, size: int) -> Array:
        """Bytes of the file, an array of uint8 [size]. Raises ModelFileError if they are not in it."""
        if offset < 0 or size < 0:
            raise ModelFileError(f"its offset {offset} or size {size} is negative")
        if size == 0:
            return np.empty(0, dtype=np.uint8)
        if self._map is None:
            if not self.path.exists():
                hint = "put the .bin beside the .xml, under the same name"
                raise ModelFileError("the file with the weights is missing", location=str(self.path), hint=hint)
            self._map = map_file(self.path, self._model)
        length = 0 if self._map is None else len(self._map)
        if self._map is None or offset + size > length:
            raise ModelFileError(
                f"bytes {offset} to {offset + size} of a constant are outside of the file, which has {length}",
                location=str(self.path),
                hint="the file is truncated or belongs to another .xml; copy or download both again",
            )
        return np.frombuffer(self._map, np.uint8, size, offset)


def unpacked_strings(raw: Array, count: int) -> list[str]:
    """The strings in bytes as OpenVINO stores them: their count, the offset of each and of the end, then their
    characters.

    Args:
        raw: the bytes.
        count: the number of strings that the shape asks for.

    Raises ModelFileError if the bytes contradict themselves or the number, or are not in UTF-8.
    """
    header = 4 * (count + 2)
    numbers = raw[:header].copy().view("<i4") if raw.size >= header else np.empty(0, "<i4")
    if not numbers.size or numbers[0] != count:
        raise ModelFileError(f"its bytes do not hold {count} strings")
    offsets = numbers[1:].astype(np.int64)
    if offsets[0] != 0 or np.any(np.diff(offsets) < 0) or header + int(offsets[-1]) > raw.size:
        raise ModelFileError("the lengths of its strings are contradictory")
    characters = raw[header:].tobytes()
    try:
        return [characters[start:stop].decode() for start, stop in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
    except UnicodeDecodeError as error:
        raise ModelFileError("one of its strings is not in UTF-8") from error
