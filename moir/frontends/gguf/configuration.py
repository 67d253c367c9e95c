"""The metadata of a file -> the keys of the config.json that its model would have in a folder.

    llama.block_count 32                      num_hidden_layers 32
    llama.attention.head_count_kv 8           num_key_value_heads 8
    llama.rope.scaling.type "yarn", …         rope_scaling {"rope_type": "yarn", …}
    the tensor output.weight                  tie_word_embeddings false

What the keys mean is in the record of the family, as it is for a folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from moir.architectures.family import Family
from moir.architectures.record import Experts
from moir.frontends.gguf.container import Container
from moir.frontends.gguf.rotary import rotary_keys
from moir.frontends.gguf.spellings import LAYER, Spelling
from moir.frontends.huggingface.configuration import LARGEST_COUNT
from moir.frontends.huggingface.keys import Keys
from moir.tables import pairs, words

SIZES = pairs(
    "block_count layers, embedding_length hidden, feed_forward_length feed_forward, attention.head_count_kv key_heads, "
    "attention.head_count heads, attention.key_length head_size, context_length positions"
)
"""The fields of a configuration that are sizes, by their keys."""

NUMBERS = pairs(
    "attention.scale attention_scale, attn_logit_softcapping attention_cap, final_logit_softcapping logits_cap, "
    "embedding_scale embedding_scale, residual_scale residual_scale, logit_scale logits_scale, attention.clamp_kqv clip, "
    "rope.freq_base_swa local_theta"
)
"""The fields that are other numbers."""

REQUIRED = words("block_count embedding_length attention.head_count context_length")

EPSILONS = {"rms": "attention.layer_norm_rms_epsilon", "layer": "attention.layer_norm_epsilon"}

EXPERTS = pairs(
    "expert_feed_forward_length size, expert_count count, expert_used_count chosen, expert_shared_feed_forward_length shared, "
    "expert_group_count groups, expert_group_used_count chosen_groups, expert_weights_scale scale, expert_weights_norm is_normalized"
)
"""The fields of `Experts` by their keys."""

SCORES = {1: "softmax", 2: "sigmoid"}
"""The scores of routers by the number of `expert_gating_func`."""

IGNORED = words("vocab_size tensor_data_layout rope.scaling.finetuned context_length")
"""Keys without effect on results, or that tensors repeat."""

FALSE_WITHOUT_EFFECT = "it has an effect on results that moir does not know"


class Metadata:
    """The keys of the architecture of a file.

    Args:
        container: the file.
        architecture: the name of the architecture, with which its keys begin.
    """

    def __init__(self, container: Container, architecture: str) -> None:
        self.prefix = f"{architecture}."
        own = {key: value for key, value in container.metadata.items() if key.startswith(self.prefix)}
        self.keys = Keys({key: _listed(value) for key, value in own.items()}, container.location)
        for key, value in self.keys.values.items():
            if isinstance(value, list) and len(cast("list[Any]", value)) > LARGEST_COUNT:
                raise self.keys.error(f"{key!r} has more than {LARGEST_COUNT} entries")

    def value(self, name: str) -> Any:
        """The value of a key, or the one value that it has for all layers; None if there is none.

        Raises ModelFileError if the value differs from layer to layer, or is a text.
        """
        key = self.prefix + name
        value = self.keys.value(key)
        if isinstance(value, list):
            entries = set(cast("list[Any]", value))
            if len(entries) > 1:
                raise self.keys.error(f"{key!r} differs from layer to layer", "models whose layers have different sizes are not read")
            value = entries.pop() if entries else None
        if isinstance(value, str):
            raise self.keys.error(f"{key!r} is a text, not a number")
        return value

    def size(self, name: str) -> int | None:
        """The integer of a key, None if there is none. Raises ModelFileError if it is required, or no integer."""
        value = self.value(name)
        if value is None and name in REQUIRED:
            raise self.keys.error(f"the key {self.prefix + name!r} is missing")
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise self.keys.error(f"{self.prefix + name!r} is {value!r}, not an integer")
        return value

    def check_all_read(self) -> None:
        """Raises ModelFileError for keys that nothing has read."""
        self.keys.check_all_read(frozenset(self.prefix + name for name in (*IGNORED, *EPSILONS.values())), FALSE_WITHOUT_EFFECT)


def _listed(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def configuration(container: Container, metadata: Metadata, spelling: Spelling, family: Family) -> dict[str, object]:
    """The keys of config.json. Raises ModelFileError for keys that are missing, impossible or not known."""
    result: dict[str, object] = {"model_type": family.architecture.model_types[0], **spelling.fixed}
    head_size = _head_size(metadata)
    result |= _sizes(metadata, spelling, family, head_size) | _numbers(metadata, family) | _tensors(container, metadata, spelling, family)
    result |= _windows(metadata, spelling, family) | _experts(container, metadata, family, result)
    if (key := family.inverse_roots.get("attention_scale")) is not None:
        is_wide = metadata.value("block_count") == spelling.wide_layers
        result[key] = metadata.value("embedding_length") // metadata.value("attention.head_count") if is_wide else head_size
    if family.architecture.attention.rotation is not None:
        result |= rotary_keys(container, metadata.keys, metadata.prefix, family, head_size)
    for name in spelling.copied:
        if (value := metadata.value(name)) is not None:
            result[name] = value
    if metadata.value("attention.causal") is False:
        raise metadata.keys.error("the attention of the model is not causal", "encoders in GGUF are not read; convert the Hugging Face folder")
    metadata.check_all_read()
    return result


def _head_size(metadata: Metadata) -> int:
    """The size of a head. Raises ModelFileError if that of values is another."""
    heads, hidden = metadata.size("attention.head_count"), metadata.size("embedding_length")
    size, values = metadata.size("attention.key_length"), metadata.size("attention.value_length")
    size = (hidden or 0) // max(1, heads or 0) if size is None else size
    if values not in (None, size):
        raise metadata.keys.error(f"heads of {size} features for keys and of {values} for values are not read")
    if size < 1:
        raise metadata.keys.error(f"heads of {size} features are not possible")
    return size


def _sizes(metadata: Metadata, spelling: Spelling, family: Family, head_size: int) -> dict[str, object]:
    """The keys of sizes. Raises ModelFileError for a size that is missing or that the family cannot have."""
    result: dict[str, object] = {}
    heads = metadata.size("attention.head_count")
    for name, field in SIZES.items():
        value = metadata.size(name)
        if field == "key_heads":
            value = heads if value is None else value
            if value != heads and _key(spelling, family, field) == family.key("heads"):
                raise metadata.keys.error(f"{value} heads of keys for {heads} heads of queries are not known for this family")
        value = head_size if field == "head_size" else value
        if value is not None and (key := _key(spelling, family, field)):
            result[key] = value
    return result


def _key(spelling: Spelling, family: Family, field: str) -> str:
    """The key of a field; empty if the family has none."""
    return spelling.keys.get(field) or ("" if field in family.fixed else family.key(field))


def _numbers(metadata: Metadata, family: Family) -> dict[str, object]:
    """The keys of other numbers. Those that a family does not have stay unread unless they have no effect."""
    epsilon = EPSILONS[family.architecture.norm]
    if metadata.value(epsilon) is None:
        raise metadata.keys.error(f"the key {metadata.prefix + epsilon!r} is missing")
    result: dict[str, object] = {family.key("epsilon"): metadata.value(epsilon)}
    for name, field in NUMBERS.items():
        key = family.key(field) or family.divisors.get(field)
        if key and metadata.keys.has(metadata.prefix + name):
            result[key] = metadata.value(name)
    if family.key("attention_scale") and not metadata.keys.has(f"{metadata.prefix}attention.scale"):
        result[family.key("attention_scale")] = _head_size(metadata) ** -0.5
    return result


def _tensors(container: Container, metadata: Metadata, spelling: Spelling, family: Family) -> dict[str, object]:
    """The keys that the tensors of a file say."""
    table = container.tensors.get("token_embd.weight")
    if table is None:
        raise metadata.keys.error("the tensor 'token_embd.weight' is missing")
    result: dict[str, object] = {family.key("vocabulary"): table.shape[0]}
    if key := family.key("is_tied"):
        result[key] = "output.weight" not in container.tensors
    first = LAYER.format(0)
    for key, tensor, present, absent in spelling.choices:
        result[key] = present if f"{first}.{tensor}.weight" in container.tensors else absent
    for key, operands in family.biases.items():
        if key:
            names = [name for operand in operands.split() for name in spelling.tensors_of(operand)]
            result[key] = any(f"{first}.{name}.bias" in container.tensors for name in names)
    positions = container.tensors.get("position_embd.weight")
    if positions is not None and family.architecture.learned_positions is not None:
        result[family.key("positions")] = positions.shape[0] - family.architecture.positions_offset
    return result


def _windows(metadata: Metadata, spelling: Spelling, family: Family) -> dict[str, object]:
    """The keys of sliding windows."""
    name = "attention.sliding_window"
    size = metadata.value(name) if family.window or not metadata.keys.values.get(metadata.prefix + name, 1) else None
    if not family.window or "use_sliding_window" in spelling.fixed:
        return {}
    if size is None and spelling.window is None:
        raise metadata.keys.error(f"the key {metadata.prefix + name!r} is missing")
    result: dict[str, object] = {"sliding_window": (spelling.window if size is None else size) or None}
    pattern = metadata.keys.value(f"{metadata.prefix}attention.sliding_window_pattern")
    if pattern is not None and result["sliding_window"] is not None:
        result["layer_types"] = _layer_types(metadata, pattern)
    return result


def _layer_types(metadata: Metadata, pattern: Any) -> list[str]:
    """The kinds of the layers: whether each slides, or that all but each n-th do."""
    layers = metadata.value("block_count")
    if isinstance(pattern, int) and pattern > 0 and 0 < layers <= LARGEST_COUNT:
        slides = [(layer + 1) % pattern != 0 for layer in range(layers)]
    elif isinstance(pattern, list) and len(cast("list[Any]", pattern)) == layers:
        slides = [bool(each) for each in cast("list[Any]", pattern)]
    else:
        raise metadata.keys.error(f"the pattern of windows {str(pattern)[:60]} does not fit to {layers} layers")
    return ["sliding_attention" if each else "full_attention" for each in slides]


def _experts(container: Container, metadata: Metadata, family: Family, sizes: Mapping[str, object]) -> dict[str, object]:
    """The keys of experts; those that a family does not have stay unread unless they have no effect."""
    result: dict[str, object] = {}
    for name, field in EXPERTS.items():
        key = family.experts.get(field)
        value = metadata.keys.values.get(metadata.prefix + name)
        if value in (None, 0, False, Experts._defaults.get(field)) or (isinstance(key, str) and key[:1] != "=") or key == value:
            value = metadata.value(name)
            if isinstance(key, str) and value is not None:
                result[key.split()[0]] = value
    if not family.experts:
        return {}
    size = family.experts["size"]
    if isinstance(size, str) and metadata.value("expert_feed_forward_length") is None:
        result[size.split()[0]] = sizes.get(family.key("feed_forward"))
    function = metadata.value("expert_gating_func")
    scores = str(family.experts.get("scores", "softmax")).removeprefix("=")
    if function not in (None, 0) and SCORES.get(function) != scores:
        raise metadata.keys.error(f"routers of the kind {function!r} are not known for this family")
    layers = metadata.value("block_count")
    dense = [layer for layer in range(min(layers, LARGEST_COUNT)) if f"{LAYER.format(layer)}.ffn_gate_inp.weight" not in container.tensors]
    if family.dense == "sparse step":
        result |= {"decoder_sparse_step": 1, "mlp_only_layers": dense}
    elif family.dense:
        result[family.dense] = len(dense)
    return result
