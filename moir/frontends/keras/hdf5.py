"""Datasets of an HDF5 file: bounded, without anything outside of the file, as views of its memory map where possible.

h5py reads the structure. What HDF5 can refer to outside of the file (external links, external and virtual storage) is
refused.
"""

from __future__ import annotations

import io
import math
import mmap
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np

from moir.dialects.data import DataAttr, TensorData
from moir.dialects.element_types import bf16, from_numpy, is_element_type
from moir.dialects.shapes import impossibility
from moir.errors import ModelFileError
from moir.frontends.keras.global_heaps import damaged_heap

MAXIMUM_DEPTH = 64
"""The most groups around a dataset."""

MAXIMUM_GROUPS = 1 << 18
"""The most groups and datasets that are visited in a file."""

LARGEST_EXPANSION = 256
"""How many times larger than the file all compressed datasets together may be."""

_ERRORS = (OSError, KeyError, ValueError, TypeError, RuntimeError, AttributeError, UnicodeError)
"""What h5py raises for a damaged file."""


class Window(io.RawIOBase):
    """A part of a memory map as a file that can only be read.

    Args:
        mapped: the memory map.
        start: where the part begins.
        size: the bytes of the part.
    """

    def __init__(self, mapped: mmap.mmap, start: int, size: int) -> None:
        super().__init__()
        self._mapped = mapped
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
        start = self._start + self._position
        memoryview(buffer).cast("B")[:count] = self._mapped[start : start + count]
        self._position += count
        return count


class HDF5File:
    """An HDF5 file within a memory map.

    Args:
        path: the file of the model, for messages.
        mapped: the memory map of the file.
        start: where the HDF5 file begins in it.
        size: its bytes.

    Raises ModelFileError if h5py is missing, or the file is no HDF5 file.
    """

    def __init__(self, path: Path, mapped: mmap.mmap, start: int, size: int) -> None:
        try:
            h5py = import_module("h5py")
        except ImportError as error:
            hint = "install it: pip install 'moir[keras]'"
            raise ModelFileError("Keras files need the package h5py, which is not installed", location=str(path), hint=hint) from error
        self._h5py = cast(Any, h5py)
        self._path = path
        self._mapped = mapped
        self._start = start
        self._budget = LARGEST_EXPANSION * size
        self._visited = 0
        if (offset := damaged_heap(mapped, start, size)) is not None:
            raise self.error(f"the heap of strings at offset {offset} is inconsistent")
        with self.reading("the file"):
            self.root = self._h5py.File(Window(mapped, start, size), "r")

    @contextmanager
    def reading(self, what: str) -> Generator[None]:
        """A context in which errors of h5py are those of a damaged file; `what` says what is read."""
        try:
            yield
        except ModelFileError:
            raise
        except _ERRORS as error:
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise self.error(f"{what} cannot be read: {reason}") from error

    def error(self, reason: str, hint: str = "the file is damaged; copy or download it again") -> ModelFileError:
        """The error about this file."""
        return ModelFileError(reason, location=str(self._path), hint=hint)

    def child(self, group: Any, name: str) -> Any | None:
        """A group or dataset in a group; None if there is none. Raises ModelFileError if it is in another file."""
        with self.reading(f"the group {name!r}"):
            for part in name.split("/"):
                link = group.get(part, getlink=True) if part else self._h5py.HardLink()
                if link is None:
                    return None
                if isinstance(link, self._h5py.ExternalLink):
                    raise self.error(f"{name!r} is in another file, {link.filename!r}", "store the model in one file")
                group = group[part] if part else group
                self._visited += 1
                if self._visited > MAXIMUM_GROUPS:
                    raise self.error("it has too many groups")
        return group

    def is_dataset(self, item: object) -> bool:
        """Whether something in the file is a dataset."""
        return isinstance(item, self._h5py.Dataset)

    def names(self, group: Any) -> list[str]:
        """The names in a group."""
        with self.reading("a group"):
            return [] if self.is_dataset(group) else [str(name) for name in group]

    def strings(self, group: Any, attribute: str) -> list[str] | None:
        """An attribute that is a list of strings, which large ones are split for; None if there is none."""
        with self.reading(f"the attribute {attribute}"):
            if attribute in group.attrs:
                return [_text(each) for each in np.asarray(group.attrs[attribute]).ravel().tolist()]
            found: list[str] = []
            part = 0
            while f"{attribute}{part}" in group.attrs:
                found += [_text(each) for each in np.asarray(group.attrs[f"{attribute}{part}"]).ravel().tolist()]
                part += 1
            return found if part else None

    def text(self, group: Any, attribute: str) -> str | None:
        """An attribute that is a string; None if there is none."""
        with self.reading(f"the attribute {attribute}"):
            return _text(group.attrs[attribute]) if attribute in group.attrs else None

    def data(self, dataset: Any, name: str) -> DataAttr:
        """The values of a dataset. Raises ModelFileError if they do not fit, or are not in the file."""
        with self.reading(f"the values of {name!r}"):
            shape = tuple(int(size) for size in dataset.shape)
            dtype = np.dtype(dataset.dtype)
            if reason := impossibility(shape):
                raise self.error(f"{name!r}: {reason}")
            if dataset.external or dataset.is_virtual:
                raise self.error(f"the values of {name!r} are in another file", "store the model in one file")
            declared = _text(dataset.attrs["dtype"]) if "dtype" in dataset.attrs else ""
            size = math.prod(shape) * dtype.itemsize
            values = self._view(dataset, dtype, shape, size)
            if values is None:
                self._budget -= size
                if self._budget < 0:
                    raise self.error("its compressed values are too large")
                values = np.asarray(dataset[()])
            return self._attribute(np.asarray(values).reshape(shape), dtype, declared, name)

    def _view(self, dataset: Any, dtype: np.dtype[Any], shape: tuple[int, ...], size: int) -> Any | None:
        """The values as a view of the memory map; None if they are not contiguous in the file."""
        offset = dataset.id.get_offset()
        if offset is None or not size or dtype.byteorder == ">" or dtype.hasobject:
            return None
        if size > len(self._mapped) - self._start - offset:
            raise self.error("a dataset ends after the end of the file")
        return np.frombuffer(self._mapped, dtype, math.prod(shape), self._start + offset)

    def _attribute(self, values: Any, dtype: np.dtype[Any], declared: str, name: str) -> DataAttr:
        if (dtype.kind == "V" and dtype.itemsize == 2) or declared == "bfloat16":
            # A kind of numpy's own for two bytes without a meaning.
            return DataAttr(TensorData(values.view(np.uint16).view(_bfloat16()), bf16, values.shape))
        if dtype.kind == "V" or dtype.kind not in "biuf":
            raise self.error(f"the values of {name!r} are of the unknown element type {declared or dtype}", "store them as numbers")
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


def _text(value: object) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)
