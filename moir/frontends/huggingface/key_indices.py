"""What chooses the keys that the attentions of a model see, according to its config.json."""

from __future__ import annotations

from collections.abc import Mapping

from moir.architectures.family import Family
from moir.architectures.record import KeyIndex
from moir.frontends.huggingface.keys import Keys

OWN: Mapping[object, bool] = {"full": True, "F": True, "shared": False, "S": False}
"""Whether a layer has its own choice, by the spellings of its kind."""


def key_index(family: Family, keys: Keys, layers: int) -> KeyIndex:
    """The sizes of the choice, and which layers have their own.

    Raises ModelFileError for impossible sizes and kinds of layers.
    """
    heads, size, count = (keys.integer(key) for key in ("index_n_heads", "index_head_dim", "index_topk"))
    rotated = keys.integer("qk_rope_head_dim")
    if not (0 < heads < 1 << 16 and rotated <= size < 1 << 16 and 0 < count < 1 << 31):
        raise keys.error(f"{count} keys chosen by {heads} heads of {size} features are not possible")
    if keys.value("q_lora_rank") is None:
        raise keys.error("'q_lora_rank' is null, but keys are chosen by compressed queries")
    own = _own(keys, layers) if family.key_index == "shared" else (True,) * layers
    if not own[0]:
        raise keys.error("the first layer has no keys of a layer before it")
    return KeyIndex(heads, size, count, own)


def _own(keys: Keys, layers: int) -> tuple[bool, ...]:
    """For each layer whether it has its own choice: as `indexer_types` or `index_topk_pattern` lists them, or else as
    often as `index_topk_freq` says, from the layer `index_skip_topk_offset` on.
    """
    listed = keys.list("indexer_types", layers)
    pattern = keys.value("index_topk_pattern")
    frequency, offset = keys.integer("index_topk_freq"), keys.integer("index_skip_topk_offset")
    if listed is None and pattern is not None:
        listed = list(pattern) if isinstance(pattern, str) else keys.list("index_topk_pattern", layers)
    if listed is None:
        return tuple(max(layer - offset + 1, 0) % max(frequency, 1) == 0 for layer in range(layers))
    if len(listed) != layers or any(not isinstance(each, str) or each not in OWN for each in listed):
        raise keys.error(f"{listed!r} does not say for each of {layers} layers whether it chooses its keys")
    return tuple(OWN[each] for each in listed)
