"""The weights of a TensorFlow.js model: the groups of a `weightsManifest`, and the files with their bytes.

    [{"paths": ["group1-shard1of2.bin", "group1-shard2of2.bin"],
      "weights": [{"name": "dense/kernel", "shape": [4, 3], "dtype": "float32",
                   "quantization": {"dtype": "uint8", "scale": 0.01, "min": -1.2}}]}]

The files of a group, one after the other, hold its weights one after the other. A quantized weight is codes · scale +
min, one in float16 has neither. Strings follow their lengths (uint32), elements of complex64 are pairs.

Source: tfjs-core/src/io/types.ts and io_utils.ts of TensorFlow.js 4.22.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any, cast

import numpy as np
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.data import Array, DataAttr, TensorData
from moir.dialects.large_arrays import Values, computed
from moir.dialects.shapes import impossibility
from moir.errors import ModelFileError
from moir.files.json_fields import Fields
from moir.files.reading import ModelFolder, is_present, map_file
from moir.support.records import Record

MAXIMUM_FILES = 1 << 16
"""Largest number of files of a model."""
MAXIMUM_WEIGHTS = 1 << 20
"""Largest number of weights of a model."""
_MAXIMUM_RANK = 64
_LONGEST_PATH = 1024
_SHOWN = 200
"""The largest number of characters of a path or a name in a message."""
_LENGTH = 4
"""The size in bytes of the length that precedes a string."""

_HINT = "copy the folder of the model again, with all files that its model.json names"

_STORED: dict[str, tuple[str, Attribute]] = {
    "float32": ("<f4", element_types.f32),
    "float16": ("<f2", element_types.f16),
    "int32": ("<i4", element_types.si32),
    "uint8": ("<u1", element_types.ui8),
    "uint16": ("<u2", element_types.ui16),
    "bool": ("<u1", element_types.boolean),
    "complex64": ("<f4", element_types.f32),
}
"""The types of weights: the numpy type in the files, and the element type."""

_CODES = {"uint8": "<u1", "uint16": "<u2"}
"""The types of quantized weights, with the numpy type of the codes in the files."""


class Weight(Record):
    """A weight.

    Args:
        dtype: its type as the manifest names it: `float32`, `complex64`, ….
        shape: its shape.
        data: its value, dequantized; of a complex weight, with a further dimension of size 2.
    """

    dtype: str
    shape: tuple[int, ...]
    data: DataAttr


def read_weights(manifest: Any, path: Path) -> dict[str, Weight]:
    """The weights of a model by their names, without those that belong to an optimizer.

    Args:
        manifest: the `weightsManifest`.
        path: the file of the model, in whose folder the files of the weights are.

    Raises ModelFileError if a file is missing, too short or outside of the folder, and for an entry that is damaged.
    """
    if not isinstance(manifest, list):
        raise ModelFileError("its weightsManifest is not a list; the file is damaged", location=str(path))
    weights: dict[str, Weight] = {}
    holder = Fields({"weightsManifest": manifest}, "the model", str(path), _HINT)
    opened: set[str] = set()
    groups = cast("list[object]", manifest)
    if len(groups) > MAXIMUM_FILES:
        raise ModelFileError(f"its weightsManifest has {len(groups)} groups; the file is damaged", location=str(path))
    for group in holder.objects("weightsManifest"):
        reader = GroupReader(_paths(group, opened), path)
        for entry in group.objects("weights"):
            name = entry.text("name")
            if name in weights or len(weights) >= MAXIMUM_WEIGHTS:
                raise entry.error(f"there are two weights {name[:_SHOWN]!r}" if name in weights else "there are too many weights")
            weight = reader.next(entry, name)
            if entry.text("group", "model") != "optimizer":
                weights[name] = weight
    return weights


def _paths(group: Fields, opened: set[str]) -> list[str]:
    """The paths of the files of a group.

    They are added to `opened`, the files of earlier groups; ModelFileError is raised if one repeats.
    """
    paths: list[str] = []
    for each in group.list("paths"):
        if not isinstance(each, str):
            raise group.error("a path is not a string")
        if "://" in each:
            raise group.error(f"the weights are at the address {each[:_SHOWN]!r}; download them into the folder of the model")
        if not each or len(each) > _LONGEST_PATH or "\0" in each or ModelFolder.is_absolute(each) or ModelFolder.leads_upward(each):
            raise group.error(f"the path {each[:_SHOWN]!r} does not lead to a file in the folder of the model")
        if each in opened or len(opened) >= MAXIMUM_FILES:
            raise group.error(f"the file {each!r} is named twice" if each in opened else "there are too many files")
        opened.add(each)
        paths.append(each)
    return paths


class GroupReader:
    """Reads the weights of a group in their order.

    Args:
        paths: the files of the group, relative to the folder of the model.
        path: the file of the model.
    """

    def __init__(self, paths: list[str], path: Path) -> None:
        self._paths = paths
        self._files = [_content(path, each) for each in paths]
        *starts, self._size = accumulate((file.size for file in self._files), initial=0)
        self._starts = list(starts)
        self._offset = 0

    def next(self, entry: Fields, name: str) -> Weight:
        """The next weight, described by `entry` of the manifest.

        Raises ModelFileError if the files are too short for it.
        """
        entry = Fields(entry.content, f"the weight {name[:_SHOWN]!r}", entry.location, entry.hint)
        dtype = entry.text("dtype")
        shape = _shape(entry)
        if dtype == "string":
            values: Values = self._strings(math.prod(shape), entry).reshape(shape)
            return Weight(dtype, shape, DataAttr(TensorData(values, element_types.string, shape)))
        if dtype not in _STORED:
            raise entry.error(f"the type {dtype[:_SHOWN]!r} is none of {', '.join((*_STORED, 'string'))}")
        stored, element = _STORED[dtype]
        full_shape = (*shape, 2) if dtype == "complex64" else shape
        if entry.content.get("quantization") is not None:
            values = self._dequantized(entry.fields("quantization"), dtype, full_shape, entry)
        else:
            values = self._array(stored, full_shape, entry)
            if dtype == "bool":
                values = computed(_truth, values)
        return Weight(dtype, shape, DataAttr(TensorData(values, element, full_shape)))

    def _array(self, stored: str, shape: tuple[int, ...], entry: Fields) -> Array:
        size = math.prod(shape) * np.dtype(stored).itemsize
        return self._bytes(size, entry).view(stored).reshape(shape)

    def _bytes(self, size: int, entry: Fields) -> Array:
        """The next `size` bytes: a view of the map of a file, or a copy if they are spread over several files."""
        start, stop = self._offset, self._offset + size
        if stop > self._size:
            files = f"its group has {len(self._paths)} files with {self._size} bytes" if self._paths else "its group names no files"
            raise entry.error(f"it is at bytes {start} to {stop}, {files}")
        self._offset = stop
        if not size:
            return np.empty(0, np.uint8)
        index = bisect_right(self._starts, start) - 1
        parts: list[Array] = []
        while start < stop:
            first = start - self._starts[index]
            part = self._files[index][first : first + stop - start]
            parts.append(part)
            start += part.size
            index += 1
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def _strings(self, count: int, entry: Fields) -> Array:
        if count * _LENGTH > self._size - self._offset:
            raise entry.error(f"{count} strings do not fit into {self._size - self._offset} bytes")
        strings = np.empty(count, object)
        for index in range(count):
            length = int.from_bytes(self._bytes(_LENGTH, entry).tobytes(), "little")
            try:
                strings[index] = self._bytes(length, entry).tobytes().decode()
            except UnicodeDecodeError:
                raise entry.error("a string is not in UTF-8") from None
        return strings

    def _dequantized(self, quantization: Fields, dtype: str, shape: tuple[int, ...], entry: Fields) -> Values:
        kind = quantization.text("dtype")
        if kind == "float16" and dtype == "float32":
            return computed(partial(_converted, np.dtype("<f4")), self._array("<f2", shape, entry))
        if kind not in _CODES or dtype not in ("float32", "int32"):
            raise entry.error(f"{dtype} cannot be quantized to {kind[:_SHOWN]!r}: uint8 and uint16 are known, and float16 for float32")
        scale, minimum = (_number(quantization, key, entry) for key in ("scale", "min"))
        return computed(partial(_decoded, np.dtype(_STORED[dtype][0]), scale, minimum), self._array(_CODES[kind], shape, entry))


def _content(path: Path, name: str) -> Array:
    """The bytes of a file in the folder of the model. Raises ModelFileError if it is not there."""
    file = path.parent / name
    if not is_present(file):
        raise ModelFileError(f"the file {name[:_SHOWN]!r} with weights of the model is missing", location=str(path), hint=_HINT)
    mapped = map_file(file, path)
    return np.empty(0, np.uint8) if mapped is None else np.frombuffer(mapped, np.uint8)


def _shape(entry: Fields) -> tuple[int, ...]:
    dimensions = entry.list("shape")
    if (
        not all(isinstance(each, int) and not isinstance(each, bool) and each >= 0 for each in dimensions)
        or len(dimensions) >= _MAXIMUM_RANK
    ):
        raise entry.error(f"{str(list(dimensions))[:80]} is not a shape")
    shape = tuple(dimensions)
    if reason := impossibility(shape):
        raise entry.error(reason)
    return shape


def _number(quantization: Fields, key: str, entry: Fields) -> float:
    number = quantization.content.get(key)
    if isinstance(number, bool) or not isinstance(number, int | float) or not math.isfinite(number):
        raise entry.error(f"its quantization has no number {key!r}")
    return float(number)


def _truth(codes: Array) -> Array:
    return codes != 0


def _converted(dtype: np.dtype[Any], array: Array) -> Array:
    return array.astype(dtype)


def _decoded(dtype: np.dtype[Any], scale: float, minimum: float, codes: Array) -> Array:
    """The values that codes stand for, codes · `scale` + `minimum`, in double precision as in JavaScript.

    If `dtype` is an integer type they are rounded, halves upwards.
    """
    values = codes.astype(np.float64) * scale + minimum
    return np.floor(values + 0.5).astype(dtype) if dtype.kind == "i" else values.astype(dtype)
