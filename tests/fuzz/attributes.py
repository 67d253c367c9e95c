"""Attributes that no recipe drew: by name where the name says what is legal, else by type."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from onnx import TensorProto, defs

from tests.fuzz.draw import Draw

FACTORS = (0.0, 1.0, -1.0, 0.5, 2.0, 0.01, -0.2, 1.67, 1e-5, 100.0)
TYPES = (TensorProto.FLOAT,) * 4 + (
    TensorProto.DOUBLE,
    TensorProto.FLOAT16,
    TensorProto.BFLOAT16,
    TensorProto.INT64,
    TensorProto.INT32,
    TensorProto.INT16,
    TensorProto.INT8,
    TensorProto.UINT8,
    TensorProto.UINT16,
    TensorProto.UINT32,
    TensorProto.UINT64,
    TensorProto.BOOL,
    TensorProto.STRING,
    TensorProto.FLOAT8E4M3FN,
    TensorProto.FLOAT8E5M2,
    TensorProto.INT4,
    TensorProto.UINT4,
)
"""Targets of conversions: what an IR has, f32 most often."""

CHOICES: Mapping[str, Callable[[Draw, int], Any]] = {
    "axis": lambda draw, rank: draw.axis(rank),
    "axes": lambda draw, rank: draw.axes(rank),
    "to": lambda draw, _: draw.one_of(TYPES),
    "dtype": lambda draw, _: draw.one_of(TYPES),
    "output_datatype": lambda draw, _: draw.one_of(TYPES[:8]),
    "epsilon": lambda draw, _: draw.one_of((1e-5, 1e-3, 1e-12, 0.5)),
    "alpha": lambda draw, _: draw.one_of(FACTORS),
    "beta": lambda draw, _: draw.one_of(FACTORS),
    "gamma": lambda draw, _: draw.one_of(FACTORS),
    "k": lambda draw, _: draw.integer(-3, 3),
    "p": lambda draw, _: draw.integer(1, 3),
    "start": lambda draw, rank: draw.integer(-rank - 1, rank + 1),
    "end": lambda draw, rank: draw.integer(-rank - 1, rank + 1),
    "approximate": lambda draw, _: draw.one_of(("none", "tanh")),
    "direction": lambda draw, _: draw.one_of(("LEFT", "RIGHT")),
    "mode": lambda draw, _: draw.one_of(("DCR", "CRD")),
    "reduction": lambda draw, _: draw.one_of(("none", "sum", "mean")),
    "round_mode": lambda draw, _: draw.one_of(("up", "down", "nearest")),
    "stash_type": lambda _draw, _: TensorProto.FLOAT,
    "seed": lambda draw, _: float(draw.integer(0, 100)),
    "ratio": lambda draw, _: draw.one_of((0.0, 0.5)),
    "activation": lambda draw, _: draw.one_of(("none", "silu", "swish")),
}
"""What is legal under a name, for an operand of a rank."""

KEPT = 0.7
"""Probability that an attribute with a default, or an optional operand, is given."""


def free_attributes(draw: Draw, schema: defs.OpSchema, given: Mapping[str, Any], rank: int) -> dict[str, Any]:
    """The attributes of a node: those given, and others drawn; some of those with defaults are left out."""
    results: dict[str, Any] = {}
    for name, attribute in sorted(schema.attributes.items()):
        if name in given:
            if given[name] is not None:
                results[name] = given[name]
            continue
        if not attribute.required and not draw.chance(KEPT):
            continue
        if name in CHOICES:
            results[name] = CHOICES[name](draw, rank)
            continue
        match attribute.type:
            case defs.OpSchema.AttrType.INT:
                results[name] = draw.integer(0, 1)
            case defs.OpSchema.AttrType.FLOAT:
                results[name] = draw.one_of(FACTORS)
            case _:
                pass
    return results
