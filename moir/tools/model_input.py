"""What the commands that run models read: model files, texts of modules, and arrays."""

from __future__ import annotations

import zipfile
from collections.abc import Generator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from moir.dialects.context import MoirContext
from moir.dialects.memory_map import Array
from moir.errors import ConversionError, UsageError
from moir.rewriting.verification import verify_module
from moir.source_files import recorded
from moir.tools.opt_input import OptInput
from moir.tools.output import replacing_file
from moir.tools.text import TextParser, print_module
from moir.tools.weights_file import WeightsReader, WeightsWriter

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


@contextmanager
def opened_model(argument: str) -> Generator[Path | ModuleOp]:
    """A model for a command: the path of a model file, or the module that a text has.

    Args:
        argument: a model file, the folder of a SavedModel, a text of moir (`.mlir`), or `-` for standard input.

    Raises ModelFileError for a file that cannot be read, ParseError for a text that is none.
    """
    with ExitStack() as stack:
        source = OptInput(argument, None, stack)
        if source.framework is not None:
            yield source.path
            return
        yield read_text(source.path, source.folder, source.name)


def read_text(path: Path, folder: Path, name: str) -> ModuleOp:
    """The module of a text, verified. Its weights are views of a memory map of its side file.

    Args:
        path: the text.
        folder: the folder of its side files.
        name: its name for messages.
    """
    parser = TextParser(MoirContext(WeightsReader(folder)), path.read_bytes(), name)
    with recorded(path) as reading:
        reading.module = module = parser.parse_module()
    verify_module(module)
    return module


def write_text(module: ModuleOp, path: Path) -> None:
    """Write a module as text, with its weights beside it, in a file of the same name that ends in `.bin`."""
    with replacing_file(path.with_suffix(".bin")) as weights, replacing_file(path) as file:
        import io

        text = io.StringIO()
        print_module(module, text, WeightsWriter(weights, path.with_suffix(".bin").name))
        file.write(text.getvalue().encode())


def read_arrays(path: str) -> dict[str, Array]:
    """The arrays of an `.npz`, by name. Raises ConversionError for a file that is none, or cannot be read."""
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
    with replacing_file(Path(path)) as file:
        np.savez(file, allow_pickle=False, **{name: _storable(array) for name, array in arrays.items()})


def _storable(array: Array) -> Array:
    if array.dtype.kind == "O":
        return np.array([each.decode() if isinstance(each, bytes) else str(each) for each in array.ravel()], dtype=str).reshape(array.shape)
    return array if array.dtype.isbuiltin == 1 else array.astype(np.float32)


def check_npz(path: str | None) -> None:
    """Raises UsageError for the name of an output that does not end in `.npz`."""
    if path is not None and not path.endswith(".npz"):
        raise UsageError(f"{path} has to end in .npz, as the arrays are written in that form")
