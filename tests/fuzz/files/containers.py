"""Damage to the headers of safetensors and GGUF: counts, lengths, types, shapes and offsets, a field at a time."""

from __future__ import annotations

import json
import random
import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

NUMBERS = (0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 33, 64, -1, 127, 255, 4096, 2**31 - 1, 2**31, 2**32, 2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1)
"""Numbers at the limits of types, and small ones that are other sizes, types or alignments."""

DTYPES = ("BOOL", "U8", "I8", "F16", "BF16", "I32", "F32", "F64", "I64", "F8_E4M3", "F4", "F32 ", "f32", "", 7, None, ["F32"])
"""Element types of safetensors, and what is none."""

JSON_VALUES: Sequence[Any] = (None, True, -1, 0, 1.5, 2**70, "x", "", [], {}, [0], [0, 0], [[0, 4]], [0, 1e3], ["0", "4"])


# safetensors


def change_safetensors(draw: random.Random, content: bytes, _other: bytes) -> bytes:
    """One field of the header, its length, or the number of bytes of the file changed."""
    length = int.from_bytes(content[:8], "little")
    text, rest = content[8 : 8 + length], content[8 + length :]
    change = draw.choice(_CHANGES)
    if change is None:
        length = draw.choice((*NUMBERS, len(text) - 1, len(text) + 1, len(content)))
        return (length & (1 << 64) - 1).to_bytes(8, "little") + text + rest
    try:
        header = json.loads(text)
        text = change(draw, header, draw.choice([each for each in header if each != "__metadata__"]))
    except (ValueError, LookupError, TypeError, AttributeError):
        # The content is damaged already.
        rest += bytes(draw.choice((1, 4, 32, 4096)))
    return len(text).to_bytes(8, "little") + text + rest


Header = dict[str, Any]


def _change_type(draw: random.Random, header: Header, name: str) -> bytes:
    header[name]["dtype"] = draw.choice(DTYPES)
    return json.dumps(header).encode()


def _change_shape(draw: random.Random, header: Header, name: str) -> bytes:
    shape = header[name]["shape"]
    axis = draw.randrange(len(shape) + 1)
    if axis == len(shape) or draw.random() < 0.3:
        shape.insert(axis, draw.choice(NUMBERS))
    else:
        shape[axis] = draw.choice((*NUMBERS, *JSON_VALUES, shape[axis] * 2, shape[axis] // 2, shape[axis] + 1))
    return json.dumps(header).encode()


def _change_offset(draw: random.Random, header: Header, name: str) -> bytes:
    offsets = header[name]["data_offsets"]
    side = draw.randrange(2)
    offsets[side] = draw.choice((*NUMBERS, *JSON_VALUES, offsets[side] + draw.choice((-32, -4, -1, 1, 4, 32))))
    return json.dumps(header).encode()


def _move(draw: random.Random, header: Header, name: str) -> bytes:
    """The range of another tensor, or the whole range somewhere else."""
    offsets = header[name]["data_offsets"]
    step = draw.choice((-64, -4, 1, 4, 32, 1 << 40))
    others = [entry["data_offsets"] for key, entry in header.items() if key not in ("__metadata__", name)]
    header[name]["data_offsets"] = draw.choice(([each + step for each in offsets], offsets[::-1], list(draw.choice(others or [offsets]))))
    return json.dumps(header).encode()


def _change_field(draw: random.Random, header: Header, name: str) -> bytes:
    """A field that is missing, or of another type; a field without a meaning."""
    key = draw.choice(("dtype", "shape", "data_offsets", "other"))
    if draw.random() < 0.3:
        header[name].pop(key, None)
    else:
        header[name][key] = draw.choice(JSON_VALUES)
    return json.dumps(header).encode()


def _change_entry(draw: random.Random, header: Header, name: str) -> bytes:
    """An entry that is missing, under another name, no object, or there twice."""
    match draw.randrange(5):
        case 0:
            del header[name]
        case 1:
            header[draw.choice(("", "a\nb", "\0", "é" * 200, "model.embed_tokens.weight", f"{name}.bias"))] = header.pop(name)
        case 2:
            header[name] = draw.choice(JSON_VALUES)
        case 3:
            header["__metadata__"] = draw.choice((*JSON_VALUES, {name: 5}, {"format": ["pt"]}, {f"{name}.other": name}))
        case _:
            twin = json.dumps({name: {**header[name], "dtype": draw.choice(("F16", "F32"))}})
            return f"{json.dumps(header)[:-1]}, {twin[1:]}".encode()
    return json.dumps(header).encode()


_CHANGES: Sequence[Callable[[random.Random, Header, str], bytes] | None] = (
    *(_change_type, _change_shape, _change_shape, _change_offset, _change_offset, _move, _change_field, _change_entry, None),
)
"""Each changes the entry of a tensor, and returns the header; None changes its length."""


# GGUF


class Number(NamedTuple):
    """A number of a GGUF header: where it is, its size in bytes, and what it says."""

    start: int
    size: int
    meaning: str


SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
"""The sizes of values by the ids of their types."""


def numbers_of(content: bytes) -> list[Number]:
    """The numbers of the header of a GGUF file; as far as they can be followed if it is damaged."""
    results = [Number(4, 4, "version"), Number(8, 8, "tensors"), Number(16, 8, "keys")]
    position = 24

    def read(size: int, meaning: str) -> int:
        nonlocal position
        if position + size > len(content):
            raise ValueError(meaning)
        results.append(Number(position, size, meaning))
        position += size
        return int.from_bytes(content[position - size : position], "little")

    def value(kind: int) -> None:
        nonlocal position
        if kind == 8:
            position += read(8, "length")
        elif kind == 9:
            of, count = read(4, "type"), read(8, "count")
            for _ in range(count):
                value(of)
        else:
            read(SIZES.get(kind, 4), "value")

    try:
        _, tensors, keys = struct.unpack_from("<IQQ", content, 4)
        for _ in range(keys):
            position += read(8, "length")
            value(read(4, "type"))
        for _ in range(tensors):
            position += read(8, "length")
            for _ in range(read(4, "rank")):
                read(8, "size")
            read(4, "tensor type")
            read(8, "offset")
    except (ValueError, struct.error):
        pass
    return results


def change_gguf(draw: random.Random, content: bytes, _other: bytes) -> bytes:
    """One number of the header by another one, or by one that has the same meaning elsewhere; each meaning alike."""
    numbers = [each for each in numbers_of(content) if each.start + each.size <= len(content)]
    if not numbers:
        return content[: draw.randrange(len(content) + 1)]
    meaning = draw.choice(sorted({each.meaning for each in numbers}))
    same = [each for each in numbers if each.meaning == meaning]
    start, size, _ = draw.choice(same)
    value, another = (int.from_bytes(content[each : each + size], "little") for each in (start, draw.choice(same).start))
    new = draw.choice((*NUMBERS, another, another, *(value + step for step in (-32, -1, 1, 32)), value * 2, value // 2))
    return content[:start] + (new & (1 << 8 * size) - 1).to_bytes(size, "little") + content[start + size :]
