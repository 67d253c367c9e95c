"""Files of NDArrays, `.params` and `.nd`: names -> views of the memory map.

    u64 magic 0x112, u64 reserved, u64 number of arrays, the arrays, u64 number of names, names (u64 length, bytes)

An array is, by versions of MXNet:

    before 0.12   u32 rank, u32 sizes, then as below; or u32 0xF993FAC8, u32 rank, i64 sizes
    since 0.12    u32 0xF993FAC9, i32 storage, u32 rank, i64 sizes; 0xF993FACA: i32 rank, -1 for none
    all           i32 type of device, i32 number of device, i32 type of elements, the elements

Source: NDArray::Save and NDArray::Load in ndarray.cc of MXNet 1.9.
"""

from __future__ import annotations

import math
import mmap
import struct
from pathlib import Path

import numpy as np
from xdsl.ir import Attribute

from moir.dialects import element_types
from moir.dialects.data import DataAttr, TensorData
from moir.dialects.shapes import impossibility
from moir.errors import ModelFileError
from moir.files.reading import check_beginning, map_content

LIST_MAGIC = 0x112
_V1, _V2, _V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
MAXIMUM_RANK = 32
_LONGEST_NAME = 4096

ELEMENTS: dict[int, Attribute] = element_types.of_xml_names(
    {0: "f32", 1: "f64", 2: "f16", 3: "u8", 4: "i32", 5: "i8", 6: "i64", 7: "boolean", 8: "i16", 9: "u16", 10: "u32", 11: "u64", 12: "bf16"}
)
"""The element types by MXNet's numbers."""


def read_arrays(path: Path, model: Path | None = None) -> dict[str, DataAttr]:
    """The arrays of a file by their names, prefixes `arg:` and `aux:` included; arrays without elements are left out.

    Raises ModelFileError for a file that is damaged, of another kind, or with sparse arrays.
    """
    mapped = map_content(path, model)
    return _Reader(path, mapped).arrays()


class _Reader:
    """Reads one file from its beginning to its end."""

    def __init__(self, path: Path, mapped: mmap.mmap) -> None:
        self._path = path
        self._mapped = mapped
        self._position = 0

    def arrays(self) -> dict[str, DataAttr]:
        """All arrays by their names."""
        if self._unpack("<Q") != LIST_MAGIC:
            check_beginning(self._path, self._mapped, "mxnet")
            raise ModelFileError("not a file of NDArrays: it does not begin with their mark", location=str(self._path))
        self._unpack("<Q")
        arrays = [self._array() for _ in range(self._count("arrays"))]
        names = [self._name() for _ in range(self._count("names"))]
        if len(names) != len(arrays):
            raise self._error(f"{len(arrays)} arrays and {len(names)} names")
        return {name: array for name, array in zip(names, arrays, strict=True) if array is not None}

    def _error(self, reason: str) -> ModelFileError:
        return ModelFileError(reason, location=f"{self._path}, offset {self._position}")

    def _unpack(self, form: str) -> int:
        """The next integer of the file, in the format `form` of the module `struct`."""
        size = struct.calcsize(form)
        if self._position + size > len(self._mapped):
            raise self._error("the file ends within a number; is it complete?")
        (value,) = struct.unpack_from(form, self._mapped, self._position)
        self._position += size
        return value

    def _count(self, what: str) -> int:
        """The next integer, a number of entries that follow and take at least four bytes each; `what` names them in
        errors.
        """
        count = self._unpack("<Q")
        if count > (len(self._mapped) - self._position) // 4:
            raise self._error(f"{count} {what} do not fit into the file")
        return count

    def _array(self) -> DataAttr | None:
        """The next array; None for an absent array."""
        magic = self._unpack("<I")
        if magic in (_V2, _V3):
            if self._unpack("<i") != 0:
                raise self._error("a sparse array, which is not supported; store it as a dense one with tostype('default')")
            rank = self._unpack("<i")
        else:
            rank = self._unpack("<I") if magic == _V1 else magic
        if rank == -1 or (rank == 0 and magic != _V3):
            return None
        if not 0 <= rank <= MAXIMUM_RANK:
            raise self._error(f"an array of {rank} dimensions")
        shape = tuple(self._unpack("<q" if magic in (_V1, _V2, _V3) else "<I") for _ in range(rank))
        self._unpack("<q")
        element = ELEMENTS.get(number := self._unpack("<i"))
        if element is None:
            raise self._error(f"the unknown element type {number}")
        dtype = element_types.to_numpy(element)
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize > len(self._mapped) - self._position:
            raise self._error(f"an array of shape {list(shape)} does not fit into the file; is it complete?")
        if reason := impossibility(shape):
            raise self._error(reason)
        values = np.frombuffer(self._mapped, dtype, math.prod(shape), self._position).reshape(shape)
        self._position += values.nbytes
        return DataAttr(TensorData(values, element, shape))

    def _name(self) -> str:
        size = self._unpack("<Q")
        if size > min(_LONGEST_NAME, len(self._mapped) - self._position):
            raise self._error(f"a name of {size} bytes")
        start = self._position
        self._position += size
        return self._mapped[start : self._position].decode(errors="replace")
