"""Streams of parameters, `.pdiparams`, `__params__` and files of one parameter: views of the memory map.

    u32 version 0, u64 levels of sequences (u64 size and offsets of each), u32 version 0,
    i32 size of a TensorDesc, the TensorDesc, the elements

The tensors of a stream have no names: they are in the order of the program's parameters, sorted by name.

Source: SerializeToStream in lod_tensor.cc and TensorToStream in tensor_util.cc of PaddlePaddle 2.6.
"""

from __future__ import annotations

import math
import mmap
import struct
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from moir.dialects.data import DataAttr, TensorData
from moir.dialects.element_types import to_numpy
from moir.dialects.frameworks.paddle import ELEMENTS
from moir.dialects.shapes import impossibility
from moir.errors import ModelFileError
from moir.files.reading import map_file
from moir.frontends.paddle.messages import MESSAGES

MAXIMUM_RANK = 32
"""Largest rank of a parameter."""


def read_stream(path: Path, names: Iterable[str], model: Path | None) -> dict[str, DataAttr]:
    """The tensors of a stream by the names of the parameters, which are sorted.

    Args:
        path: the stream.
        names: the names of the parameters of the program.
        model: the file that the stream was found beside, see `map_file`.

    Raises ModelFileError if it is damaged, or has another number of tensors.
    """
    ordered = sorted(set(names), key=str.encode)
    mapped = map_file(path, model)
    if mapped is None:
        if ordered:
            reason = f"the file is empty, and the model has {len(ordered)} parameters"
            raise ModelFileError(reason, location=str(path), hint="copy or download it again")
        return {}
    reader = _Stream(path, mapped)
    values = {name: reader.tensor(name) for name in ordered}
    if not reader.is_at_end:
        reason = f"more tensors than the {len(ordered)} parameters of the model"
        raise ModelFileError(reason, location=str(path), hint="the two files are of different models")
    return values


class _Stream:
    """Reads one stream from its beginning to its end."""

    def __init__(self, path: Path, mapped: mmap.mmap) -> None:
        self._path = path
        self._mapped = mapped
        self._position = 0

    @property
    def is_at_end(self) -> bool:
        """Whether the stream has been read to its end."""
        return self._position == len(self._mapped)

    def tensor(self, name: str) -> DataAttr:
        """The next tensor, which is the parameter of this name."""
        if self.is_at_end:
            raise self._error(f"the file ends before parameter {name!r}")
        if self._unpack("<I", name) != 0:
            raise self._error(f"parameter {name!r} is stored in an unknown form; is this a stream of PaddlePaddle's parameters?")
        levels = self._unpack("<Q", name)
        for _ in range(min(levels, len(self._mapped))):
            self._take(self._unpack("<Q", name), name)
        if self._unpack("<I", name) != 0:
            raise self._error(f"parameter {name!r} is a tensor of an unknown version")
        description = self._description(name)
        element = ELEMENTS.get(description.data_type)
        if element is None:
            raise self._error(f"parameter {name!r} is of element type {description.data_type}, which the operation sets do not have")
        return self._elements(name, element, tuple(description.dims))

    def _description(self, name: str) -> Any:
        size = self._unpack("<i", name)
        start = self._take(max(size, 0), name)
        try:
            return MESSAGES.reader("TensorDesc").FromString(self._mapped[start : self._position])
        except ValueError:
            raise self._error(f"the description of parameter {name!r} is damaged") from None

    def _elements(self, name: str, element: Any, shape: Sequence[int]) -> DataAttr:
        dtype = to_numpy(element)
        if len(shape) > MAXIMUM_RANK or min(shape, default=0) < 0:
            raise self._error(f"parameter {name!r} has the impossible shape {list(shape)[:MAXIMUM_RANK]}")
        if reason := impossibility(shape):
            raise self._error(f"parameter {name!r}: {reason}")
        count = math.prod(shape)
        start = self._take(count * dtype.itemsize, name)
        values = np.frombuffer(self._mapped, dtype, count, start).reshape(shape)
        return DataAttr(TensorData(values, element, tuple(shape)))

    def _take(self, size: int, name: str) -> int:
        """The position of the next `size` bytes, which are skipped."""
        start = self._position
        if size > len(self._mapped) - start:
            raise self._error(f"parameter {name!r} needs {size} bytes where {len(self._mapped) - start} are left")
        self._position += size
        return start

    def _unpack(self, form: str, name: str) -> int:
        start = self._take(struct.calcsize(form), name)
        (value,) = struct.unpack_from(form, self._mapped, start)
        return value

    def _error(self, reason: str) -> ModelFileError:
        hint = "the file is damaged, incomplete, or of another model"
        return ModelFileError(reason, location=f"{self._path}, offset {self._position}", hint=hint)
