"""Samples of data for the inputs of a model, read one after the other.

A file with arrays has samples along their first axes; a folder has one sample in each of its files, in the order of
their names.

    samples.npz     {"image": f32[500,3,224,224]}      500 samples for image: f32[?,3,224,224], or [1,3,224,224]
    images/         *.png, *.jpg, …                    for a single input that is a batch of images
    arrays/         *.npz, *.npy                       a sample each
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np

from moir.dialects.memory_map import Array
from moir.errors import UsageError
from moir.execution.ports import TensorPort, matched
from moir.support.records import Record
from moir.tools.agreement.images import IMAGE_SUFFIXES, Preparation, read_image
from moir.tools.arrays import read_arrays

ARRAY_SUFFIXES = (".npz", ".npy")


class Sample(Record):
    """Arrays for the inputs of a model by the names of the ports, and where they come from."""

    label: str
    arrays: Mapping[str, Array]


def samples_of(
    data: Path | Iterable[Mapping[str, Array]], ports: Sequence[TensorPort], preparation: Preparation, limit: int | None = None
) -> Iterator[Sample]:
    """The samples of a file or a folder, or of arrays in memory.

    Args:
        data: the file or folder, or arrays by the names of inputs.
        ports: the inputs of the model.
        preparation: how the elements of images become those of the input.
        limit: the largest number of samples; None for all.

    Raises UsageError for data that do not fit the inputs, and ConversionError for files that cannot be read.
    """
    if not isinstance(data, Path):
        samples = (Sample(f"sample {number}", matched(arrays, ports, "input")) for number, arrays in enumerate(data))
    elif data.is_dir():
        samples = _in_folder(data, ports, preparation)
    else:
        samples = _in_file(data, ports, preparation)
    for number, sample in enumerate(samples):
        if limit is not None and number >= limit:
            return
        arrays = {port.name: _as_element_type(port, sample.arrays[port.name], sample.label) for port in ports}
        yield sample.with_fields(arrays=arrays)


def _as_element_type(port: TensorPort, array: Array, label: str) -> Array:
    """An array in the element type of its input: floats of another width are rounded, integers have to fit.

    `label` is where the array comes from, for messages. Raises UsageError if the array has elements of another kind, or
    integers that do not fit.
    """
    dtype = port.dtype
    if dtype is None or array.dtype == dtype or dtype.kind not in "fiu":
        return array
    kinds = "f" if dtype.kind == "f" else "iu"
    converted = array.astype(dtype) if array.dtype.kind in kinds else None
    if converted is None or (kinds == "iu" and not np.array_equal(converted, array)):
        hint = f"numpy.savez({port.name}=array.astype({dtype.name!r})) saves what it needs"
        raise UsageError(f"the array for the input {port} is of {array.dtype} in {label}", hint=hint)
    return converted


def _in_folder(path: Path, ports: Sequence[TensorPort], preparation: Preparation) -> Iterator[Sample]:
    files = sorted(each for each in path.iterdir() if each.suffix.lower() in (*ARRAY_SUFFIXES, *IMAGE_SUFFIXES))
    if not files:
        hint = f"it needs files of {', '.join((*ARRAY_SUFFIXES, *IMAGE_SUFFIXES))}"
        raise UsageError(f"there are no samples in the folder {path}", hint=hint)
    for file in files:
        yield Sample(file.name, _sample(file, ports, preparation))


def _in_file(path: Path, ports: Sequence[TensorPort], preparation: Preparation) -> Iterator[Sample]:
    if path.suffix.lower() in IMAGE_SUFFIXES:
        yield Sample(path.name, _sample(path, ports, preparation))
        return
    arrays = matched(read_arrays(str(path)), ports, "input")
    sizes = {port.name: _size_of_sample(port, arrays[port.name], path) for port in ports}
    counts = {name: len(arrays[name]) // size for name, size in sizes.items() if size}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{count} for {name}" for name, count in counts.items())
        raise UsageError(f"{path} has different numbers of samples: {listed}")
    for number in range(next(iter(counts.values()), 1)):
        parts = {name: _part(arrays[name], number, size) for name, size in sizes.items()}
        # An array with an axis more than its input has the samples along it.
        ranks = {port.name: None if port.shape is None else len(port.shape) for port in ports}
        yield Sample(f"{path.name}[{number}]", {name: part[0] if ranks[name] == part.ndim - 1 else part for name, part in parts.items()})


def _part(array: Array, number: int, size: int) -> Array:
    return array[number * size : (number + 1) * size] if size else array


def _size_of_sample(port: TensorPort, array: Array, path: Path) -> int:
    """The number of entries along the first axis that one sample takes; 0 if the array is the same for all samples."""
    rank = array.ndim if port.shape is None else len(port.shape)
    if array.ndim == rank + 1:
        return 1
    if array.ndim != rank:
        raise UsageError(f"the array for {port} in {path} has {array.ndim} dimensions")
    if rank == 0:
        return 0
    batch = 1 if port.shape is None or port.shape[0] < 0 else port.shape[0]
    if batch == 0 or len(array) % batch:
        raise UsageError(f"the array for {port} in {path} has {len(array)} entries, and cannot be divided into batches of {batch}")
    return batch


def _sample(file: Path, ports: Sequence[TensorPort], preparation: Preparation) -> Mapping[str, Array]:
    if file.suffix.lower() in ARRAY_SUFFIXES:
        return matched(read_arrays(str(file)), ports, "input")
    if len(ports) != 1:
        raise UsageError(f"images are for a model with one input, this one has {len(ports)}", hint="give arrays: samples.npz")
    (port,) = ports
    return {port.name: read_image(file, port.shape, port.dtype or np.dtype(np.float32), preparation)}
