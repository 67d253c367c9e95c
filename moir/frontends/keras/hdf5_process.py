"""A process that reads an HDF5 file with h5py: a damaged file can make libhdf5 crash, loop, or take any memory.

    python hdf5_process.py START SIZE < file > structure

It imports nothing of moir, takes bounded memory and CPU time, and reads SIZE bytes of the file from START on. It
writes the values that are not contiguous in the file (compressed ones, or those in chunks), then a JSON text, then the
size of that text as eight bytes in little-endian order. The text is `{"error": …}`, `{"missing": …}` if h5py cannot be
imported, or `{"objects": [...]}` with the groups and datasets, the root first:

    {"names": {name: number of the object, or its fault}, "attributes": {...}}               a group
    {"shape": [...], "dtype": "<f4", "attributes": {...}, "offset": 2048, "stored": true}    a dataset

    offset   where the values begin: in the HDF5 file if they are `stored`, otherwise in the output
    fault    {"error": …}, or {"file": …} for a link to another file

Attributes are the texts and the lists of texts that Keras writes. A group or dataset that cannot be read is an
object `{"error": …}`; one whose values are in other files has `"external": true`.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import sys
from contextlib import suppress
from importlib import import_module
from typing import Any

LARGEST_EXPANSION = 256
"""The largest ratio of the values that are not contiguous in the file to the size of the file."""

MAXIMUM_OBJECTS = 1 << 18
"""The maximum number of groups, datasets and names in groups that are visited in a file."""

MEMORY = 200 << 20
MEMORY_FACTOR = 8
"""The memory in bytes that reading may take: a fixed part, and a part for each byte of the file."""

SECONDS = 8
BYTES_PER_SECOND = 1 << 20
"""The CPU time that reading may take: a fixed number of seconds, and a second for each so many bytes of the file."""

PIECE = 1 << 24
"""The maximum number of bytes of a dataset's values that are read at once."""

_ATTRIBUTES = re.compile(r"(layer_names|weight_names|model_config|keras_version|dtype)\d*")
"""The attributes that Keras writes and moir reads; a list that is too long for one attribute is split over numbered
ones.
"""

_ERRORS = (OSError, KeyError, ValueError, TypeError, RuntimeError, AttributeError, UnicodeError, MemoryError)
"""The exceptions that h5py raises for a damaged file."""


class Part(io.RawIOBase):
    """A part of an open file, as a read-only file.

    Args:
        descriptor: the open file.
        start: the offset of the part.
        size: its size in bytes.
    """

    def __init__(self, descriptor: int, start: int, size: int) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._start = start
        self._size = size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._position = max(0, offset + (0, self._position, self._size)[whence])
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:
        count = max(0, min(len(buffer), self._size - self._position))
        os.lseek(self._descriptor, self._start + self._position, os.SEEK_SET)
        data = os.read(self._descriptor, count)
        memoryview(buffer).cast("B")[: len(data)] = data
        self._position += len(data)
        return len(data)


class Structure:
    """The contents of an HDF5 file.

    Args:
        root: the file that h5py opened.
        size: its size in bytes.
        output: the stream for values that are not contiguous in the file.
    """

    def __init__(self, root: Any, size: int, output: io.BufferedWriter) -> None:
        self._h5py: Any = import_module("h5py")
        self._output = output
        self._budget = LARGEST_EXPANSION * size
        self._visited = 0
        self._numbers: dict[int, int] = {}
        self._waiting: list[tuple[int, Any]] = []
        self.objects: list[dict[str, Any]] = []
        self._number(root)
        while self._waiting:
            number, item = self._waiting.pop()
            try:
                self.objects[number] = self._dataset(item) if isinstance(item, self._h5py.Dataset) else self._group(item)
            except _ERRORS as error:
                self.objects[number] = {"error": reason_of(error)}

    def _number(self, item: Any) -> int:
        """The index of a group or dataset in `objects`. Links can lead to the same one more than once."""
        address = self._h5py.h5o.get_info(item.id).addr
        if address not in self._numbers:
            self._numbers[address] = len(self.objects)
            self._waiting.append((len(self.objects), item))
            self.objects.append({})
        return self._numbers[address]

    def _group(self, group: Any) -> dict[str, Any]:
        names: dict[str, Any] = {}
        for name in group:
            self._visited += 1
            if self._visited > MAXIMUM_OBJECTS:
                raise ValueError("the file has too many groups")
            try:
                link = group.get(name, getlink=True)
                is_external = isinstance(link, self._h5py.ExternalLink)
                names[_text(name)] = {"file": _text(link.filename)} if is_external else self._number(group[name])
            except _ERRORS as error:
                names[_text(name)] = {"error": reason_of(error)}
        return {"names": names, "attributes": _attributes(group)}

    def _dataset(self, dataset: Any) -> dict[str, Any]:
        shape, dtype = [int(size) for size in dataset.shape], dataset.dtype
        dataset_record = {"shape": shape, "dtype": dtype.str, "attributes": _attributes(dataset)}
        size = math.prod(shape) * dtype.itemsize
        offset = dataset.id.get_offset()
        if dataset.external or dataset.is_virtual:
            return {**dataset_record, "external": True}
        if dtype.hasobject or (offset is not None and size):
            return {**dataset_record, "offset": offset or 0, "stored": True}
        self._budget -= size
        if self._budget < 0:
            return {**dataset_record, "error": "its compressed values are too large"}
        return {**dataset_record, "offset": self._written(dataset, shape, size), "stored": False}

    def _written(self, dataset: Any, shape: list[int], size: int) -> int:
        """Write the values of a dataset of a shape, some rows at a time; returns the position at which they begin.

        `size` is the size of all values in bytes.
        """
        offset = self._output.tell()
        if not shape:
            self._output.write(dataset[()].tobytes())
        elif size:
            rows = max(1, PIECE // (size // shape[0]))
            for row in range(0, shape[0], rows):
                self._output.write(dataset[row : row + rows].tobytes())
        return offset


def _attributes(item: Any) -> dict[str, Any]:
    """The HDF5 attributes of a group or dataset that moir reads, by name: for each a str, a list of str, or
    {"error": the reason} if it cannot be read.
    """
    attributes: dict[str, Any] = {}
    for name in item.attrs:
        if isinstance(name, str) and _ATTRIBUTES.fullmatch(name):
            try:
                value = item.attrs[name]
                attributes[name] = [_text(each) for each in value.ravel().tolist()] if getattr(value, "ndim", 0) else _text(value)
            except _ERRORS as error:
                attributes[name] = {"error": reason_of(error)}
    return attributes


def _text(value: object) -> str:
    # h5py keeps bytes that are not UTF-8 as halves of characters.
    data = value if isinstance(value, bytes) else str(value).encode(errors="surrogateescape")
    return data.decode(errors="replace")


def reason_of(error: BaseException) -> str:
    """The message of an error of h5py, in one line."""
    if isinstance(error, MemoryError):
        return "it takes too much memory"
    lines = str(error).strip().splitlines()
    return _text(lines[0]) if lines else type(error).__name__


def limit(size: int) -> None:
    """Limit the memory and the CPU time of this process, where the platform can, for a file of `size` bytes."""
    try:
        resource: Any = import_module("resource")
    except ImportError:
        return
    limits = {resource.RLIMIT_CPU: SECONDS + size // BYTES_PER_SECOND, resource.RLIMIT_CORE: 0}
    with suppress(OSError), open("/proc/self/statm") as sizes:
        used = int(sizes.read().split()[0]) * os.sysconf("SC_PAGESIZE")
        limits[resource.RLIMIT_AS] = used + MEMORY + MEMORY_FACTOR * size
    for kind, allowed in limits.items():
        _, hard = resource.getrlimit(kind)
        resource.setrlimit(kind, (allowed if hard < 0 else min(hard, allowed), hard))


def main(start: int, size: int) -> None:
    """Read `size` bytes of standard input from `start` on; write the structure of the file to standard output."""
    with open(sys.stdout.fileno(), "wb", closefd=False) as output:
        report: dict[str, Any]
        try:
            h5py: Any = import_module("h5py")
            limit(size)
            report = {"objects": Structure(h5py.File(Part(sys.stdin.fileno(), start, size), "r"), size, output).objects}
        except ImportError as error:
            report = {"missing": reason_of(error)}
        except _ERRORS as error:
            report = {"error": reason_of(error)}
        text = json.dumps(report).encode()
        output.write(text + len(text).to_bytes(8, "little"))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
