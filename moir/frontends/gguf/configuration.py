"""The metadata of a file -> the keys of the config.json that its model would have in a folder.

    llama.block_count 32                      num_hidden_layers 32
    llama.attention.head_count_kv 8           num_key_value_heads 8
    llama.rope.scaling.type "yarn", …         rope_scaling {"rope_type": "yarn", …}
    the tensor output.weight                  tie_word_embeddings false

What the keys mean is in the record of the family, as it is for a folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import NormalDist
from typing import cast

from moir.architectures.family import Family
from moir.frontends.gguf.container import Container
from moir.frontends.gguf.latent import SCALING, latent_scaling, latent_sizes
from moir.frontends.gguf.metadata import Metadata
from moir.frontends.gguf.rotary import rotary_keys
from moir.frontends.gguf.sliding_sizes import sliding_sizes
from moir.frontends.gguf.spellings import LAYER, Spelling
from moir.frontends.huggingface.configuration import LARGEST_COUNT
from moir.frontends.huggingface.layer_kinds import FULL, SLIDING
from moir.support.tables import words

SIZES = {
    "block_count": "layers",
    "embedding_length": "hidden",
    "feed_forward_length": "feed_forward",
    "attention.head_count_kv": "key_heads",
    "attention.head_count": "heads",
    "attention.key_length": "head_size",
    "context_length": "positions",
}
"""The fields of a configuration that are sizes, by their keys."""

NUMBERS = {
    "attention.scale": "attention_scale",
    "attn_logit_softcapping": "attention_cap",
    "final_logit_softcapping": "logits_cap",
    "embedding_scale": "embedding_scale",
    "residual_scale": "residual_scale",
    "logit_scale": "logits_scale",
    "attention.clamp_kqv": "clip",
    "rope.freq_base_swa": "local_theta",
}
"""Fields of the architecture with floating-point values, by their keys."""

EPSILONS = {"rms": "attention.layer_norm_rms_epsilon", "layer": "attention.layer_norm_epsilon"}
"""The keys of epsilon by the kind of normalization."""

OTHER_EPSILONS = frozenset(EPSILONS.values())
"""The keys of epsilon for all kinds of normalization, since some files have both."""

EXPERTS = {
    "expert_feed_forward_length": "size",
    "expert_count": "count",
    "expert_used_count": "chosen",
    "expert_shared_feed_forward_length": "shared",
    "expert_group_count": "groups",
    "expert_group_used_count": "chosen_groups",
    "expert_weights_scale": "scale",
    "expert_weights_norm": "is_normalized",
}
"""The fields of `Experts` by their keys."""

NEUTRAL_ONE = words("groups chosen_groups scale")
"""Fields of `Experts` that have no effect if they are 1."""

SCORES = {1: "softmax", 2: "sigmoid"}
"""The score function of routers for each value of `expert_gating_func`."""


def configuration(container: Container, metadata: Metadata, spelling: Spelling, family: Family) -> dict[str, object]:
    """The entries of config.json. Raises ModelFileError if a key of the metadata is missing or unknown, or has a value
    that the family does not support.
    """
    result: dict[str, object] = {"model_type": family.architecture.model_types[0], **spelling.fixed}
    head_size = _head_size(metadata, family)
    result |= _sizes(metadata, spelling, family, head_size) | _numbers(metadata, family) | _tensors(container, metadata, spelling, family)
    result |= _windows(metadata, spelling, family) | _experts(container, metadata, family, result)
    if (key := family.inverse_roots.get("attention_scale")) is not None:
        width = (metadata.size("embedding_length") or 0) / (metadata.size("attention.head_count") or 1)
        result[key] = width if metadata.size("block_count") == spelling.wide_layers else head_size
    for key, name, present, absent in spelling.flags:
        result[key] = present if metadata.value(name) else absent
    result |= {key: value for name, number, key, value in spelling.numbers if metadata.value(name) == number}
    if family.architecture.attention.rotation is not None or result.get("position_embedding_type") == "rope":
        result |= rotary_keys(container, metadata.keys, metadata.prefix, family, head_size)
        if family.latent:
            result |= latent_sizes(metadata, family) | latent_scaling(metadata, result.get(SCALING))
        result |= _scaling_parameters(metadata, spelling, result.get("rope_scaling"))
    for name in spelling.required:
        if metadata.value(name) is None:
            hint = "the file is of an older kind, which has fixed values for it; write it again from the Hugging Face folder"
            raise metadata.keys.error(f"the key {metadata.prefix + name!r} is missing", hint)
    if spelling.has_sliding_sizes:
        listed = cast("list[str]", result.get("layer_types") or [])
        result |= sliding_sizes(container, metadata, [each == SLIDING for each in listed])
    for name, key in spelling.copied.items():
        if (value := metadata.value(name)) is not None:
            result[key] = value
    for key, (first, second) in spelling.quotients.items():
        dividend, divisor = metadata.size(first) or 0, metadata.size(second) or 1
        if dividend % divisor:
            raise metadata.keys.error(f"{dividend} ({first!r}) features cannot be divided among {divisor} heads")
        result[key] = dividend // divisor
    if metadata.value("attention.causal") is False:
        hint = "encoders in GGUF are not read; convert the Hugging Face folder"
        raise metadata.keys.error("the attention of the model is not causal", hint)
    metadata.check_all_read(spelling.ignored | OTHER_EPSILONS)
    return result


def _scaling_parameters(metadata: Metadata, spelling: Spelling, scaling: object) -> dict[str, object]:
    """The entry `rope_scaling` with the parameters that the architecture has under other keys.

    Empty if the file has no such parameters, or `scaling`, the entry so far, is no dictionary.
    """
    values = {field: metadata.value(name) for name, field in spelling.scaling.items()}
    values = {field: value for field, value in values.items() if value is not None}
    if not values or not isinstance(scaling, dict):
        return {}
    # With the factor of all dimensions the other one is 1.
    return {"rope_scaling": {**cast("dict[str, object]", scaling), **({"mscale": 1.0} if "mscale_all_dim" in values else {}), **values}}


def _head_size(metadata: Metadata, family: Family) -> int:
    """The number of features of an attention head, of a latent one those that are rotated.

    Raises ModelFileError if keys and values differ in it.
    """
    if family.latent:
        return metadata.size("rope.dimension_count") or 0
    heads, hidden = metadata.size("attention.head_count"), metadata.size("embedding_length")
    size, values = metadata.size("attention.key_length"), metadata.size("attention.value_length")
    size = (hidden or 0) // max(1, heads or 0) if size is None else size
    if values not in (None, size):
        raise metadata.keys.error(f"heads of {size} features for keys and of {values} for values are not read")
    if size < 1:
        raise metadata.keys.error(f"heads of {size} features are not possible")
    return size


def _sizes(metadata: Metadata, spelling: Spelling, family: Family, head_size: int) -> dict[str, object]:
    """The entries of config.json for sizes. Raises ModelFileError for a size that is missing or that the family cannot
    have.
    """
    result: dict[str, object] = {}
    heads = metadata.size("attention.head_count")
    is_listed = isinstance(metadata.keys.value(f"{metadata.prefix}attention.head_count_kv"), list)
    if family.other_block and (family.rotates or is_listed) and "full_attention_interval" not in spelling.copied:
        result["layer_types"] = [FULL if each else "conv" for each in metadata.numbers_of_layers("attention.head_count_kv")]
    if "expansion" in family.sizes:
        result |= _expansion(metadata, family)
    for field, key in family.layer_lists.items():
        result[key] = _of_layers(metadata, field)
    for name, field in SIZES.items():
        if field in family.layer_lists or (spelling.has_sliding_sizes and field in ("key_heads", "feed_forward")):
            continue
        value = metadata.layers() if field == "layers" else metadata.size(name, 0 if family.other_block and field == "key_heads" else None)
        if field == "key_heads":
            value = heads if value is None else value
            if value != heads and _key(spelling, family, field) == family.key("heads"):
                raise metadata.keys.error(f"{value} heads of keys for {heads} heads of queries are not known for this family")
        value = head_size if field == "head_size" else value
        if value is not None and (key := _key(spelling, family, field)):
            result[key] = value
    return result


def _expansion(metadata: Metadata, family: Family) -> dict[str, object]:
    """The entry of config.json for the features of a state space, divided by the hidden size.

    Raises ModelFileError if they are no multiple of it.
    """
    features, hidden = metadata.size("ssm.inner_size") or 0, metadata.size("embedding_length") or 1
    if features < 1 or features % hidden:
        raise metadata.keys.error(f"{features} features of a state space for {hidden} of the model are not read")
    return {family.sizes["expansion"]: features // hidden}


def _of_layers(metadata: Metadata, field: str) -> object:
    """The value of a field that may differ between layers: one, or a list of them. Raises ModelFileError if it is
    missing.
    """
    if field == "feed_forward":
        return metadata.keys.value(f"{metadata.prefix}feed_forward_length")
    factors = metadata.keys.list(f"{metadata.prefix}activation_sparsity_scale")
    if factors is None or not all(isinstance(each, int | float) for each in factors):
        raise metadata.keys.error(f"the key '{metadata.prefix}activation_sparsity_scale' has no number for each layer")
    # The standard deviations from the mean to the value that so many gates are below.
    return [NormalDist().cdf(each) for each in factors]


def _key(spelling: Spelling, family: Family, field: str) -> str:
    """The key of config.json for a field of the configuration; empty if the family has none or fixes its value."""
    return spelling.keys.get(field) or ("" if field in family.fixed else family.key(field))


def _numbers(metadata: Metadata, family: Family) -> dict[str, object]:
    """The entries of config.json for floats: epsilon, scales, caps. Raises ModelFileError if epsilon is missing."""
    epsilon = EPSILONS[family.architecture.norm]
    # Some files store ε at the key of the other kind of normalization.
    number = next((value for name in (epsilon, *EPSILONS.values()) if (value := metadata.value(name)) is not None), None)
    if number is None:
        raise metadata.keys.error(f"the key {metadata.prefix + epsilon!r} is missing")
    if number != family.fixed.get("epsilon", number):
        raise metadata.keys.error(f"{metadata.prefix + epsilon!r} is {number}; of this family moir knows {family.fixed['epsilon']} alone")
    result: dict[str, object] = {} if "epsilon" in family.fixed else {family.key("epsilon"): number}
    for name, field in NUMBERS.items():
        key = family.key(field) or family.divisors.get(field)
        if key and metadata.keys.has(metadata.prefix + name):
            result[key] = metadata.value(name)
    if family.key("attention_scale") and not metadata.keys.has(f"{metadata.prefix}attention.scale"):
        result[family.key("attention_scale")] = _head_size(metadata, family) ** -0.5
    return result


def _tensors(container: Container, metadata: Metadata, spelling: Spelling, family: Family) -> dict[str, object]:
    """The entries of config.json that follow from the presence and the shapes of tensors."""
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
    layer_table = container.tensors.get("per_layer_token_embd.weight")
    if layer_table is not None and "layer_vocabulary" in family.sizes:
        result[family.sizes["layer_vocabulary"]] = layer_table.shape[0]
    low = container.tensors.get(f"{first}.laurel_l.weight")
    if low is not None and "laurel_rank" in family.sizes:
        result[family.sizes["laurel_rank"]] = low.shape[0]
    positions = container.tensors.get("position_embd.weight")
    if positions is not None and family.architecture.learned_positions is not None:
        result[family.key("positions")] = positions.shape[0] - family.architecture.positions_offset
    return result


def _windows(metadata: Metadata, spelling: Spelling, family: Family) -> dict[str, object]:
    """The entries of config.json for sliding windows; a size of None if it is at least that of the longest text.

    Raises ModelFileError if the key is required and missing.
    """
    name = "attention.sliding_window"
    if not family.window or "use_sliding_window" in spelling.fixed:
        if not family.has_chunks:
            metadata.dismiss(name, 0)
        return {}
    size = metadata.size(name)
    if size is None and spelling.window is None:
        raise metadata.keys.error(f"the key {metadata.prefix + name!r} is missing")
    size = spelling.window if size is None else size
    is_dropped = not spelling.has_sliding_sizes and (size or 0) >= (metadata.size("context_length") or 0)
    size = None if not size or is_dropped else size
    pattern = metadata.keys.value(f"{metadata.prefix}attention.sliding_window_pattern")
    types = {} if pattern is None or size is None else {"layer_types": _layer_types(metadata, pattern)}
    return {"sliding_window": size, **types}


def _layer_types(metadata: Metadata, pattern: object) -> list[str]:
    """The kind of attention of each layer.

    If `pattern` is an integer n, each n-th layer has full attention; if it is a list, it has for each layer whether it
    has a sliding window.
    """
    layers = metadata.layers()
    if isinstance(pattern, int) and pattern > 0 and layers <= LARGEST_COUNT:
        slides = [(layer + 1) % pattern != 0 for layer in range(layers)]
    elif isinstance(pattern, list):
        slides = [bool(each) for each in cast("list[object]", pattern)][:layers]
    else:
        raise metadata.keys.error(f"the pattern of windows {str(pattern)[:60]} is not possible")
    return [SLIDING if each else FULL for each in slides]


def _experts(container: Container, metadata: Metadata, family: Family, sizes: Mapping[str, object]) -> dict[str, object]:
    """The keys of `config.json` for the experts of a model; empty for a family without experts.

    Raises ModelFileError for a key of the file that the family does not have, unless its value has no effect.
    """
    result: dict[str, object] = {}
    for name, field in EXPERTS.items():
        key = family.experts.get(field)
        if not isinstance(key, str) or " * " in key:
            metadata.dismiss(name, 0, key, *([1] if field in NEUTRAL_ONE else []))
        elif (value := metadata.value(name)) is not None:
            result[key.split()[0]] = value
    if not family.experts:
        return {}
    result |= _shared(container, metadata, family)
    size = str(family.experts["size"]).split()[0]
    result.setdefault(size, sizes.get(family.key("feed_forward"), metadata.size("feed_forward_length")))
    scores = str(family.experts.get("scores", "softmax")).removeprefix("=")
    function = metadata.size("expert_gating_func")
    if function and SCORES.get(function) != scores:
        raise metadata.keys.error(f"routers of the kind {function} are not known for this family")
    layers = metadata.layers()
    dense = [layer for layer in range(min(layers, LARGEST_COUNT)) if f"{LAYER.format(layer)}.ffn_gate_inp.weight" not in container.tensors]
    for name in ("leading_dense_block_count", "interleave_moe_layer_step", "nextn_predict_layers", "expert_shared_count"):
        metadata.keys.value(metadata.prefix + name)
    if family.dense == "sparse step":
        result |= {"decoder_sparse_step": 1, "mlp_only_layers": dense}
    elif family.dense == "listed":
        result |= {"moe_layers": [layer for layer in range(min(layers, LARGEST_COUNT)) if layer not in dense]}
    elif family.dense == "interval":
        result |= {"mlp_layer_types": ["dense" if layer in dense else "sparse" for layer in range(min(layers, LARGEST_COUNT))]}
    elif family.dense:
        result[family.dense] = len(dense)
    return result


def _shared(container: Container, metadata: Metadata, family: Family) -> dict[str, object]:
    """The config.json entry for the number of shared experts, if the family multiplies it with the size of one; empty
    otherwise.

    The number follows from the shape of the matrices. Raises ModelFileError if they are not a multiple of an expert.
    """
    key = str(family.experts.get("shared", ""))
    metadata.value("expert_shared_feed_forward_length")
    if " * " not in key:
        return {}
    names = (f"{LAYER.format(layer)}.ffn_up_shexp.weight" for layer in range(min(metadata.layers(), LARGEST_COUNT)))
    rows = next((container.tensors[name].shape[0] for name in names if name in container.tensors), 0)
    size = metadata.size("expert_feed_forward_length") or 0
    if rows and (size < 1 or rows % size):
        raise metadata.keys.error(f"{rows} rows of the shared experts for experts of {size} are not possible")
    return {key.split(" * ")[0]: rows // size if rows else 0}
