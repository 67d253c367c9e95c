"""Streams of parameters of PaddlePaddle, taken apart."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from moir.frontends.paddle.messages import MESSAGES


class Part(NamedTuple):
    """A parameter: its name, and its bytes in the stream."""

    name: str
    content: bytes


def split_stream(program: Path) -> Iterator[Part]:
    """The parameters of a program, from the stream beside it."""
    message = MESSAGES.reader("ProgramDesc").FromString(program.read_bytes())
    names = sorted(each.name for each in message.blocks[0].vars if each.persistable and each.type.type == 7)
    content, position = program.with_suffix(".pdiparams").read_bytes(), 0
    for name in names:
        (size,) = struct.unpack_from("<i", content, position + 16)
        description = MESSAGES.reader("TensorDesc").FromString(content[position + 20 : position + 20 + size])
        end = position + 20 + size + 4 * int(np.prod(description.dims))
        yield Part(name, content[position:end])
        position = end
    assert position == len(content)
