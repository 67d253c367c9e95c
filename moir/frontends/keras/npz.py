"""The weights of an archive that are stored as `model.weights.npz` in place of `model.weights.h5`.

    layers/dense.npy    a pickled dictionary {"0": array, "1": array}, the variables of the group
    __root__.npy        the variables of the model itself

A pickle names functions to call. This reader knows the three that build an array, each of which stands for a class
here; any other name is refused, and none is imported.

Source: NpzIOStore in keras/src/saving/saving_lib.py of Keras 3, and the format of .npy files in numpy/lib/format.py.
"""

from __future__ import annotations

import pickle
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, TypeGuard, cast

import numpy as np

from moir.dialects.data import DataAttr, TensorData
from moir.dialects.element_types import bf16, from_numpy
from moir.dialects.shapes import impossibility
from moir.errors import ModelFileError
from moir.files.zip_members import ERRORS

LARGEST_MEMBER = 1 << 32
"""Largest size in bytes of the variables of a group."""
_MOST_PARTS = 64
"""The largest number of groups around a variable."""
_ROOT = "__root__"

Object = Mapping[str, Any]
"""A group with the names in it (`names`), or an array (`array`)."""


class NpzFile:
    """The groups of a file of weights.

    Args:
        path: the file of the model, for messages.
        content: the bytes of the `.npz` file.

    Raises ModelFileError if the file is damaged, or contains anything but arrays.
    """

    def __init__(self, path: Path, content: bytes) -> None:
        self._path = path
        self.root: Object = {"names": {}}
        try:
            with zipfile.ZipFile(BytesIO(content)) as archive:
                for member in archive.infolist():
                    self._add(member.filename.removesuffix(".npy"), self._variables(archive, member))
        except (*ERRORS, RuntimeError, zlib.error, pickle.UnpicklingError, TypeError, AttributeError, IndexError, MemoryError) as error:
            raise self.error(f"its model.weights.npz is damaged: {error}") from error

    def error(self, reason: str) -> ModelFileError:
        """The error about this file."""
        return ModelFileError(reason, location=str(self._path), hint="save the model again; Keras 3 writes its weights as HDF5")

    def _variables(self, archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> dict[str, Any]:
        """The variables of a member by their names. Raises ModelFileError if it is no dictionary of variables, or too
        large.
        """
        if member.file_size > LARGEST_MEMBER:
            raise self.error(f"its member {member.filename} is too large")
        stream = BytesIO(archive.read(member))
        version = np.lib.format.read_magic(stream)
        read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        _, _, dtype = read_header(stream)
        if dtype != np.dtype(object):
            raise self.error(f"{member.filename} does not hold a dictionary of variables")
        pickled = _ArrayUnpickler(stream).load()
        content: Any = pickled.content() if isinstance(pickled, _PickledArray) else pickled
        while isinstance(content, list) and len(cast("list[Any]", content)) == 1:
            content = cast("list[Any]", content)[0]
        if not isinstance(content, dict):
            raise self.error(f"{member.filename} does not hold a dictionary of variables")
        return {str(name): _array(each) for name, each in cast("dict[Any, Any]", content).items()}

    def _add(self, name: str, variables: Mapping[str, Any]) -> None:
        """Add the variables of the group with the path `name`, by their names, to the groups of the file.

        Raises ModelFileError if groups are nested too deeply.
        """
        group: Any = self.root
        parts = [] if name == _ROOT else name.split("/")
        if len(parts) > _MOST_PARTS:
            raise self.error("groups are nested too deeply")
        for part in (*parts, "vars"):
            group = group["names"].setdefault(part, {"names": {}})
        group["names"].update({key: {"array": array} for key, array in variables.items()})

    def child(self, group: Object, name: str) -> Object | None:
        """A group or array in a group; None if there is none."""
        return group.get("names", {}).get(name)

    def names(self, group: Object) -> list[str]:
        """The names in a group."""
        return list(group.get("names", ()))

    def is_dataset(self, item: Object | None) -> TypeGuard[Object]:
        """Whether something in the file is an array; false for None."""
        return item is not None and "array" in item

    def data(self, dataset: Object, name: str) -> DataAttr:
        """The values of an array. Raises ModelFileError if the operation sets lack its type."""
        array = dataset["array"]
        if reason := impossibility(array.shape):
            raise self.error(f"{name!r}: {reason}")
        try:
            element = bf16 if array.dtype.kind == "V" and array.dtype.itemsize == 2 else from_numpy(array.dtype)
        except (KeyError, ValueError):
            raise self.error(f"the values of {name!r} are of the type {array.dtype}") from None
        return DataAttr(TensorData(array.view(np.uint16) if element is bf16 else array, element, array.shape))


class _Type:
    """An element type, `numpy.dtype` in a pickle."""

    def __init__(self, code: object, *_others: object) -> None:
        self.code = str(code)
        self.order = "|"

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.order = str(state[1])


class _PickledArray:
    """An array, `numpy.ndarray` in a pickle."""

    def __init__(self, *_arguments: object) -> None:
        self.state: tuple[Any, ...] = ()

    def __setstate__(self, state: tuple[Any, ...]) -> None:
        self.state = state

    def content(self) -> object:
        """The array; for an array of objects, the list of these objects. Raises ValueError if type or values are
        missing.
        """
        _, shape, type_, is_fortran, content = self.state
        if isinstance(content, list):
            return cast("list[Any]", content)
        if not isinstance(type_, _Type) or not isinstance(content, bytes):
            raise ValueError("an array without a type or values")
        code = type_.code if type_.order in "|=" else type_.order + type_.code
        array = np.frombuffer(content, np.dtype(code))
        return array.reshape(shape, order="F" if is_fortran else "C")


class _ArrayUnpickler(pickle.Unpickler):
    """Reads a pickle of dictionaries and arrays, without importing anything."""

    def find_class(self, module_name: str, global_name: str, /) -> Any:
        if module_name in ("numpy.core.multiarray", "numpy._core.multiarray") and global_name == "_reconstruct":
            return _PickledArray
        if module_name == "numpy" and global_name == "ndarray":
            return _PickledArray
        if module_name == "numpy" and global_name == "dtype":
            return _Type
        raise pickle.UnpicklingError(f"it names {module_name}.{global_name}, which is no array; nothing of it is executed")


def _array(value: object) -> Any:
    array = value.content() if isinstance(value, _PickledArray) else value
    if not isinstance(array, np.ndarray):
        raise ValueError("a variable is no array")
    return cast("np.ndarray[Any, Any]", array)
