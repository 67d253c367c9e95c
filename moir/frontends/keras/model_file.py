"""The parts of a Keras file: the configuration of the model, the generation of Keras, and the file of its weights.

A `.keras` file is a zip archive of `config.json`, `metadata.json` and `model.weights.h5`; an `.h5` file has the
configuration in an attribute and the weights in groups named as the layers.
"""

from __future__ import annotations

import mmap
import zipfile
import zlib
from pathlib import Path
from typing import Any, cast

from moir.errors import ModelFileError
from moir.files.json_texts import parsed_object
from moir.files.reading import map_content
from moir.files.zip_members import ERRORS, Window, is_stored, range_of
from moir.frontends.keras.hdf5 import HDF5File
from moir.frontends.keras.weights import GroupedWeights, LayerWeights, NamedWeights
from moir.support.records import Record

LARGEST_CONFIGURATION = 1 << 27
"""Largest size of a configuration in bytes."""

LARGEST_ASSET = 1 << 26
"""Largest size of a vocabulary in bytes."""

MAXIMUM_MEMBERS = 1 << 14
"""The maximum number of members of an archive."""

_HDF5_MARK = b"\x89HDF\r\n\x1a\n"


class ModelFile(Record):
    """The contents of a Keras file.

    Args:
        config: the object of the model: class name and configuration.
        generation: 2 or 3.
        weights: the weights of the model.
        assets: texts of vocabularies by their paths below `assets`.
    """

    config: dict[str, Any]
    generation: int
    weights: LayerWeights
    assets: dict[str, str]


def read_file(path: Path) -> ModelFile:
    """Read a Keras file. Raises ModelFileError if it is damaged, or has no model."""
    mapped = map_content(path)
    if mapped[:8] == _HDF5_MARK:
        return _of_hdf5(path, mapped)
    return _of_archive(path, mapped)


def weights_of_file(path: Path) -> LayerWeights:
    """The weights in a file: of `save_weights`, or of a whole model, whose layers are not read.

    Raises ModelFileError if it is damaged, or has no weights.
    """
    mapped = map_content(path)
    if mapped[:8] != _HDF5_MARK:
        return _weights_of_archive(path, mapped, *_members(path, mapped))
    file = HDF5File(path, mapped, 0, len(mapped))
    if (whole := file.child(file.root, "model_weights")) is not None:
        return NamedWeights.of_file(file, whole)
    if file.strings(file.root, "layer_names") is not None:
        return NamedWeights.of_file(file, file.root)
    if _has_weights(file):
        return GroupedWeights(file, file.root)
    raise ModelFileError("this is an HDF5 file, but it has no weights of Keras", location=str(path))


def generation_of(version: object, config: dict[str, Any]) -> int:
    """The generation of Keras that wrote the file, 2 or 3: by the version in the file, or else by fields of the
    configuration.
    """
    text = str(version or "")
    if text[:1] in "123" and text:
        return 3 if text[0] == "3" else 2
    return 3 if "module" in config and not str(config.get("module", "")).startswith("tf_keras") else 2


# HDF5


def _of_hdf5(path: Path, mapped: mmap.mmap) -> ModelFile:
    file = HDF5File(path, mapped, 0, len(mapped))
    text = file.text(file.root, "model_config")
    if text is None:
        raise _weights_only(path) if _has_weights(file) else ModelFileError("this is an HDF5 file, but no Keras model", location=str(path))
    if len(text) > LARGEST_CONFIGURATION:
        raise file.error("its configuration is too large")
    config = parsed_object(text, path, "the attribute model_config")
    version = file.text(file.root, "keras_version")
    weights = file.child(file.root, "model_weights")
    return ModelFile(config, generation_of(version, config), NamedWeights.of_file(file, weights), {})


def _has_weights(file: HDF5File) -> bool:
    names = file.names(file.root)
    return file.strings(file.root, "layer_names") is not None or any(name in names for name in ("layers", "_layer_checkpoint_dependencies"))


def _weights_only(path: Path) -> ModelFileError:
    return ModelFileError(
        "these are weights of a Keras model without its layers",
        location=str(path),
        hint=f"give the JSON of the model, as model.to_json() returns it: moir model.json --weights {path.name}; or build the model, "
        "load them with model.load_weights, and save all of it: model.save('model.keras')",
    )


# Archives


def _members(path: Path, mapped: mmap.mmap) -> tuple[zipfile.ZipFile, dict[str, zipfile.ZipInfo]]:
    """An archive, and its members by their names. Raises ModelFileError if it is no valid archive."""
    try:
        archive = zipfile.ZipFile(cast(Any, Window(memoryview(mapped))))
        return archive, {each.filename: each for each in archive.infolist()[:MAXIMUM_MEMBERS]}
    except ERRORS as error:
        raise ModelFileError(f"no valid zip archive: {error}", location=str(path), hint="copy or download it again") from error


def _of_archive(path: Path, mapped: mmap.mmap) -> ModelFile:
    archive, members = _members(path, mapped)
    if "config.json" not in members:
        missing = "it has no config.json"
        raise ModelFileError(f"this zip archive is not a Keras model: {missing}", location=str(path))
    config = parsed_object(_member(archive, members["config.json"], path, LARGEST_CONFIGURATION), path, "config.json")
    version: object = None
    if "metadata.json" in members:
        metadata = parsed_object(_member(archive, members["metadata.json"], path, LARGEST_CONFIGURATION), path, "metadata.json")
        version = metadata.get("keras_version")
    assets = {
        name.removeprefix("assets/"): _member(archive, member, path, LARGEST_ASSET).decode(errors="replace")
        for name, member in members.items()
        if name.startswith("assets/") and name.endswith(".txt")
    }
    return ModelFile(config, generation_of(version, config), _weights_of_archive(path, mapped, archive, members), assets)


def _weights_of_archive(path: Path, mapped: mmap.mmap, archive: zipfile.ZipFile, members: dict[str, zipfile.ZipInfo]) -> GroupedWeights:
    """The weights of an archive; none if it has no member with weights. Raises ModelFileError if they are in several
    files.
    """
    if (member := members.get("model.weights.h5")) is not None:
        return _archived_weights(member, path, mapped)
    if (member := members.get("model.weights.npz")) is not None:
        from moir.frontends.keras.npz import LARGEST_MEMBER, NpzFile

        file = NpzFile(path, _member(archive, member, path, LARGEST_MEMBER))
        return GroupedWeights(file, file.root)
    if any(name.startswith("model.weights") for name in members):
        hint = "save the model as one file: model.save('model.keras')"
        raise ModelFileError("its weights are in several parts, which are not supported", location=str(path), hint=hint)
    return GroupedWeights.empty()


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, largest: int) -> bytes:
    """The bytes of a member. Raises ModelFileError if it has more than `largest`, or is damaged."""
    if member.file_size > largest:
        raise ModelFileError(f"its member {member.filename} is too large", location=str(path))
    try:
        with archive.open(member) as file:
            return file.read(largest)
    except (*ERRORS, RuntimeError, zlib.error) as error:
        raise ModelFileError(f"its member {member.filename} is damaged: {error}", location=str(path)) from error


def _archived_weights(member: zipfile.ZipInfo, path: Path, mapped: mmap.mmap) -> GroupedWeights:
    """The weights of an archive, whose HDF5 file is a view of the memory map of the archive.

    Raises ModelFileError if it is compressed, encrypted or damaged.
    """
    if not is_stored(member):
        raise ModelFileError(
            "its weights are compressed or encrypted",
            location=str(path),
            hint="Keras stores them as they are: save the model again, or pack the archive with zip -0",
        )
    if (member_range := range_of(memoryview(mapped), member)) is None:
        raise ModelFileError("its member model.weights.h5 is damaged", location=str(path), hint="copy or download it again")
    start, stop = member_range
    file = HDF5File(path, mapped, start, stop - start)
    return GroupedWeights(file, file.root)
