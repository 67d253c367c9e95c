"""Datasets of an HDF5 file, as views of its memory map where possible; sizes are limited, and other files are not read.

h5py reads the structure in a process of its own (`hdf5_process.py`), since a damaged file can make its library crash.
References to other files (external links, external and virtual storage) are refused.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeGuard, cast

import numpy as np

from moir.dialects.data import DataAttr, TensorData
from moir.dialects.element_types import bf16, from_numpy, is_element_type
from moir.dialects.shapes import impossibility
from moir.errors import ModelFileError
from moir.files.reading import opened
from moir.frontends.keras.global_heaps import damaged_heap

MAXIMUM_DEPTH = 64
"""The largest number of groups around a dataset."""

_LENGTH = 8
"""Size of the trailer of the subprocess's output, which holds the length of the JSON text before it."""

_NO_INTERPRETER = (
    "the file is read by a process of its own, but sys.executable is not a Python interpreter",
    "set sys.executable to the interpreter whose packages are to be used",
)
"""The reason and the hint of the error if the running program embeds Python, so that sys.executable is not an
interpreter.
"""

Object = Mapping[str, Any]
"""A group or dataset, as `hdf5_process.py` describes it."""


class HDF5File:
    """An HDF5 file within a memory map.

    Args:
        path: the file of the model.
        mapped: the memory map of the file.
        start: where the HDF5 file begins in it.
        size: its bytes.

    Raises ModelFileError if h5py is missing, or the file is not an HDF5 file.
    """

    def __init__(self, path: Path, mapped: mmap.mmap, start: int, size: int) -> None:
        if find_spec("h5py") is None:
            hint = "install it: pip install 'moir[keras]'"
            raise ModelFileError("Keras files need the package h5py, which is not installed", location=str(path), hint=hint)
        self._path = path
        self._mapped = mapped
        self._start = start
        self._written = b""
        if (offset := damaged_heap(mapped, start, size)) is not None:
            raise self.error(f"the heap of strings at offset {offset} is inconsistent")
        self._objects = self._structure(size)
        self.root = self._checked(self._objects[0], "the file")

    def _structure(self, size: int) -> list[Object]:
        """The groups and datasets of a file of a size, read by a process of its own.

        Raises ModelFileError if the process fails, or h5py is missing.
        """
        if not sys.executable or getattr(sys, "frozen", False):
            # A program that contains Python would be started again instead.
            raise self.error(*_NO_INTERPRETER)
        program = Path(__file__).with_name("hdf5_process.py")
        command = [sys.executable, "-P", str(program), str(self._start), str(size)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        with tempfile.TemporaryFile() as output:
            with opened(self._path) as (descriptor, _):
                try:
                    status = subprocess.run(
                        command, stdin=descriptor, stdout=output, stderr=subprocess.DEVNULL, env=environment, check=False
                    ).returncode
                except OSError:
                    raise self.error(*_NO_INTERPRETER) from None
            if status:
                ending = signal.Signals(-status).name if status < 0 else f"status {status}"
                raise self.error(f"the file cannot be read: the process that reads it with h5py ended with {ending}")
            if os.fstat(output.fileno()).st_size < _LENGTH:
                raise self.error(*_NO_INTERPRETER)
            written = mmap.mmap(output.fileno(), 0, access=mmap.ACCESS_READ)
        self._written = written
        length = int.from_bytes(written[-_LENGTH:], "little")
        structure = json.loads(written[-_LENGTH - length : -_LENGTH])
        if "missing" in structure:
            reason = f"Keras files need the package h5py, which cannot be imported: {structure['missing']}"
            raise self.error(reason, "install it again: pip install --force-reinstall h5py")
        return cast("list[Object]", self._checked(structure, "the file")["objects"])

    def error(self, reason: str, hint: str = "the file is damaged; copy or download it again") -> ModelFileError:
        """The error about this file."""
        return ModelFileError(reason, location=str(self._path), hint=hint)

    def _checked(self, node: Any, what: str) -> Any:
        """A node of the structure. Raises ModelFileError, in which `what` names the node, if it could not be read."""
        if isinstance(node, dict) and "error" in node:
            raise self.error(f"{what} cannot be read: {node['error']}")
        return cast(Any, node)

    def child(self, group: Object, name: str) -> Object | None:
        """A group or dataset in a group; None if there is none. Raises ModelFileError if it is in another file."""
        for part in filter(None, name.split("/")):
            child = group.get("names", {}).get(part)
            if child is None:
                return None
            if isinstance(child, dict) and "file" in child:
                raise self.error(f"{name!r} is in another file, {child['file']!r}", "store the model in one file")
            group = self._checked(self._objects[self._checked(child, f"the group {name!r}")], f"the group {name!r}")
        return group

    def is_dataset(self, item: Object | None) -> TypeGuard[Object]:
        """Whether something in the file is a dataset; false for None."""
        return item is not None and "shape" in item

    def names(self, group: Object) -> list[str]:
        """The names in a group."""
        return list(group.get("names", ()))

    def strings(self, group: Object, attribute: str) -> list[str] | None:
        """An attribute that is a list of strings, or the numbered parts of a long one; None if there is none."""
        if (whole := self._attribute(group, attribute)) is not None:
            return whole if isinstance(whole, list) else [whole]
        strings: list[str] = []
        number = 0
        while (part := self._attribute(group, f"{attribute}{number}")) is not None:
            strings += part if isinstance(part, list) else [part]
            number += 1
        return strings if number else None

    def text(self, group: Object, attribute: str) -> str | None:
        """An attribute that is a string; None if there is none."""
        content = self._attribute(group, attribute)
        return str(content) if isinstance(content, list) else content

    def _attribute(self, item: Object, name: str) -> str | list[str] | None:
        return self._checked(item["attributes"].get(name), f"the attribute {name}")

    def data(self, dataset: Object, name: str) -> DataAttr:
        """The values of a dataset. Raises ModelFileError if they do not fit, or are not in the file."""
        shape = tuple(dataset["shape"])
        if reason := impossibility(shape):
            raise self.error(f"{name!r}: {reason}")
        if dataset.get("external"):
            raise self.error(f"the values of {name!r} are in another file", "store the model in one file")
        dtype = np.dtype(dataset["dtype"])
        declared = self.text(dataset, "dtype") or ""
        if dtype.kind not in "biuf" and not (dtype.kind == "V" and dtype.itemsize == 2):
            raise self.error(f"the values of {name!r} are of the unknown element type {declared or dtype}", "store them as numbers")
        source, start = (self._mapped, self._start) if dataset["stored"] else (self._written, 0)
        offset, count = start + dataset["offset"], math.prod(shape)
        if count * dtype.itemsize > len(source) - offset:
            raise self.error(f"the values of {name!r} end after the end of the file")
        values = np.frombuffer(source, dtype, count, offset) if count else np.zeros(0, dtype)
        return self._values(values.reshape(shape), dtype, declared, name)

    def _values(self, values: Any, dtype: np.dtype[Any], declared: str, name: str) -> DataAttr:
        if dtype.kind == "V" or declared == "bfloat16":
            # A kind of numpy's own for two bytes without a meaning.
            return DataAttr(TensorData(values.view(np.uint16).view(_bfloat16()), bf16, values.shape))
        if dtype.byteorder == ">":
            values = values.astype(dtype.newbyteorder("="))
        try:
            element = from_numpy(values.dtype)
        except KeyError:
            element = None
        if element is None or not is_element_type(element):
            raise self.error(f"the values of {name!r} are of the unknown element type {dtype}", "store them as numbers")
        return DataAttr.of(values, element)


def _bfloat16() -> np.dtype[Any]:
    import ml_dtypes

    return np.dtype(ml_dtypes.bfloat16)
