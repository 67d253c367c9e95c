"""Names of element types: those of Model Optimizer's options (`FP32`), those in the IR (`f32`), and numpy's types."""

from __future__ import annotations

from typing import Any

import numpy as np

from moir.errors import ConversionError

_TYPES: tuple[tuple[str, str, type[np.generic]], ...] = (
    ("FP16", "f16", np.float16),
    ("FP32", "f32", np.float32),
    ("FP64", "f64", np.float64),
    ("I8", "i8", np.int8),
    ("I16", "i16", np.int16),
    ("I32", "i32", np.int32),
    ("I64", "i64", np.int64),
    ("U8", "u8", np.uint8),
    ("U16", "u16", np.uint16),
    ("U32", "u32", np.uint32),
    ("U64", "u64", np.uint64),
    ("BOOL", "boolean", np.bool_),
)
_ALIASES = {"half": "FP16", "float": "FP32", "double": "FP64", **{np.dtype(type_).name: name for name, _, type_ in _TYPES}}


def _find(what: object, column: int) -> tuple[str, str, type[np.generic]]:
    for row in _TYPES:
        if row[column] == what:
            return row
    raise ConversionError(f"{what!r} is not an element type", hint=f"known are {', '.join(str(row[column]) for row in _TYPES)}")


def data_type_str_to_np(data_type_str: str) -> type[np.generic]:
    """The numpy type of an option's name: `FP32` or `float`."""
    return _find(_ALIASES.get(data_type_str, data_type_str), 0)[2]


def data_type_str_to_precision(data_type_str: str) -> str:
    """The option's name in capital letters: `FP32` for `float`."""
    return _find(_ALIASES.get(data_type_str, data_type_str), 0)[0]


def np_data_type_to_precision(np_data_type: Any) -> str:
    """The option's name of a numpy type: `FP32` for float32."""
    return _find(np.dtype(np_data_type).type, 2)[0]


def np_data_type_to_destination_type(np_data_type: Any) -> str:
    """The name in the IR of a numpy type: `f32` for float32."""
    return _find(np.dtype(np_data_type).type, 2)[1]


def destination_type_to_np_data_type(dst_type: str) -> type[np.generic]:
    """The numpy type of a name in the IR: float32 for `f32`."""
    return _find(dst_type, 1)[2]


def precision_to_destination_type(data_type_str: str) -> str:
    """The name in the IR of an option's name: `f32` for `FP32`."""
    return _find(_ALIASES.get(data_type_str, data_type_str), 0)[1]


class packed_U1(np.generic):
    """A stand-in for a numpy type of the element type `u1`, which numpy does not have."""


class packed_U4(np.generic):
    """A stand-in for a numpy type of the element type `u4`, which numpy does not have."""


class packed_I4(np.generic):
    """A stand-in for a numpy type of the element type `i4`, which numpy does not have."""


_PACKED: tuple[tuple[str, str, type[np.generic]], ...] = (("U1", "u1", packed_U1), ("U4", "u4", packed_U4), ("I4", "i4", packed_I4))


def _rows() -> dict[str, tuple[type[np.generic], str, str]]:
    rows = {option: (type_, option, element) for option, element, type_ in (*_TYPES, *_PACKED)}
    other = {
        "int8": "I8",
        "int32": "I32",
        "int64": "I64",
        "bool": "BOOL",
        "uint8": "U8",
        "int4": "I4",
        "uint4": "U4",
        "uint32": "U32",
        "uint64": "U64",
    }
    return {**rows, **{name: rows[option] for name, option in {**_ALIASES, **other}.items()}}


SUPPORTED_DATA_TYPES = _rows()
"""Name -> the numpy type, the option's name, and the name in the IR."""
