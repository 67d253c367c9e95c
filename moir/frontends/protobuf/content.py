"""Recognizing files that are no protobuf messages by their first bytes."""

from __future__ import annotations

import mmap

_BEGINNINGS = (
    (b"PK\x03\x04", "a zip archive (perhaps a PyTorch checkpoint)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x89HDF\r\n\x1a\n", "an HDF5 file (perhaps a Keras model)"),
    (b"\x93NUMPY", "a numpy array"),
    (b"\x80\x02", "a Python pickle (perhaps a PyTorch checkpoint)"),
    (b"GGUF", "a GGUF file"),
    (b"ORTM", "an ORT-format model of ONNX Runtime"),
    (b"version https://git-lfs", "a pointer of Git LFS: the file itself was not downloaded"),
)
_TEXT_BEGINNINGS = ((b"<!doctype html", "an HTML page"), (b"<html", "an HTML page"), (b"<", "an XML document"), (b"{", "JSON text"))
_SAMPLE = 512


def looks_like(mapped: mmap.mmap) -> str | None:
    """The format of a file that is certainly no protobuf message, for messages; else None."""
    beginning = mapped[:_SAMPLE]
    for mark, kind in _BEGINNINGS:
        if beginning.startswith(mark):
            return kind
    if beginning[4:8] in (b"TFL3", b"ORTM"):
        return "a TensorFlow Lite model" if beginning[4:8] == b"TFL3" else "an ORT-format model of ONNX Runtime"
    text = beginning.strip()
    # No model consists of text only: its first field is a number.
    if text and all(byte >= 0x20 or byte in b"\t\n\r" for byte in beginning):
        for mark, kind in _TEXT_BEGINNINGS:
            if text.lower().startswith(mark):
                return kind
        if beginning.isascii():
            return "text"
    if not beginning.strip(b"\0"):
        return "a file of zeros"
    return None
