"""The rotary embeddings of a file -> the keys of config.json that describe them.

rope.freq_base, rope.dimension_count           rope_theta, partial_rotary_factor
rope.scaling.{type, factor, …}                 rope_scaling
rope_factors_short.weight, …_long.weight       rope_scaling {"rope_type": "longrope", …}
rope_freqs.weight                              divisors of the frequencies, of which config.json has no key
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from moir.architectures.family import Family
from moir.architectures.record import Rotary
from moir.frontends.gguf.container import Container
from moir.frontends.huggingface.keys import Keys

FACTORS = {"short_factor": "rope_factors_short.weight", "long_factor": "rope_factors_long.weight"}
"""The tensors of the two lists of factors of longrope."""

DIVISORS = "rope_freqs.weight"

TENSORS = (*FACTORS.values(), DIVISORS)
"""The tensors of rotary embeddings, which no operand reads."""

LARGEST_SIZE = 1 << 16
"""Largest number of rotated dimensions."""

YARN = {
    "yarn_beta_fast": "beta_fast",
    "yarn_beta_slow": "beta_slow",
    "yarn_attn_factor": "attention_factor",
    "attn_factor": "attention_factor",
    "original_context_length": "original_max_position_embeddings",
}
"""The parameters of yarn by their keys."""

LENGTH = "original_context_length"


def rotary_keys(container: Container, keys: Keys, prefix: str, family: Family, head_size: int) -> dict[str, object]:
    """The entries of config.json for the rotary embedding. Raises ModelFileError for a scaling that is not known.

    Args:
        container: the file.
        keys: the metadata, whose keys begin with `prefix`.
        prefix: the name of the architecture and a point.
        family: the record of the family.
        head_size: the size of a head.
    """
    result: dict[str, object] = {(family.key("theta") or "rope_theta").split()[0]: keys.number(f"{prefix}rope.freq_base", 10000.0)}
    size = keys.integer(f"{prefix}rope.dimension_count", head_size)
    if not 0 < size <= min(head_size, LARGEST_SIZE):
        raise keys.error(f"{size} rotated dimensions of {head_size} are not possible")
    partial = family.key("partial") or "partial_rotary_factor"
    if size != head_size or partial in family.defaults:
        share = size / head_size
        result[partial] = share if int(head_size * share) == size else math.nextafter(share, 1.0)
    scaling = _scaling(container, keys, f"{prefix}rope.scaling.", family)
    if scaling is not None or "rope_scaling" in family.defaults:
        result["rope_scaling"] = scaling
    return result


def _scaling(container: Container, keys: Keys, prefix: str, family: Family) -> dict[str, Any] | None:
    """The value of `rope_scaling`; None without a scaling."""
    has_factors = any(name in container.tensors for name in FACTORS.values())
    old_factor = keys.value(f"{prefix.removesuffix('scaling.')}scale_linear")
    factor = keys.value(f"{prefix}factor", old_factor)
    factor = None if factor == 0 else factor
    usual = "longrope" if has_factors else "none" if factor is None else "linear"
    kind = keys.value(f"{prefix}type", usual)
    if kind in ("none", "linear") and (factor is None or kind == "none") and not has_factors:
        # Without a scaling the original length is the context length; reading the key marks it as used.
        keys.value(prefix + LENGTH)
        return None
    if kind == "longrope" or has_factors:
        return _longrope(container, keys, prefix)
    if kind == "linear":
        return {"rope_type": kind, "factor": factor}
    if kind != "yarn":
        raise keys.error(f"rotary embeddings with the scaling {kind!r} are not known")
    if keys.value(f"{prefix}yarn_ext_factor", 1.0) not in (1.0, -1.0):
        raise keys.error("yarn with a factor of extrapolation other than 1 is not known")
    default: Any = family.defaults.get("rope_scaling") or {}
    result = {key: value for key, value in default.items() if key == "truncate"} | {"rope_type": kind, "factor": factor}
    return result | {name: value for key, name in YARN.items() if (value := keys.value(prefix + key)) is not None}


def _longrope(container: Container, keys: Keys, prefix: str) -> dict[str, Any]:
    result: dict[str, Any] = {"rope_type": "longrope"}
    for name, tensor in FACTORS.items():
        result[name] = list(numbers_of(container, tensor))
    length, attention = keys.value(prefix + LENGTH), keys.value(f"{prefix}attn_factor")
    if length is not None:
        result["original_max_position_embeddings"] = length
    if attention is not None:
        result["attention_factor"] = attention
    return result


def divisors_of(container: Container, rotary: Rotary) -> tuple[float, ...]:
    """The divisors of the frequencies; empty if the file has none.

    Raises ModelFileError if there is not one for each frequency.
    """
    if DIVISORS not in container.tensors:
        return ()
    values = numbers_of(container, DIVISORS)
    if len(values) != rotary.size // 2:
        raise container.error(f"the tensor {DIVISORS!r} has {len(values)} numbers for {rotary.size // 2} frequencies")
    return values


def numbers_of(container: Container, name: str) -> tuple[float, ...]:
    """The elements of the 1-D f32 tensor `name`, all positive. Raises ModelFileError if there is no such tensor."""
    tensor = container.tensors.get(name)
    if tensor is None:
        raise container.error(f"the tensor {name!r} is missing")
    if tensor.type.name != "F32" or len(tensor.shape) != 1 or tensor.shape[0] > LARGEST_SIZE:
        raise container.error(f"the tensor {name!r} is not a vector of f32")
    values = np.asarray(tensor.rows.view(np.float32), np.float64)
    if not (np.isfinite(values) & (values > 0)).all():
        raise container.error(f"the tensor {name!r} has numbers that are not possible")
    return tuple(values.tolist())
