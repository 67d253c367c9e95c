"""Sizes that differ between layers with windows and the others (Gemma 4).

attention.key_length, …_swa            the sizes of a head in layers without and with a window
attention.head_count_kv                a list with the heads of keys of each layer, or one number
feed_forward_length                    a list with the size of each layer, or one number
rope_freqs.weight                      1 for the frequencies of layers without a window, and so much for others that
                                       their angles are 0
"""

from __future__ import annotations

import numpy as np

from moir.frontends.gguf.container import Container
from moir.frontends.gguf.metadata import Metadata
from moir.frontends.gguf.rotary import DIVISORS, numbers_of
from moir.frontends.gguf.spellings import LAYER

ENDLESS = 1e20
"""A divisor beyond which a frequency is 0."""


def sliding_sizes(container: Container, metadata: Metadata, slides: list[bool]) -> dict[str, object]:
    """The entries of config.json for sizes of heads and blocks, and for the rotation of layers without a window.

    `slides` has for each layer whether it has a window. Raises ModelFileError for sizes that config.json cannot say.
    """
    own = len(slides) - (metadata.size("attention.shared_kv_layers") or 0)
    size = metadata.size("attention.key_length_swa")
    for name in ("attention.value_length_swa", "rope.dimension_count_swa"):
        if size is None or metadata.size(name) not in (None, size):
            raise metadata.keys.error(f"{metadata.prefix + name!r} is not {size}, the size of a key")
    result: dict[str, object] = {"head_dim": size, "global_head_dim": metadata.size("attention.key_length")}
    heads = _of_each_layer(metadata, "attention.head_count_kv", len(slides))
    for key, kind in (("num_key_value_heads", True), ("num_global_key_value_heads", False)):
        counts = {count for count, slide in zip(heads, slides, strict=True) if slide is kind}
        if len(counts) > 1:
            raise metadata.keys.error(f"{metadata.prefix}attention.head_count_kv differs in layers of one kind")
        result[key] = counts.pop() if counts else heads[0]
    sizes = _of_each_layer(metadata, "feed_forward_length", len(slides))
    is_wide = set(sizes[own:]) == {2 * sizes[0]}
    if sizes != [sizes[0]] * own + [sizes[0] * (2 if is_wide else 1)] * (len(slides) - own):
        raise metadata.keys.error(f"blocks of {sizes} features are not possible")
    result |= {"intermediate_size": sizes[0], "use_double_wide_mlp": is_wide}
    full = next((layer for layer in range(own) if not slides[layer]), None)
    result["attention_k_eq_v"] = full is not None and f"{LAYER.format(full)}.attn_v.weight" not in container.tensors
    divisors = np.array(numbers_of(container, DIVISORS))
    share = float((divisors == 1).mean())
    if not ((divisors == 1) | (divisors > ENDLESS)).all() or (np.diff(divisors) < 0).any():
        raise metadata.keys.error(f"the tensor {DIVISORS!r} has other numbers than 1 and, after them, those of angles 0")
    result["rope_scaling"] = {"rope_type": "proportional", "partial_rotary_factor": share}
    return result


def _of_each_layer(metadata: Metadata, name: str, layers: int) -> list[int]:
    """The integer of a key for each layer. Raises ModelFileError if a list of them has another length."""
    value = metadata.keys.value(metadata.prefix + name)
    values = metadata.numbers_of_layers(name) if isinstance(value, list) else [metadata.size(name) or 0] * layers
    if len(values) != layers or not all(0 < each < 1 << 31 for each in values):
        raise metadata.keys.error(f"{metadata.prefix + name!r} has not a possible number for each of {layers} layers")
    return values
