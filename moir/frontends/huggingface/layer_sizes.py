"""Sizes that differ between layers, and layers that use the keys and values of other layers, according to
config.json.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from moir.architectures.family import Family
from moir.frontends.huggingface.keys import Keys

SPARSITY, SPARSE_LAYERS, USUAL_SPARSITY = "activation_sparsity_pattern", 10, 0.95
"""The key of the fraction of gates that are 0, the number of first layers with such gates, and the usual fraction."""


def layer_fields(family: Family, keys: Keys, fields: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The fields of a configuration that differ between layers, for each layer; empty if none does.

    Args:
        family: the record of the family.
        keys: the config.json.
        fields: the fields of the whole model: `layers`, `windows`, `sources`, `feed_forward`.
    """
    layers = int(fields["layers"])
    result: list[dict[str, Any]] = [{} for _ in range(layers)]
    for field, key in family.layer_lists.items():
        if keys.value(key) is None and key != SPARSITY:
            continue
        for own, value in zip(result, _of_each_layer(keys, field, key, layers), strict=True):
            own[field] = value
    windows = fields.get("windows") or (0,) * layers
    for field, key in family.full_layers.items():
        value = keys.value(key)
        if value is None or (field in OVERRIDDEN.values() and keys.has("per_layer_config")):
            continue
        if isinstance(value, bool) is not (field == "values_are_keys") or not isinstance(value, int) or not 0 <= value < 1 << 31:
            raise keys.error(f"{key!r} is {value!r}")
        if not value:
            continue
        for own, window in zip(result, windows, strict=True):
            if not window:
                own[field] = value
    for field, key in family.window_layers.items():
        times, _, key = key.rpartition(" * ")
        value = keys.integer(key) * int(times or 1)
        for own, window in zip(result, windows, strict=True):
            if window:
                own[field] = value
    for layer, own in enumerate(_overridden(family, keys, layers)):
        result[layer] |= own
    if family.shared_layers and keys.flag("use_double_wide_mlp"):
        for layer, source in enumerate(fields.get("sources") or ()):
            if source != layer:
                result[layer]["feed_forward"] = 2 * fields["feed_forward"]
    return tuple(result) if any(result) else ()


OVERRIDDEN = {"head_dim": "head_size", "num_key_value_heads": "key_heads"}
"""The fields of the keys that `per_layer_config` may have for a layer."""


def _overridden(family: Family, keys: Keys, layers: int) -> list[dict[str, int]]:
    """For each layer, the fields that the key `per_layer_config` of Transformers 5 changes.

    Raises ModelFileError for unsupported fields.
    """
    result: list[dict[str, int]] = [{} for _ in range(layers)]
    for number, values in (keys.table("per_layer_config") or {}).items() if family.full_layers else ():
        own = Keys(cast("dict[str, Any]", values), keys.location) if isinstance(values, dict) else None
        if own is None or not number.isdecimal() or int(number) >= layers:
            raise keys.error(f"'per_layer_config' has the entry {number!r}")
        for key in own.values:
            if key not in OVERRIDDEN or not 0 < own.integer(key) < 1 << 31:
                raise keys.error(f"'per_layer_config' has {key!r} for layer {number}")
            result[int(number)][OVERRIDDEN[key]] = own.integer(key)
    return result


def _of_each_layer(keys: Keys, field: str, key: str, layers: int) -> Sequence[Any]:
    """The value of a field for each layer, from a key that has a list of them, or one for all.

    Raises ModelFileError for a list of another length or impossible entries.
    """
    value = keys.value(key)
    if value is None and key == SPARSITY:
        sparse = SPARSE_LAYERS if layers > SPARSE_LAYERS else 0
        return [USUAL_SPARSITY] * sparse + [0.0] * (layers - sparse)
    values: list[Any] = cast("list[Any]", value) if isinstance(value, list) else [value] * layers
    if len(values) != layers:
        raise keys.error(f"{key!r} has {len(values)} entries for {layers} layers")
    for each in values:
        if isinstance(each, bool) or not isinstance(each, int | float) or not 0 <= each < (1 if field == "sparsity" else 1 << 31):
            raise keys.error(f"{key!r} has the entry {each!r}")
        if field != "sparsity" and not (isinstance(each, int) and each):
            raise keys.error(f"{key!r} has the entry {each!r}")
    return values


def key_sources(family: Family, keys: Keys, layers: int, windows: tuple[int, ...]) -> tuple[int, ...]:
    """For each layer, the index of the layer whose keys and values it uses; empty if every layer has its own.

    The last layers use those of the last layer before them of the same kind, with or without a sliding window.
    """
    count = keys.integer(family.shared_layers) if family.shared_layers else 0
    if not count:
        return ()
    if not 0 < count < layers:
        raise keys.error(f"{count} of {layers} layers cannot use the keys of others ({family.shared_layers!r})")
    own = layers - count
    slides = [bool(each) for each in windows] or [False] * layers
    sources = list(range(own))
    for layer in range(own, layers):
        if slides[layer] not in slides[:own]:
            raise keys.error(f"no layer before layer {own} has the window of layer {layer}, whose keys it would use")
        sources.append(max(each for each in range(own) if slides[each] == slides[layer]))
    return tuple(sources)
