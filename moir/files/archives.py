"""What a zip archive is that no frontend reads, by the names of its members; nothing is unpacked.

code/__torch__.py, constants.pkl           TorchScript
hand_detector.tflite, …                    a bundle of MediaPipe, which names its models
Data/com.apple.CoreML/model.mlmodel        a Core ML package
"""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

from moir.files.file_kind import EXPORT_CORE_ML, FileKind
from moir.files.zip_members import ERRORS
from moir.frameworks import readable
from moir.support.suggestions import alternatives

MOST_MEMBERS = 10_000
"""The largest number of members of an archive that are examined."""

MOST_NAMES = 4
"""The largest number of models of an archive that a message lists."""

TORCHSCRIPT = FileKind(
    "a TorchScript program",
    "export the module that it was made from: torch.export.save(torch.export.export(model, inputs), '{stem}.pt2'); or write it as "
    "ONNX: torch.onnx.export(torch.jit.load('{path}'), inputs, '{stem}.onnx', dynamo=False)",
)

CORE_ML_PACKAGE = FileKind("a Core ML package", EXPORT_CORE_ML)

COMPILED_CORE_ML = FileKind("a compiled Core ML model", EXPORT_CORE_ML)

_WITHOUT_SUFFIX = "TF_LITE_"
"""The beginning of the names of TensorFlow Lite models in bundles of language models."""


def kind_of_members(path: Path, beginning: bytes) -> FileKind | None:
    """The kind of a zip archive, from the names of its members; None for any other file, and if the names do not
    tell.
    """
    return kind_of_archive(path) if beginning.startswith(b"PK\x03\x04") else None


def kind_of_folder(path: Path) -> FileKind | None:
    """The kind of a folder that is a model of Core ML; None for any other folder."""
    if (path / "Data" / "com.apple.CoreML").is_dir():
        return CORE_ML_PACKAGE
    return COMPILED_CORE_ML if (path / "coremldata.bin").is_file() else None


def kind_of_archive(path: Path) -> FileKind | None:
    """The kind of a zip archive; None if the names of its members do not tell, or if it is damaged."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = [each.filename for each in islice(archive.infolist(), MOST_MEMBERS)]
    except ERRORS:
        return None
    if any(name.endswith("constants.pkl") for name in names) and any(name.startswith("code/") or "/code/" in name for name in names):
        return TORCHSCRIPT
    if any("com.apple.CoreML/" in name for name in names):
        return CORE_ML_PACKAGE
    models = [name for name in names if name.isprintable() and _is_model(name)]
    return _archive_of(models, path) if models else None


def _is_model(name: str) -> bool:
    """Whether the name of a member of an archive is that of a model that a frontend reads."""
    last = name.rpartition("/")[2]
    suffixes = tuple(suffix for framework in readable() for suffix in framework.suffixes if suffix not in (".json", ".xml", ".txt"))
    return last.lower().endswith(suffixes) or last.startswith(_WITHOUT_SUFFIX)


def _archive_of(models: Sequence[str], path: Path) -> FileKind:
    """The kind of an archive that contains the models `models`; its advice names them."""
    kind = "a bundle of MediaPipe" if path.suffix.lower() == ".task" else "a zip archive"
    shown = [*models[:MOST_NAMES], *([f"{len(models) - MOST_NAMES} more"] if len(models) > MOST_NAMES else [])]
    # Braces in a name are no fields of the text.
    listed = alternatives(shown).replace("{", "{{").replace("}", "}}")
    step = f"unpack it, and give the model in it: {listed}"
    return FileKind(kind, f"{step} (python -m zipfile -e {{path}} {{stem}} writes them to the folder {{stem}})")
