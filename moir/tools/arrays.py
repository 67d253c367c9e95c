"""Arrays as `.npz` files: the inputs, outputs and inner tensors of models that commands run."""

from __future__ import annotations

import math
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np

from moir.dialects.memory_map import Array
from moir.errors import ConversionError, UsageError
from moir.files.output import ARRAYS_FILE, replacing_file
from moir.files.reading import record_read

LARGEST_EXPANSION = 128 << 20
EXPANSION_FACTOR = 8
"""The factor by which a compressed file may expand: to `LARGEST_EXPANSION` bytes plus this factor times its size."""

_KINDS = "biufcSUO"
"""Permitted element kinds (numpy's `dtype.kind`); numpy itself refuses objects, and strings are stored as objects."""


def read_arrays(path: str) -> dict[str, Array]:
    """The arrays of an `.npz`, by name, or that of an `.npy`, whose name is empty.

    Raises ConversionError for a file of another format, one that cannot be read, or one that expands to much more than
    its size.
    """
    record_read(Path(path))
    try:
        with open(path, "rb") as file:
            size = os.fstat(file.fileno()).st_size
            if not zipfile.is_zipfile(file):
                file.seek(0)
                return {"": _array(file, size)}
            with zipfile.ZipFile(file) as archive:
                members = archive.infolist()
                if sum(member.file_size for member in members) > LARGEST_EXPANSION + EXPANSION_FACTOR * size:
                    hint = "write it with numpy.savez, which does not compress"
                    raise ConversionError("the arrays are compressed to less than an eighth of their size", location=path, hint=hint)
                arrays: dict[str, Array] = {}
                for member in members:
                    with archive.open(member) as stream:
                        arrays[member.filename.removesuffix(".npy")] = _array(stream, member.file_size)
                return arrays
    except OSError as error:
        raise ConversionError(f"cannot be read: {error.strerror or error}", location=path) from error
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        hint = "write arrays of strings with a dtype of numpy: array.astype(str)" if "pickle" in str(error) else "write it with numpy.savez"
        raise ConversionError("this is no .npz of arrays", location=path, hint=hint) from error


def _array(stream: IO[bytes], size: int) -> Array:
    """The array in a stream with an `.npy` of `size` bytes.

    Raises ValueError if there is none, or if its header claims more bytes.
    """
    version = np.lib.format.read_magic(stream)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(stream)
    # numpy allocates what the header says before it reads the elements.
    if math.prod(shape) * dtype.itemsize > size:
        raise ValueError("it has fewer elements than its header says")
    if dtype.kind not in _KINDS or dtype == np.longdouble:
        raise ValueError(f"no tensor is of {dtype}")
    stream.seek(0)
    return np.lib.format.read_array(stream, allow_pickle=False)


def write_arrays(arrays: Mapping[str, Array], path: str | Path) -> None:
    """Write arrays to an `.npz`. Floats of 8 bits and bfloat16, which numpy does not have, become f32."""
    with replacing_file(Path(path), ARRAYS_FILE) as file:
        np.savez(file, allow_pickle=False, **{name: _storable(array) for name, array in arrays.items()})


def _storable(array: Array) -> Array:
    if array.dtype.kind == "O":
        return np.array([each.decode() if isinstance(each, bytes) else str(each) for each in array.ravel()], dtype=str).reshape(array.shape)
    return array if array.dtype.isbuiltin == 1 else array.astype(np.float32)


def check_npz(path: str | None) -> None:
    """Raises UsageError if the name of an output does not end in `.npz`. None stands for no output."""
    if path is not None and not path.endswith(".npz"):
        raise UsageError(f"{path} has to end in .npz, as the arrays are written in that form")
