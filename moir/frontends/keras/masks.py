"""Masks that Keras attaches to tensors, without passing them as arguments.

Files of Keras 3 contain some of these masks as arguments, too. An Embedding with `mask_zero` and a Masking create a
mask; layers that keep the steps of their input pass its mask on; layers with an argument `mask` receive it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.ir import SSAValue

from moir.frontends.keras.builder import ModelBuilder
from moir.frontends.keras.configuration import Entry, contained

MASKED = frozenset(
    (
        *("LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "Bidirectional", "CuDNNGRU", "CuDNNLSTM"),
        *("GlobalAveragePooling1D", "Softmax"),
    )
)
"""Layers whose argument `mask` is the mask of their input."""

RECURRENT = frozenset(("LSTM", "GRU", "SimpleRNN", "RNN", "ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "Bidirectional"))
"""Layers that pass the mask on if they return all steps."""

ATTENDING = {
    "MultiHeadAttention": ("query_mask", "value_mask", "key_mask"),
    "GroupQueryAttention": ("query_mask", "value_mask", "key_mask"),
    "GroupedQueryAttention": ("query_mask", "value_mask", "key_mask"),
}
"""For each attention layer, the names of the arguments that are the masks of its inputs."""

LISTED = frozenset(("Attention", "AdditiveAttention"))
"""Attention layers whose argument `mask` is the list of the masks of the query and the value."""

MERGING = frozenset(("Add", "Subtract", "Multiply", "Average", "Maximum", "Minimum"))
"""Layers that join the masks of their inputs."""

PASSING = frozenset(
    (
        *("Dense", "Dropout", "Activation", "Identity", "LayerNormalization", "BatchNormalization", "GroupNormalization"),
        *("UnitNormalization", "LeakyReLU", "ReLU", "PReLU", "ELU", "Softmax", "Rescaling", "ThresholdedReLU"),
        *("Normalization", "AlphaDropout", "GaussianDropout", "GaussianNoise", "ActivityRegularization", "SpatialDropout1D"),
        *("SpatialDropout2D", "SpatialDropout3D", "TimeDistributed", "MultiHeadAttention", "GroupQueryAttention", "Attention"),
        *("AdditiveAttention", "Lambda", "Masking"),
    )
)
"""Layers whose result has the mask of their first input."""


def mask_arguments(builder: ModelBuilder, entry: Entry, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments `mask` of a call, from the masks of its inputs; empty for layers that take no mask."""
    if entry.is_operation or not builder.masks:
        return {}
    kind, masks = entry.class_name, builder.masks
    values = [*contained(arguments, SSAValue)]
    if kind in MASKED and "mask" not in keywords and values and (mask := masks.get(values[0])) is not None:
        # Keras 3 looks for masks of calls with one tensor alone: with an initial state there is none.
        has_others = len(values) > 1 or any(True for _ in contained([*keywords.values()], SSAValue))
        return {} if has_others and builder.file.generation >= 3 else {"mask": mask}
    if kind in LISTED and "mask" not in keywords and any(each in masks for each in values):
        return {"mask": [masks.get(each) for each in values[:2]]}
    if kind in ATTENDING:
        query = values[0] if values else None
        others = [next(contained([keywords.get(name)], SSAValue), None) for name in ("value", "key")]
        given = [query, values[1] if len(values) > 1 else others[0], values[2] if len(values) > 2 else others[1]]
        names = ATTENDING[kind]
        pairs = [(name, value) for name, value in zip(names, given, strict=True) if value is not None and name not in keywords]
        return {name: masks[value] for name, value in pairs if value in masks}
    return {}


def pass_mask(builder: ModelBuilder, entry: Entry, arguments: Sequence[Any], results: Sequence[SSAValue]) -> None:
    """Record the mask of the result of a layer: a new one, the mask of its input, or those of all inputs combined."""
    masks = builder.masks
    values = [*contained(arguments, SSAValue)]
    if entry.class_name == "Embedding" and entry.config.get("mask_zero") and values:
        masks[results[0]] = _compared(builder, values[0], 0, f"{entry.name}/mask")
    elif entry.class_name == "Masking" and values:
        compared = _compared(builder, values[0], entry.config.get("mask_value", 0.0), f"{entry.name}/differs")
        masks[results[0]] = builder.node("ops.Any", f"{entry.name}/mask", [compared], {}, {"axis": -1})[0]
    elif entry.class_name in RECURRENT:
        returns = entry.config.get("return_sequences")
        if entry.class_name == "Bidirectional" and isinstance(layer := entry.config.get("layer"), dict):
            returns = cast("dict[str, Any]", cast("dict[str, Any]", layer).get("config") or {}).get("return_sequences")
        if returns and values and (mask := masks.get(values[0])) is not None:
            masks[results[0]] = mask
    elif entry.class_name in MERGING and values and all(each in masks for each in values):
        mask, kind = masks[values[0]], "ops.LogicalOr" if builder.file.generation >= 3 else "ops.LogicalAnd"
        for each in values[1:]:
            if masks[each] is not mask:
                mask = builder.node(kind, f"{entry.name}/mask", [mask, masks[each]], {}, {})[0]
        masks[results[0]] = mask
    elif entry.class_name in PASSING and values and (mask := masks.get(values[0])) is not None:
        masks[results[0]] = mask


def _compared(builder: ModelBuilder, value: SSAValue, number: float, name: str) -> SSAValue:
    return builder.node("ops.NotEqual", name, [value, number], {}, {})[0]
