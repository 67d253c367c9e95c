"""Files that moir does not read: how each kind is recognized, and what its user can do next.

    FileKind(
        "a TensorRT engine",
        "give the model that it was built from",
        beginning=rb"[pf]trt",
        suffixes=(".engine", ".trt", ".plan"),
    )

A kind is recognized by the first bytes of a file, or else by its name. Nothing is unpacked or executed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from moir.errors import ModelFileError
from moir.framework_record import VARINT
from moir.frameworks import readable
from moir.records import Record


class FileKind(Record):
    """A kind of file.

    Args:
        name: the name of the kind of file, with its article.
        step: what the user can do; `{path}`, `{stem}` and `{folder}` stand for those of the file.
        beginning: regular expression for the first bytes.
        suffixes: the file is of this kind if its name ends so and its first bytes identify no kind.
        endings: if there are any, the name must end with one of them, besides having the first bytes.
    """

    name: str
    step: str
    beginning: bytes | None = None
    suffixes: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()

    def is_named(self, name: str) -> bool:
        """Whether a file of this name may be of the kind, if its first bytes are those of the kind."""
        return not self.endings or name.lower().endswith(self.endings)

    def error(self, path: Path) -> ModelFileError:
        """The error for a file of this kind in place of a model."""
        step = self.step.format(path=path, stem=path.stem or "model", folder=path.parent)
        return ModelFileError(f"this is {self.name}", location=str(path), hint=step)


_ZIP = rb"PK\x03\x04.{26}"
"""The header of a zip archive's first entry, before its name."""

_SPACE = rb"(?:\xef\xbb\xbf)?(?:\s|//[^\n]*\n|#[^\n]*\n|<!--.*?-->|<\?xml[^>]*>)*"
"""Regular expression for blanks and comments before the first word of a text."""

_EXPORT_TORCH = "load the model in PyTorch and export it: torch.export.save(torch.export.export(model, inputs), '{stem}.pt2')"
_EXPORT_ORIGINAL = "export the model from the framework that defines it to ONNX or SavedModel"
_NO_FRONTEND = "there is no frontend for {name} yet; if the original is at hand, export it to ONNX or SavedModel"

TEXT_OF_MODULE = FileKind(
    "the text of a module, as --dump-ir writes it",
    "go on with moir-opt {path} --resume-after {stem} -t ir -o model.xml",
    beginning=_SPACE + rb'"?(?:builtin\.module|moir\.model|module)\b',
    suffixes=(".mlir",),
)

KINDS: tuple[FileKind, ...] = (
    TEXT_OF_MODULE,
    # PyTorch.
    FileKind(
        "a PyTorch checkpoint", _EXPORT_TORCH, beginning=_ZIP + rb"[^/\0]{1,80}/(?:data\.pkl|\.format_version|\.data/|version|byteorder)"
    ),
    FileKind("a PyTorch checkpoint", _EXPORT_TORCH, beginning=rb"\x80\x02\x8a\x0al\xfc\x9cF\xf9 j\xa8P\x19"),
    # TensorFlow.
    FileKind(
        "a part of a TensorFlow checkpoint, values without a graph",
        "give the graph with its values: moir GRAPH --checkpoint PREFIX, or PREFIX.meta",
        beginning=rb"\x00\x00.\x08\x01\x1a",
        suffixes=(".index", ".ckpt"),
    ),
    FileKind(
        "the list of checkpoints of a folder",
        "give the graph that the checkpoint belongs to: moir GRAPH --checkpoint PREFIX",
        beginning=rb"model_checkpoint_path:",
    ),
    FileKind(
        "a model of TensorFlow.js",
        _EXPORT_ORIGINAL,
        beginning=rb'\s*\{.{0,60}"(?:format|modelTopology)"\s*:\s*(?:"(?:graph|layers)-model"|\{)',
    ),
    # Weights without a graph.
    FileKind(
        "a safetensors file, weights without a graph",
        "give the folder of a language model with its config.json; export any other model from the framework that defines it",
        beginning=rb".{5}\0\0\0\{\s*\"",
        suffixes=(".safetensors",),
    ),
    # Other frameworks.
    FileKind(
        "an ORT-format model of ONNX Runtime", "give the ONNX file that it was made from", beginning=rb".{0,4}ORTM", suffixes=(".ort",)
    ),
    FileKind(
        "the parameters of a PaddlePaddle model, values without a graph",
        "give the program beside it, a .pdmodel or .json",
        beginning=rb"\0{16}[\x02-\x40]\0\0\0\x08",
        suffixes=(".pdiparams", ".pdiparams.info"),
    ),
    FileKind(
        "the state of a PaddlePaddle network, values without a graph",
        "build the network, load the state, and save it for inference: paddle.jit.save",
        suffixes=(".pdparams", ".pdopt"),
    ),
    FileKind(
        "a Kaldi network",
        _NO_FRONTEND.format(name="Kaldi"),
        beginning=rb"(?:\0B)?<(?:Nnet|Nnet3|TransitionModel)>",
        suffixes=(".nnet", ".mdl"),
    ),
    FileKind("a Core ML model", _EXPORT_ORIGINAL, beginning=rb"\x08[\x02-\x14]\x12" + VARINT + rb"\x0a", suffixes=(".mlmodel",)),
    FileKind("a Darknet configuration", _EXPORT_ORIGINAL, beginning=_SPACE + rb"\[net(?:work)?\]"),
    FileKind("a TensorRT engine", "give the model that it was built from", beginning=rb"[pf]trt", suffixes=(".engine", ".trt", ".plan")),
    FileKind(
        "an ONNX model as text",
        "onnx.save(onnx.load('{path}', format='textproto'), '{stem}.onnx') writes it as moir reads it",
        beginning=_SPACE + rb"ir_version\s*:",
        suffixes=(".onnxtxt", ".textproto"),
    ),
    # Not a model at all.
    FileKind("a pointer of Git LFS; the file itself was not downloaded", "run git lfs pull", beginning=rb"version https://git-lfs"),
    FileKind("an HTML page", "the download failed, or needs a login; download the file again", beginning=rb"\s*<(?i:!doctype html|html)"),
    FileKind("an array of numpy", "give a model", beginning=rb"\x93NUMPY|" + _ZIP + rb"[^\0]{0,80}\.npy", suffixes=(".npy", ".npz")),
    FileKind("a zip archive", "unpack it, and give the model in it", beginning=rb"PK\x03\x04", suffixes=(".zip",)),
    FileKind(
        "a compressed file",
        "unpack it, and give the model in it",
        beginning=rb"\x1f\x8b|BZh|\xfd7zXZ\0|7z\xbc\xaf\x27\x1c|\x28\xb5\x2f\xfd|.{257}ustar",
        suffixes=(".gz", ".tgz", ".bz2", ".xz", ".7z", ".zst", ".tar"),
    ),
    FileKind("a program", "give a model", beginning=rb"\x7fELF|MZ|#!"),
    FileKind("a picture", "give a model", beginning=rb"\x89PNG|\xff\xd8\xff|GIF8"),
    FileKind("a PDF document", "give a model", beginning=rb"%PDF"),
)
"""The kinds of files that are recognized; the first that fits is taken."""

PICKLE = FileKind(
    "a Python pickle, perhaps a PyTorch checkpoint", _EXPORT_TORCH, beginning=rb"\x80[\x02-\x05]", suffixes=(".pt", ".pth", ".ckpt", ".pkl")
)

GENERAL: tuple[FileKind, ...] = (
    PICKLE,
    FileKind("a Python program", "run it, and export the model that it builds to ONNX or SavedModel", suffixes=(".py", ".ipynb")),
    FileKind("an XML document, but no OpenVINO IR", "give a model", beginning=rb"\s*<[?!\w]"),
    FileKind("JSON text", "give a model", beginning=rb"\s*[{\[]"),
    FileKind("a file of zeros", "copy or download it again", beginning=rb"\0+$"),
)
"""The kinds of files that are recognized only if the name says nothing else."""


def foreign_kind(beginning: bytes, name: str = "", kinds: Iterable[FileKind] = KINDS, *, by_suffix: bool = True) -> FileKind | None:
    """The first kind whose expression matches the first bytes of a file.

    If there is none, and `by_suffix` is true, the first kind whose suffix the name of the file has.
    """
    kinds, lower = tuple(kinds), name.lower()
    for kind in kinds:
        if kind.beginning is not None and kind.is_named(name) and re.match(kind.beginning, beginning, re.DOTALL):
            return kind
    return next((kind for kind in kinds if by_suffix and lower.endswith(kind.suffixes) and kind.suffixes), None)


def check_not_foreign(path: Path, beginning: bytes) -> None:
    """Raises ModelFileError if a file begins like the texts of another framework, or like a kind that is not read."""
    other = next((framework for framework in readable() if not framework.beginning and framework.begins(beginning)), None)
    if other is not None:
        raise ModelFileError(f"this is a model of {other.title}", location=str(path), hint=f"read it as such: {other.dialect}")
    kind = foreign_kind(beginning, path.name, (*KINDS, *GENERAL), by_suffix=False)
    if kind is not None:
        raise kind.error(path)
