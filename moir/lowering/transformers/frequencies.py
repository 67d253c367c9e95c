"""The frequencies of rotary embeddings and their scalings, in f32 as transformers computes them."""

from __future__ import annotations

import math

import numpy as np

from moir.architectures.yarn import magnitude
from moir.dialects.data import Array
from moir.lowering.binder import LoweringNode


def inverse_frequencies(size: int, theta: float, scaling: str = "default", node: LoweringNode | None = None) -> Array:
    """theta^(-2 i / size) for each pair of dimensions i, changed by the scaling, whose parameters are attributes of the
    node.

    Raises ConversionError for an unknown scaling.
    """
    usual = (1.0 / theta ** (np.arange(0, size, 2, dtype=np.float32) / np.float32(size))).astype(np.float32)
    if scaling == "default" or node is None:
        return usual
    if scaling == "linear":
        return usual / np.float32(node.number("factor"))
    if scaling == "proportional":
        rotated = int(node.number("rotated")) // 2
        return np.where(np.arange(size // 2) < rotated, usual / np.float32(node.number("factor", 1.0)), np.float32(0)).astype(np.float32)
    if scaling == "llama3":
        return _llama3(usual, node)
    if scaling != "yarn":
        node.fail(f"the scaling {scaling!r} of rotary embeddings is not known")
    return _yarn(usual, size, theta, node)


def _llama3(usual: Array, node: LoweringNode) -> Array:
    """The frequencies of Llama 3.1, from the unscaled ones.

    Low frequencies, whose wavelength exceeds a limit, are divided by a factor, high ones are unchanged, and those in
    between interpolated.
    """
    factor, low, high = (node.number(key) for key in ("factor", "low_freq_factor", "high_freq_factor"))
    length = node.number("original_max_position_embeddings")
    waves = 2 * math.pi / usual
    share = (length / waves - low) / (high - low)
    between = (1 - share) * usual / factor + share * usual
    return np.where(waves < length / high, usual, np.where(waves > length / low, usual / factor, between)).astype(np.float32)


def _yarn(usual: Array, size: int, theta: float, node: LoweringNode) -> Array:
    """The frequencies of YaRN, from the unscaled ones: low frequencies are divided by a factor, high ones unchanged,
    and those in between interpolated.

    Source: Peng et al., "YaRN: Efficient Context Window Extension of Large Language Models", 2023.
    """
    length = node.number("original_max_position_embeddings")

    def dimension(rotations: float) -> float:
        return size * math.log(length / (rotations * 2 * math.pi)) / (2 * math.log(theta))

    low, high = dimension(node.number("beta_fast", 32.0)), dimension(node.number("beta_slow", 1.0))
    if node.flag("truncate", True):
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, size - 1)
    high += 0.001 if low == high else 0
    ramp = np.clip((np.arange(size // 2, dtype=np.float32) - low) / (high - low), 0, 1)
    return (usual / node.number("factor") * ramp + usual * (1 - ramp)).astype(np.float32)


def attention_factor(node: LoweringNode, scaling: str) -> float:
    """The number by which a scaling multiplies cosines and sines; 1 unless it is `yarn` or `longrope`."""
    if scaling not in ("yarn", "longrope"):
        return 1.0
    if node.has("attention_factor"):
        return node.number("attention_factor")
    factor = node.number("factor")
    if scaling == "longrope":
        length = node.number("original_max_position_embeddings")
        return math.sqrt(1 + math.log(factor) / math.log(length)) if factor > 1 else 1.0
    mscale, all_dims = node.number("mscale", 0.0), node.number("mscale_all_dim", 0.0)
    if mscale and all_dims:
        return magnitude(factor, mscale) / magnitude(factor, all_dims)
    return magnitude(factor, 1.0)
