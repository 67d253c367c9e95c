"""Files of tensor data beside a model.

Each file is mapped once. A model may refer to files in its own folder and below only. It may come from an untrusted
source, and must not be able to copy other files of the machine into the converted model.

Source: https://onnx.ai/onnx/repo-docs/ExternalData.html
"""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from moir.dialects.data import Array
from moir.errors import ModelFileError
from moir.files.reading import ModelFolder, map_file

_POINTER, _LONGEST_POINTER = b"version https://git-lfs", 1024
"""The beginning, and the largest size in bytes, of the text that Git LFS leaves in place of a file that was not
downloaded.
"""


class ExternalFiles:
    """The data files of one model.

    Args:
        model: path of the model file.
    """

    def __init__(self, model: Path) -> None:
        self.model = model
        self.folder = ModelFolder(model)
        self.maps: dict[str, tuple[Path, mmap.mmap | None]] = {}

    def error(self, tensor: str, reason: str, hint: str | None = None) -> ModelFileError:
        """An error about the external data of a tensor."""
        return ModelFileError(f"external data of tensor {tensor!r}: {reason}", location=str(self.model), hint=hint)

    def read(self, tensor: str, entries: Mapping[str, str], size: int) -> Array:
        """The bytes of a tensor, a view of the mapped file.

        Args:
            tensor: name of the tensor.
            entries: the entries of `external_data`: `location`, optionally `offset` and `length` in bytes.
            size: size of the tensor in bytes.

        Raises ModelFileError for a location outside the folder of the model, a missing file, or a range that does not
        fit.
        """
        path, mapped = self.open(tensor, entries.get("location", ""))
        offset = self.number(tensor, entries, "offset", 0)
        length = self.number(tensor, entries, "length", size)
        available = 0 if mapped is None else len(mapped)
        if length != size:
            raise self.error(tensor, f"its type takes {size} bytes, its entry says {length}")
        if mapped is not None and available <= _LONGEST_POINTER and mapped[: len(_POINTER)] == _POINTER:
            raise self.error(tensor, f"{path} is a pointer of Git LFS; the file itself was not downloaded", "run git lfs pull")
        if offset + size > available:
            raise self.error(tensor, f"bytes {offset} to {offset + size} are beyond the end of {path} ({available} bytes)")
        if mapped is None or size == 0:
            return np.empty(0, np.uint8)
        return np.frombuffer(mapped, np.uint8, size, offset)

    def number(self, tensor: str, entries: Mapping[str, str], key: str, default: int) -> int:
        """The entry `key`, a non-negative decimal number; `default` if it is absent. Raises ModelFileError for another
        text.
        """
        text = entries.get(key, "")
        if not text:
            return default
        if not (text.isascii() and text.isdecimal() and len(text) < 20):
            raise self.error(tensor, f"{key} {text!r} is not a number of bytes")
        return int(text)

    def open(self, tensor: str, location: str) -> tuple[Path, mmap.mmap | None]:
        """The path of a file and its memory map, created at the first use.

        Raises ModelFileError for a location outside the folder of the model, or a file that cannot be read.
        """
        if location in self.maps:
            return self.maps[location]
        outside = "only files in the folder of the model are read"
        if not location or "\0" in location:
            raise self.error(tensor, f"{location!r} is not a location of a file")
        if self.folder.is_absolute(location) or self.folder.leads_upward(location):
            raise self.error(tensor, f"location {location!r} is outside the folder of the model", outside)
        path = self.folder.path / location
        try:
            target = self.folder.target(path)
        except (OSError, RuntimeError) as error:
            raise self.error(tensor, f"file {path} cannot be read ({getattr(error, 'strerror', None) or error})") from error
        if target is None:
            raise self.error(tensor, f"location {location!r} is a link out of the folder of the model", outside)
        self.maps[location] = path, map_file(path, self.model)
        return self.maps[location]
