"""The sizes and weights of latent attentions, whose heads have other sizes than the file's keys of heads say.

attention.kv_lora_rank, attention.q_lora_rank     the sizes of compressed vectors
attention.key_length_mla, …value_length_mla       the sizes of a head; in older files key_length, value_length
rope.dimension_count                              the rotated part of a key
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from moir.architectures.family import Family
from moir.architectures.stored_weight import StoredWeight
from moir.dialects.data import DataAttr
from moir.dialects.element_types import f32
from moir.dialects.memory_map import Array
from moir.frontends.gguf.metadata import Metadata

SCALING = "rope_scaling"


def latent_sizes(metadata: Metadata, family: Family) -> dict[str, object]:
    """The entries of config.json for the sizes of the heads. Raises ModelFileError for sizes that do not fit."""
    both = {name: metadata.size(f"attention.{name}_length") for name in ("key", "value")}
    sizes = {name: metadata.size(f"attention.{name}_length_mla") or size for name, size in both.items()}
    rotated, key, value = metadata.size("rope.dimension_count"), sizes["key"], sizes["value"]
    if rotated is None or key is None or value is None or not 0 < rotated < key:
        raise metadata.keys.error(f"heads of {key} features for keys and {value} for values, {rotated} of them rotated, are not possible")
    result: dict[str, object] = {family.latent["plain_size"]: key - rotated, family.latent["rotated_size"]: rotated, "v_head_dim": value}
    for field, name in (("rank", "attention.kv_lora_rank"), ("query_rank", "attention.q_lora_rank")):
        result[family.latent[field]] = metadata.size(name) or None
    return result


def latent_scaling(metadata: Metadata, scaling: object) -> dict[str, object]:
    """The entry `rope_scaling` with the factor of the scores, of which the file has a tenth; empty if it has none."""
    tenth = metadata.value("rope.scaling.yarn_log_multiplier")
    if tenth is None or not isinstance(scaling, dict):
        return {}
    factor = round(10 * float(tenth), 6)
    return {SCALING: {**cast("dict[str, Any]", scaling), "mscale": factor, "mscale_all_dim": factor}}


def joined(keys: StoredWeight, values: StoredWeight) -> StoredWeight:
    """The matrix that expands compressed vectors [heads * (key size + value size), rank].

    Args:
        keys: the matrices [heads, rank, key size] of the keys.
        values: the matrices [heads, value size, rank] of the values.
    """
    both = np.concatenate([_floats(keys).swapaxes(1, 2), _floats(values)], 1)
    return StoredWeight(DataAttr.of(both.reshape(-1, both.shape[-1]), f32))


def _floats(weight: StoredWeight) -> Array:
    """The values of a weight in f32."""
    values = np.asarray(weight.codes.array, np.float32)
    if weight.zero_point is not None:
        values = values - np.asarray(weight.zero_point.array, np.float32)
    if weight.scale is not None:
        values = values * np.asarray(weight.scale.array, np.float32)
    return values.reshape(weight.shape)
