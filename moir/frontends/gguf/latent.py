"""The sizes and weights of latent attentions, whose heads have other sizes than the file's keys of heads say.

attention.kv_lora_rank, attention.q_lora_rank     the sizes of compressed vectors
attention.key_length_mla, …value_length_mla       the sizes of a head; in older files key_length, value_length
rope.dimension_count                              the rotated part of a key
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np

from moir.architectures.family import Family
from moir.architectures.stored_weight import StoredWeight
from moir.dialects.computed_rows import computed_rows, merged_rows
from moir.dialects.data import DataAttr
from moir.dialects.element_types import f32
from moir.dialects.memory_map import Array
from moir.frontends.gguf.block_types import BlockType
from moir.frontends.gguf.container import StoredTensor
from moir.frontends.gguf.metadata import Metadata
from moir.frontends.gguf.weights import floats_of

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


def joined(keys: StoredTensor, values: StoredTensor) -> StoredWeight:
    """The matrix that expands compressed vectors, f32 [heads * (key size + value size), rank].

    If it is large, heads are decoded when their rows are read.

    Args:
        keys: the matrices [heads, rank, key size] of the keys.
        values: the matrices [heads, value size, rank] of the values.
    """
    heads, rank, key_size = keys.shape
    shape = (heads, key_size + values.shape[1], rank)
    both = computed_rows(partial(_joined, keys.type, values.type), [keys.rows, values.rows], shape, np.float32)
    return StoredWeight(DataAttr.of(merged_rows(both), f32))


def _joined(key_type: BlockType, value_type: BlockType, keys: Array, values: Array) -> Array:
    """The matrices [heads, key size + value size, rank] of some heads, from their bytes."""
    return np.concatenate([floats_of(key_type, keys).swapaxes(1, 2), floats_of(value_type, values)], 1)
