"""Tensors from `*.safetensors`: a file, or the files of a folder, as views of the mapped files.

    8 bytes       n, little endian
    n bytes       JSON: {"fc.weight": {"dtype": "F32", "shape": [3, 4], "data_offsets": [0, 48]}, "__metadata__": {…}}
    the rest      the elements, in C order; offsets are from here

The ranges of the tensors cover the elements without gaps, each as long as its shape and its element type say.

A folder has the file `model.safetensors`; or an index `*.safetensors.index.json` with the file of each tensor; or files
of any names. Names that `save_model` of safetensors left out, because another name has the same tensor, are in the
metadata.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np

from moir.dialects import element_types
from moir.dialects.data import DataAttr
from moir.dialects.large_arrays import pieces
from moir.errors import ModelFileError
from moir.files.foreign_files import check_not_foreign
from moir.files.json_fields import Fields
from moir.files.reading import is_present, map_file, read_whole
from moir.frameworks.record import SAMPLE
from moir.frontends.strided_tensors import tensor_over

TYPES = element_types.of_xml_names(
    {
        "BOOL": "boolean",
        "U8": "u8",
        "I8": "i8",
        "U16": "u16",
        "I16": "i16",
        "U32": "u32",
        "I32": "i32",
        "U64": "u64",
        "I64": "i64",
        "F16": "f16",
        "BF16": "bf16",
        "F32": "f32",
        "F64": "f64",
        "F8_E4M3": "f8e4m3",
        "F8_E5M2": "f8e5m2",
        "F8_E8M0": "f8e8m0",
        "F4": "f4e2m1",
    }
)
"""The element types by their names in headers of the format."""

LARGEST_HEADER = 100_000_000
"""Largest size of a header in bytes, as the format states it."""

SINGLE, INDEX = "model.safetensors", "*.safetensors.index.json"
"""The file of a folder beside which Transformers reads no other, and the index of several files."""

_SHOWN = 200
"""The number of characters of a name that an error shows."""

DAMAGED = "the file is damaged, or not complete: copy or download it again"


class SafeTensors:
    """The tensors of a file or a folder.

    Args:
        path: the file, the folder, or the index in it. Raises ModelFileError if it does not exist, has another format,
        or is damaged.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tensors: dict[str, DataAttr] = {}
        self.same: dict[str, str] = {}
        """Name that was left out of the file -> name of the tensor with the same contents."""
        for file in _files(path):
            self._read(file)

    def _read(self, path: Path) -> None:
        mapped = map_file(path)
        content = memoryview(b"" if mapped is None else mapped)
        length = int.from_bytes(content[:8], "little")
        if len(content) < 8 or length > min(LARGEST_HEADER, len(content) - 8):
            if bytes(content[5:8]) != bytes(3):  # the size of no header: a page of an error, or a pointer of Git LFS
                check_not_foreign(path, bytes(content[:SAMPLE]))
            raise _error(path, "the header does not fit into the file", DAMAGED)
        header = _json(path, bytes(content[8 : 8 + length]))
        elements = content[8 + length :]
        ranges: list[tuple[int, int]] = []
        for name in header.content:
            if name == "__metadata__":
                named = header.fields(name).content
                self.same |= {key: value for key, value in named.items() if isinstance(value, str)}
                continue
            begin, end, data = _tensor(header.fields(name), elements)
            ranges.append((begin, end))
            if name in self.tensors and not are_equal(self.tensors[name], data):
                raise _error(path, f"another file of the folder has a tensor {name!r} that differs", "leave the files of one model in it")
            self.tensors[name] = data
        covered = 0
        for begin, end in sorted(ranges):
            if begin != covered:
                raise _error(path, f"the elements of the tensors overlap, or leave a gap, at byte {min(begin, covered)}", DAMAGED)
            covered = end
        if covered != len(elements):
            raise _error(path, f"the last {len(elements) - covered} bytes of the file belong to no tensor", DAMAGED)


def _tensor(entry: Fields, elements: memoryview) -> tuple[int, int, DataAttr]:
    """The range of the elements of a tensor, and the tensor. Raises ModelFileError if it is not in the file, or the
    range is longer than its shape.
    """
    element = TYPES.get(entry.text("dtype"))
    sizes, offsets = _integers(entry, "shape"), _integers(entry, "data_offsets")
    if element is None:
        raise entry.error(f"the element type {entry.text('dtype')!r} is not known")
    if len(offsets) != 2 or not 0 <= offsets[0] <= offsets[1] <= len(elements):
        raise entry.error(f"the elements at {offsets} are not in the file")
    begin, end = offsets
    strides = [1] * len(sizes)
    for axis in range(len(sizes) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * max(sizes[axis + 1], 1)
    try:
        data = tensor_over(elements[begin:end], element, sizes, strides, 0)
    except ValueError as error:
        raise entry.error(str(error)) from None
    size = element_types.describe(element).storage(math.prod(sizes))
    if size != end - begin:
        raise entry.error(f"a tensor of shape {sizes} takes {size} bytes, not {end - begin}")
    return begin, end, data


def are_equal(first: DataAttr, second: DataAttr) -> bool:
    """Whether two tensors have the same elements."""
    if first.element != second.element or first.shape != second.shape:
        return False
    return all(np.array_equal(*each) for each in zip(pieces(first.values), pieces(second.values), strict=True))


def _integers(entry: Fields, key: str) -> list[int]:
    integers = entry.list(key)
    if not all(isinstance(each, int) and not isinstance(each, bool) for each in integers):
        raise entry.error(f"{key!r} is not a list of integers")
    return list(integers)


def _files(path: Path) -> list[Path]:
    """The files with tensors: of an index those that it names; of a folder `SINGLE`, or those of its index, or all
    `*.safetensors`.
    """
    if path.is_dir():
        if (path / SINGLE).is_file():
            return [path / SINGLE]
        indices = sorted(path.glob(INDEX))
        if len(indices) > 1:
            raise _error(path, f"the folder has several indices: {', '.join(each.name for each in indices)}")
        if indices:
            return _files(indices[0])
        files = sorted(path.glob("*.safetensors"))
        if not files:
            raise _error(path, "the folder has no file *.safetensors")
        return files
    if path.suffix != ".json":
        return [path]
    named = _json(path, read_whole(path, "the index")).fields("weight_map")
    names = dict.fromkeys(named.text(key) for key in named.content)
    for name in names:
        if Path(name).name != name or name in ("", ".", ".."):
            raise named.error(f"the file {name!r} is not in the folder of the index")
        if not is_present(path.with_name(name)):
            raise _error(path.with_name(name[:_SHOWN]), "there is no such file", f"{path.name} names it: copy or download it, too")
    return [path.with_name(name) for name in names]


def _json(path: Path, text: bytes) -> Fields:
    try:
        content: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _error(path, f"the header is not JSON: {error}", DAMAGED) from None
    if not isinstance(content, dict):
        raise _error(path, "the header is not an object of JSON", DAMAGED)
    return Fields(cast("Mapping[str, Any]", content), "header", str(path), DAMAGED)


def _error(path: Path, reason: str, hint: str = "give a file *.safetensors, or the folder of them") -> ModelFileError:
    return ModelFileError(reason, location=str(path), hint=hint)
