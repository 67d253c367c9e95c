"""Arrays as `.npz` files: the inputs, outputs and inner tensors of models that commands run."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from moir.dialects.memory_map import Array
from moir.errors import ConversionError, UsageError
from moir.files.reading import record_read
from moir.tools.output import ARRAYS_FILE, replacing_file


def read_arrays(path: str) -> dict[str, Array]:
    """The arrays of an `.npz`, by name. Raises ConversionError for a file that is none, or cannot be read."""
    record_read(Path(path))
    try:
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files} if hasattr(file, "files") else {"": file}
    except OSError as error:
        raise ConversionError(f"cannot be read: {error.strerror or error}", location=path) from error
    except (ValueError, zipfile.BadZipFile, EOFError) as error:
        hint = "write arrays of strings with a dtype of numpy: array.astype(str)" if "pickle" in str(error) else "write it with numpy.savez"
        raise ConversionError("this is no .npz of arrays", location=path, hint=hint) from error


def write_arrays(arrays: Mapping[str, Array], path: str | Path) -> None:
    """Write arrays to an `.npz`, in which numpy has no 8-bit and bfloat16 numbers: these become f32."""
    with replacing_file(Path(path), ARRAYS_FILE) as file:
        np.savez(file, allow_pickle=False, **{name: _storable(array) for name, array in arrays.items()})


def _storable(array: Array) -> Array:
    if array.dtype.kind == "O":
        return np.array([each.decode() if isinstance(each, bytes) else str(each) for each in array.ravel()], dtype=str).reshape(array.shape)
    return array if array.dtype.isbuiltin == 1 else array.astype(np.float32)


def check_npz(path: str | None) -> None:
    """Raises UsageError for the name of an output that does not end in `.npz`."""
    if path is not None and not path.endswith(".npz"):
        raise UsageError(f"{path} has to end in .npz, as the arrays are written in that form")
