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
from moir.files.archives import kind_of_members
from moir.files.file_kind import EXPORT_CORE_ML, FileKind
from moir.frameworks import readable
from moir.frameworks.record import VARINT

_ZIP = rb"PK\x03\x04.{26}"
"""A pattern for the header of a zip archive's first entry, up to the name of the entry."""

_SPACE = rb"(?:\xef\xbb\xbf)?(?:\s|//[^\n]*\n|#[^\n]*\n|<!--.*?-->|<\?xml[^>]*>)*"
"""Regular expression for blanks and comments before the first word of a text."""

_EXPORT_TORCH = "load the model in PyTorch and export it: torch.export.save(torch.export.export(model, inputs), '{stem}.pt2')"
_EXPORT_ORIGINAL = "export the model from the framework that defines it to ONNX or SavedModel"
_NO_FRONTEND = "there is no frontend for {name} yet; if the original is at hand, export it to ONNX or SavedModel"

_EXPORT_DARKNET = "convert the .cfg with its .weights to ONNX (tool/darknet2onnx.py of pytorch-YOLOv4 does so for YOLO), and give that"
_EXPORT_NCNN = "give the ONNX file or the PyTorch module that it was made from: no tool writes ncnn back"

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
    FileKind(
        "a program of ExecuTorch",
        "save the program that it was made from, before to_edge: torch.export.save(torch.export.export(model, inputs), '{stem}.pt2')",
        beginning=rb".{4}ET\d\d",
        suffixes=(".pte",),
    ),
    FileKind("the weights of a program of ExecuTorch", _EXPORT_TORCH, beginning=rb".{4}FT\d\d", suffixes=(".ptd",)),
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
    FileKind("a Core ML model", EXPORT_CORE_ML, beginning=rb"\x08[\x02-\x14]\x12" + VARINT + rb"\x0a", suffixes=(".mlmodel",)),
    FileKind("a Darknet configuration", _EXPORT_DARKNET, beginning=_SPACE + rb"\[net(?:work)?\]"),
    # The version of the format, and the number of images that were seen.
    FileKind("the weights of a Darknet network", _EXPORT_DARKNET, beginning=rb"\0{4}[\x01\x02]\0{3}[\0-\x05]\0{3}", endings=(".weights",)),
    FileKind("an ncnn network", _EXPORT_NCNN, beginning=rb"7767517\s|\xdd\x85\x76\0"),
    # The marks of weights in half precision, of integers, and of floats with scales.
    FileKind(
        "the weights of an ncnn network", _EXPORT_NCNN, beginning=rb"\x47\x6b\x30\x01|\x38\x4b\x0d\0|\x56\xc0\x02\0", endings=(".bin",)
    ),
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
"""The kinds that are tried last, for files that no other kind fits by its first bytes or its name."""


def foreign_kind(beginning: bytes, name: str = "", kinds: Iterable[FileKind] = KINDS, *, by_suffix: bool = True) -> FileKind | None:
    """The kind of a file that no frontend reads: the first of `kinds` whose expression matches the first bytes of the
    file.

    If there is none, and `by_suffix` is true, the first kind whose suffix the name of the file has; else None.
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
    kind = kind_of_members(path, beginning) or foreign_kind(beginning, path.name, (*KINDS, *GENERAL), by_suffix=False)
    if kind is not None:
        raise kind.error(path)
