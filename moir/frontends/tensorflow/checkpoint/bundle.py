"""Reading a TensorFlow checkpoint (a "tensor bundle"): `PREFIX.index` and `PREFIX.data-00000-of-00001`, ….

The index gives the type, the shape and the position of the bytes of each tensor. Tensors are views of the memory maps
of the data files. A partitioned variable has an entry for the whole tensor, and one for each slice, which is stored as
a tensor.

Source: tensor_bundle.proto and the description of the format in tensor_bundle.h of TensorFlow.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from moir.dialects import element_types
from moir.dialects.data import Array, DataAttr
from moir.dialects.shapes import impossibility
from moir.errors import ModelFileError
from moir.files.protobuf.wire import varint
from moir.files.reading import map_file
from moir.frontends.tensorflow.checkpoint.ordered_code import slice_key
from moir.frontends.tensorflow.checkpoint.sorted_table import SortedTable
from moir.frontends.tensorflow.messages import parse
from moir.frontends.tensorflow.tensors import DATA_TYPES, stored_data
from moir.support.records import Record
from moir.support.suggestions import did_you_mean

OBJECT_GRAPH_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
ATTRIBUTE_SUFFIX = "/.ATTRIBUTES/VARIABLE_VALUE"
_NEWEST_VERSION = 1
_CHECKSUM_BYTES = 4
_MAXIMUM_SHARDS = 1 << 16
_MAXIMUM_RANK = 64
_MAXIMUM_SLICES = 1 << 16

Extents = tuple[tuple[int, int], ...]
"""Start and length of a slice in each dimension, in elements."""


class Entry(Record):
    """The entry of a tensor in the index: its type, shape, and place in the data files."""

    data_type: int
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    slices: tuple[Extents, ...]
    """The slices of a partitioned variable, with length -1 for a whole dimension; empty for an unpartitioned tensor."""


class Bundle:
    """The tensors of a checkpoint.

    Args:
        prefix: path of the checkpoint without `.index`.
        model: the model that it was found through, in whose folder it must be; None for one that the user named.

    Raises ModelFileError if there is no such checkpoint, or its index is damaged.
    """

    def __init__(self, prefix: Path, model: Path | None = None) -> None:
        self.prefix = prefix
        self.path = prefix.with_name(f"{prefix.name}.index")
        self.table = SortedTable(self.path, model).entries
        self._model = model or self.path
        self.shards: dict[int, tuple[Path, mmap.mmap | None]] = {}
        header = parse("BundleHeaderProto", self.table.get(b"", b""), self.path, "the header of the checkpoint")
        if b"" not in self.table or not 1 <= header.num_shards <= _MAXIMUM_SHARDS:
            raise self.error("the index has no header" if b"" not in self.table else f"it claims {header.num_shards} data files")
        if header.endianness != 0:
            raise self.error("the checkpoint was written on a machine with big-endian numbers", "save it again on another machine")
        if header.version.min_consumer > _NEWEST_VERSION:
            raise self.error(
                f"the checkpoint needs a reader of version {header.version.min_consumer}", f"up to {_NEWEST_VERSION} are known"
            )
        self.shard_count: int = header.num_shards

    def error(self, reason: str, hint: str | None = None) -> ModelFileError:
        """An error about the checkpoint as a whole."""
        return ModelFileError(reason, location=str(self.path), hint=hint)

    def __contains__(self, key: str) -> bool:
        return bool(key) and key.encode() in self.table

    def keys(self) -> list[str]:
        """The names of the tensors, without those of slices."""
        return [key.decode(errors="replace") for key in self.table if key and not key.startswith(b"\0")]

    def entry(self, key: str) -> Entry:
        """The entry of a tensor. Raises ModelFileError if there is none."""
        encoded = key.encode()
        if not key or encoded not in self.table:
            raise self.error(f"the checkpoint has no tensor {key!r}")
        return self._entry(encoded, key)

    def _entry(self, encoded: bytes, key: str) -> Entry:
        message: Any = parse("BundleEntryProto", self.table[encoded], self.path, f"the entry of {key!r}")
        shape = tuple(dimension.size for dimension in message.shape.dim)
        if message.shape.unknown_rank or len(shape) > _MAXIMUM_RANK or min(shape, default=0) < 0 or impossibility(shape):
            raise self.error(f"tensor {key!r} has the impossible shape {list(shape)}")
        if message.offset < 0 or message.size < 0 or len(message.slices) > _MAXIMUM_SLICES:
            raise self.error(f"the entry of {key!r} is damaged")
        slices = tuple(
            tuple((extent.start, extent.length if extent.HasField("length") else -1) for extent in part.extent) for part in message.slices
        )
        if any(len(extents) != len(shape) for extents in slices):
            raise self.error(f"a slice of {key!r} has another rank than the whole")
        return Entry(message.dtype, shape, message.shard_id, message.offset, message.size, slices)

    def read(self, key: str, extents: Sequence[tuple[int, int]] | None = None) -> DataAttr:
        """The value of a tensor.

        Args:
            key: its name.
            extents: the slice to read, with length -1 for a whole dimension; None for the whole tensor.

        Raises ModelFileError if the tensor, or its data file, is missing or damaged.
        """
        entry = self.entry(key)
        if extents is None:
            wanted = tuple((0, size) for size in entry.shape)
        else:
            if len(extents) != len(entry.shape):
                raise self.error(f"a slice of rank {len(extents)} of {key!r}, which has the shape {list(entry.shape)}")
            wanted = self._bounded(extents, entry.shape, key)
        if entry.slices:
            return self._joined(key, entry, wanted)
        whole = self._tensor(entry, key)
        return whole if extents is None else self._part(whole, wanted, key)

    def _bounded(self, extents: Sequence[tuple[int, int]], shape: tuple[int, ...], key: str) -> Extents:
        """The extents of a slice with each length -1 replaced by the rest of the dimension.

        Raises ModelFileError, with the name `key` of the tensor, if the slice does not lie within the shape.
        """
        bounded = tuple((start, size - start if length == -1 else length) for (start, length), size in zip(extents, shape, strict=True))
        if any(start < 0 or length < 0 or start + length > size for (start, length), size in zip(bounded, shape, strict=True)):
            raise self.error(f"a slice of {key!r} is outside its shape {list(shape)}")
        return bounded

    def _joined(self, key: str, entry: Entry, wanted: Extents) -> DataAttr:
        """The elements of the slice `wanted` of a partitioned variable: a view if it is stored as one slice, else a
        copy.

        Raises ModelFileError if stored slices are missing or overlap, or elements share a byte.
        """
        pieces: list[tuple[DataAttr, tuple[slice, ...], tuple[slice, ...]]] = []
        covered = taken = 0
        for extents in entry.slices:
            bounded = self._bounded(extents, entry.shape, key)
            common = [(max(a, b), min(a + m, b + n)) for (a, m), (b, n) in zip(bounded, wanted, strict=True)]
            if any(start >= stop for start, stop in common):
                continue
            value, size = self._slice(key, entry, extents, tuple(length for _, length in bounded))
            if bounded == wanted:
                return value
            source = tuple(slice(start - low, stop - low) for (start, stop), (low, _) in zip(common, bounded, strict=True))
            target = tuple(slice(start - low, stop - low) for (start, stop), (low, _) in zip(common, wanted, strict=True))
            pieces.append((value, source, target))
            covered += math.prod(stop - start for start, stop in common)
            taken += size
        # Slices of a damaged index could overlap in the data files, and so claim any amount of memory.
        available = sum(len(mapped) for _, mapped in self.shards.values() if mapped is not None)
        if not pieces or covered != math.prod(length for _, length in wanted) or taken > available:
            raise self.error(f"slices of {key!r} are missing, or overlap")
        first = pieces[0][0]
        if element_types.describe(first.element).is_packed:
            raise self.error(f"{key!r} is partitioned, and several of its values share a byte")
        # Complex tensors have a last dimension of 2, for real and imaginary part, that the entry lacks.
        joined = np.empty([*(length for _, length in wanted), *first.shape[len(wanted) :]], first.array.dtype)
        for value, source, target in pieces:
            joined[target] = value.array[source]
        return DataAttr.of(joined, first.element)

    def _slice(self, key: str, entry: Entry, extents: Extents, shape: tuple[int, ...]) -> tuple[DataAttr, int]:
        """One slice of a partitioned variable, stored with exactly these extents, and its size in the data file in
        bytes.

        Raises ModelFileError if it is missing, or has another shape or type.
        """
        encoded = slice_key(key.encode(), extents)
        if encoded not in self.table:
            raise self.error(f"a slice of {key!r} is missing")
        part = self._entry(encoded, key)
        if part.shape != shape or part.data_type != entry.data_type or part.slices:
            raise self.error(f"a slice of {key!r} contradicts the whole")
        return self._tensor(part, key), part.size

    def _part(self, value: DataAttr, extents: Extents, key: str) -> DataAttr:
        """The slice of a value that `extents` describe, as a view. Raises ModelFileError if elements share a byte."""
        if element_types.describe(value.element).is_packed:
            raise self.error(f"a slice of {key!r} is read, and several of its values share a byte")
        return DataAttr.of(value.array[tuple(slice(start, start + length) for start, length in extents)], value.element)

    def _shard(self, index: int) -> tuple[Path, mmap.mmap | None]:
        """The path and the memory map of data file `index`, which is mapped at its first use; None if it is empty.

        Raises ModelFileError if the checkpoint has no such file, or it is missing.
        """
        if index not in self.shards:
            if not 0 <= index < self.shard_count:
                raise self.error(f"a tensor is in data file {index} of {self.shard_count}")
            path = self.prefix.with_name(f"{self.prefix.name}.data-{index:05d}-of-{self.shard_count:05d}")
            if not path.exists():
                hint = "copy all files of the checkpoint"
                raise ModelFileError("the data file of the checkpoint is missing", location=str(path), hint=hint)
            self.shards[index] = path, map_file(path, self._model)
        return self.shards[index]

    def _tensor(self, entry: Entry, key: str) -> DataAttr:
        """The value of an unpartitioned tensor, by its entry. Raises ModelFileError if the data file is too short."""
        path, mapped = self._shard(entry.shard)
        available = 0 if mapped is None else len(mapped)
        if entry.offset + entry.size > available:
            reason = f"tensor {key!r} takes bytes {entry.offset} to {entry.offset + entry.size}, the file ends after {available}"
            raise ModelFileError(reason, location=str(path), hint="the data file of the checkpoint is truncated")
        stored = np.empty(0, np.uint8)
        if mapped is not None and entry.size:
            stored = np.frombuffer(mapped, np.uint8, entry.size, entry.offset)
        row = DATA_TYPES.get(entry.data_type)
        if row is not None and row.element == element_types.string:
            return DataAttr.of(self._strings(stored, entry, key), element_types.string, entry.shape)
        return stored_data(stored, entry.shape, entry.data_type, key, f"{path}, offset {entry.offset}")

    def _strings(self, stored: Array, entry: Entry, key: str) -> Array:
        """The elements of a string tensor, stored as lengths, a checksum of the lengths, and bytes.

        Raises ModelFileError if these are damaged, or a string is not in UTF-8.
        """
        count = math.prod(entry.shape)
        view = stored.data
        lengths: list[int] = []
        position = 0
        if count > len(view):
            raise self.error(f"tensor {key!r} has fewer strings than its shape {list(entry.shape)} says")
        try:
            for _ in range(count):
                length, position = varint(view, position, len(view))
                lengths.append(length)
        except ValueError:
            raise self.error(f"the strings of {key!r} are damaged") from None
        position += _CHECKSUM_BYTES
        if position + sum(lengths) != len(view):
            raise self.error(f"the strings of {key!r} are damaged")
        texts = np.empty(count, object)
        for index, length in enumerate(lengths):
            try:
                texts[index] = bytes(view[position : position + length]).decode()
            except UnicodeDecodeError:
                raise self.error(f"a string of {key!r} is not in UTF-8") from None
            position += length
        return texts.reshape(entry.shape)

    def raw_string(self, key: str) -> bytes:
        """The bytes of a tensor that is a single string. Raises ModelFileError if it is not."""
        entry = self.entry(key)
        path, mapped = self._shard(entry.shard)
        if math.prod(entry.shape) != 1 or mapped is None or entry.offset + entry.size > len(mapped):
            raise ModelFileError(f"tensor {key!r} is not one string", location=str(path))
        view = memoryview(mapped)[entry.offset : entry.offset + entry.size]
        try:
            length, position = varint(view, 0, len(view))
        except ValueError:
            raise self.error(f"tensor {key!r} is not one string") from None
        if position + _CHECKSUM_BYTES + length != len(view):
            raise self.error(f"tensor {key!r} is not one string")
        return bytes(view[position + _CHECKSUM_BYTES :])


def find_checkpoint(prefix: Path, model: Path | None = None) -> Bundle | None:
    """The checkpoint with a prefix, None if there is no index file; `model` as in `Bundle`.

    Raises ModelFileError for a checkpoint in TensorFlow's first format.
    """
    if prefix.with_name(f"{prefix.name}.index").exists():
        return Bundle(prefix, model)
    if prefix.is_file():
        reason = "a checkpoint in TensorFlow's first format, which is one file without an index"
        raise ModelFileError(reason, location=str(prefix), hint="save it again with a tf.train.Saver of version V2")
    return None


def _checkpoints_in(folder: Path) -> list[str]:
    """The names of the checkpoints in a folder; empty if there is no such folder."""
    return [each.stem for each in folder.glob("*.index")] if folder.is_dir() else []


def open_checkpoint(checkpoint: Path) -> Bundle:
    """The checkpoint with a prefix, or that a file belongs to. Raises ModelFileError if there is none."""
    name = checkpoint.name
    if name.endswith((".index", ".meta")):
        checkpoint = checkpoint.with_name(name.rpartition(".")[0])
    elif ".data-" in name:
        checkpoint = checkpoint.with_name(name.rpartition(".data-")[0])
    bundle = find_checkpoint(checkpoint)
    if bundle is None:
        hint = did_you_mean(checkpoint.name, _checkpoints_in(checkpoint.parent), "it is the path of the .index file, without .index")
        raise ModelFileError("there is no checkpoint of this name", location=str(checkpoint), hint=hint)
    return bundle
