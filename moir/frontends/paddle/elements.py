"""The element types of PaddlePaddle: their numbers in programs and streams, their names in PIR.

Source: framework.proto of PaddlePaddle 3.3; data_type.h of its phi library.
"""

from __future__ import annotations

from collections.abc import Mapping

TENSOR, FEED_LIST, FETCH_LIST, STEP_SCOPES, TENSOR_ARRAY, RAW = 7, 9, 10, 11, 13, 17
"""The numbers in `VarType.Type` of the kinds of variables that the reader distinguishes."""

DATA_TYPES: Mapping[str, int] = {
    "bool": 0,
    "int16": 1,
    "int32": 2,
    "int64": 3,
    "float16": 4,
    "float32": 5,
    "float64": 6,
    "uint8": 20,
    "int8": 21,
    "bfloat16": 22,
    "float8_e4m3fn": 32,
    "float8_e5m2": 33,
    "Undefined": -1,
    "Undefined(ALL_DTYPE)": -1,
}
"""The numbers of element types by their names in PIR's attributes; -1 means that no type is given."""

TYPE_NAMES: Mapping[str, int] = {
    "0.t_bool": 0,
    "0.t_i16": 1,
    "0.t_i32": 2,
    "0.t_i64": 3,
    "0.t_f16": 4,
    "0.t_f32": 5,
    "0.t_f64": 6,
    "0.t_ui8": 20,
    "0.t_i8": 21,
    "0.t_bf16": 22,
    "0.t_f8e4m3fn": 32,
    "0.t_f8e5m2": 33,
}
"""The numbers of element types by the names of PIR's types."""
