"""A header of safetensors or GGUF that is changed is an error of one line, or the tensors are those of before."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import numpy as np

from moir.errors import ModelFileError
from moir.frontends.gguf.container import Container
from moir.frontends.safetensors import SafeTensors
from tests.fuzz.files.containers import change_gguf, change_safetensors
from tests.fuzz.files.language_models import folder_samples, gguf_samples
from tests.unit.language_models.folders import Array

COUNT = 1500

Tensors = dict[str, tuple[object, tuple[int, ...], bytes]]
"""The types, shapes and bytes of tensors."""


def safetensors(path: Path) -> Tensors:
    """The tensors of a file of safetensors."""
    return {name: (data.element, data.shape, bytes_of(np.asarray(data.values))) for name, data in SafeTensors(path).tensors.items()}


def gguf(path: Path) -> Tensors:
    """The tensors of a GGUF file."""
    return {name: (each.type.name, each.shape, bytes_of(each.rows)) for name, each in Container(path).tensors.items()}


def bytes_of(values: Array) -> bytes:
    """The bytes of an array."""
    return values.tobytes()


def are_same(actual: Tensors, expected: Tensors) -> bool:
    """Whether the tensors have the same bytes, in any order.

    A name, an order of dimensions, and a type of the same size cannot be told from what was meant.
    """
    first, second = (sorted(each[2] for each in tensors.values()) for tensors in (actual, expected))
    return first == second


def outcome(read: Callable[[Path], Tensors], path: Path) -> Tensors | None:
    """The tensors of a file; None if it is refused in one line that names it."""
    try:
        return read(path)
    except ModelFileError as refusal:
        message = str(refusal)
    assert "\n" not in message
    assert path.name in message
    return None


def test_headers_of_safetensors(tmp_path: Path) -> None:
    content = folder_samples()[0].files["m/model.safetensors"]
    path = tmp_path / "m.safetensors"
    path.write_bytes(content)
    expected, draw, refused = safetensors(path), random.Random(1), 0
    for number in range(COUNT):
        path.write_bytes(change_safetensors(draw, content, b""))
        actual = outcome(safetensors, path)
        assert actual is None or are_same(actual, expected), number
        refused += actual is None
    assert COUNT / 2 < refused < COUNT


def test_headers_of_gguf(tmp_path: Path) -> None:
    draw, path, refused, count = random.Random(2), tmp_path / "m.gguf", 0, 0
    for sample in (gguf_samples()[index] for index in (0, 1, 3)):
        content = sample.files["m.gguf"]
        path.write_bytes(content)
        expected = gguf(path)
        for number in range(COUNT // 3):
            path.write_bytes(change_gguf(draw, content, b""))
            count += 1
            actual = outcome(gguf, path)
            assert actual is None or are_same(actual, expected), (sample.name, number)
            refused += actual is None
    assert count / 4 < refused < count
