"""The kinds of layers according to a model's config.json: sliding windows, and blocks other than attention."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from moir.architectures.family import Family
from moir.frontends.huggingface.keys import Keys

SLIDING, FULL = "sliding_attention", "full_attention"

OTHERS = ("conv", "linear_attention", "mamba")
"""The kinds of layers without an attention."""

CHUNKED = "chunked_attention"

INDEXED = "indexed_attention"
"""The kind of layers whose attention sees chosen keys."""

KINDS = (SLIDING, FULL, CHUNKED, INDEXED, *OTHERS)

ALIASES = {"attention": FULL}
"""Other names of kinds of layers."""


def layer_types(keys: Keys, layers: int) -> tuple[str, ...] | None:
    """The kind of each layer from the key `layer_types` of transformers 5; None if the key is absent.

    Raises ModelFileError for a kind that is not known.
    """
    listed = keys.list("layer_types", layers)
    if listed is None:
        return None
    kinds = tuple(ALIASES.get(each, each) if isinstance(each, str) else each for each in listed)
    for each in kinds:
        if each not in KINDS:
            raise keys.error(f"'layer_types' has a layer {each!r}, which is not known")
    return kinds


PATTERN = "hybrid_override_pattern"
"""The key of a text with a character for the kind of each layer."""

MIXTURES = ("moe", "E")
"""The kinds of layers that are mixtures of experts, in families whose layers have one block each."""


def single_kinds(keys: Keys, layers: int | None = None) -> Sequence[Any]:
    """The kind of each layer of a family whose layers have one block each. Raises ModelFileError if the file has no
    kinds.
    """
    listed = keys.list("layer_types", layers)
    if listed is not None:
        return listed
    pattern = keys.text(PATTERN)
    if layers not in (None, len(pattern)):
        raise keys.error(f"{PATTERN!r} has {len(pattern)} characters for {layers} layers")
    return pattern


def blocks(family: Family, keys: Keys, layers: int) -> tuple[str, ...]:
    """The kind of block that replaces the attention in each layer; empty if all layers have an attention.

    Raises ModelFileError for kinds of layers that are not those of the family.
    """
    if family.kinds:
        kinds = single_kinds(keys, layers)
        if unknown := [each for each in kinds if each not in family.kinds]:
            raise keys.error(f"layers of the kind {unknown[0]!r} are not known for this family")
        return tuple(family.kinds[each] for each in kinds)
    types = layer_types(keys, layers)
    if types is not None and not family.key_index and INDEXED in types:
        raise keys.error("layers whose attention sees chosen keys are not known for this family")
    if not family.other_block:
        if types is not None and (others := [each for each in types if each in OTHERS]):
            raise keys.error(f"layers of the kind {others[0]!r} are not known for this family")
        return ()
    if types is not None:
        has_attention = [each not in OTHERS for each in types]
    else:
        has_attention = _attention_layers(family.attention_layers, keys, layers)
    return tuple("attention" if each else family.other_block for each in has_attention)


def _attention_layers(key: str, keys: Keys, layers: int) -> list[bool]:
    """For each layer, whether it has an attention, for a family without a list of the kinds of its layers.

    `key` is as in `Family.attention_layers`. Its value is a list of the layers with an attention, or an integer n:
    every n-th layer has one, the n-th first; or the kinds of the first layers, which repeat. Raises ModelFileError for
    other values.
    """
    if " " in key:
        return keys.periodic(key, layers)
    value = keys.value(key) if key else ()
    if value is None and (value := keys.defaults.get(key)) is None:
        return [True] * layers
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return [(layer + 1) % value == 0 for layer in range(layers)]
    if not isinstance(value, list | tuple):
        raise keys.error(f"{key!r} is {value!r}, neither a list of layers nor their interval")
    listed = cast("Sequence[object]", value)
    if listed and all(isinstance(each, str) for each in listed):
        if unknown := set(listed) - {"attention", "recurrent"}:
            raise keys.error(f"{key!r} has layers of the kind {min(map(str, unknown))!r}, which are not known")
        return [listed[layer % len(listed)] == "attention" for layer in range(layers)]
    return [layer in listed for layer in range(layers)]


def chunks(family: Family, keys: Keys, layers: int) -> tuple[int, ...]:
    """The size of the chunks in each layer, within which queries see keys; empty if no layer has chunks.

    The layers with chunks are listed in `layer_types`; otherwise they are those with rotary embeddings. Raises
    ModelFileError for chunks in a family without them.
    """
    if family.kinds:
        return ()
    types = layer_types(keys, layers)
    if not family.has_chunks:
        if types is not None and CHUNKED in types:
            raise keys.error("layers with chunks are not known for this family")
        return ()
    size = keys.value("attention_chunk_size")
    if size is None:
        return ()
    size = keys.integer("attention_chunk_size")
    if size < 1:
        raise keys.error(f"chunks of {size} tokens are not possible")
    chunked = listed_rotations(keys, layers) if types is None else [each == CHUNKED for each in types]
    # Texts that the model is not made for are left aside, so that such layers are the usual ones.
    return tuple(size if each else 0 for each in chunked) if size < keys.integer("max_position_embeddings") else ()


def listed_rotations(keys: Keys, layers: int) -> list[bool]:
    """For each layer, whether it has a rotary embedding: as `no_rope_layers` lists them, or else all but each n-th
    layer.
    """
    listed = keys.list("no_rope_layers", layers) if keys.value("no_rope_layers") != [] else None
    interval = keys.integer("no_rope_layer_interval", 4)
    return [bool(each) for each in listed] if listed else [(layer + 1) % interval != 0 for layer in range(layers)]


def windows(family: Family, keys: Keys, layers: int) -> tuple[int, ...]:
    """How many keys a query of each layer sees, itself included, 0 for all; empty if no layer has a window.

    Raises ModelFileError for an impossible window, and for windows in a family that has none.
    """
    rule = family.window
    if family.kinds:
        return ()
    if not rule:
        types = layer_types(keys, layers)
        if types is not None and SLIDING in types:
            raise keys.error("layers with windows are not known for this family")
        return ()
    types = layer_types(keys, layers)
    if rule == "attention types":
        return _windows_of_types(keys, layers)
    if rule in ("both sides", "half"):
        return _windows_of_both_sides(keys, layers, types)
    size = keys.value("sliding_window")
    flagged = keys.flag("use_sliding_window", default=True) if rule in ("flagged", "alternating first") else True
    if not size or not flagged:
        return ()
    size = keys.integer("sliding_window")
    if size < 1:
        raise keys.error(f"a window of {size} keys is not possible")
    slides = _sliding_layers(rule, keys, layers) if types is None else [each == SLIDING for each in types]
    if rule in ("pattern, last sees all", "pattern, first sees all") and (types is None or "last" in rule):
        slides[-1 if "last" in rule else 0] = False
    return tuple(size if each else 0 for each in slides)


def _windows_of_both_sides(keys: Keys, layers: int, types: tuple[str, ...] | None) -> tuple[int, ...]:
    """For each layer, the largest distance between a query and the keys it sees in an encoder, or the number of keys
    that a query sees in a decoder; 0 if it sees all keys.

    `types` are the kinds of the layers if the file lists them.
    """
    size, period = keys.integer("local_attention"), keys.integer("global_attn_every_n_layers")
    if size < 2 or period < 1:
        raise keys.error(f"windows of {size} keys in all but each {period}th layer are not possible")
    slides = [layer % period != 0 for layer in range(layers)] if types is None else [each == SLIDING for each in types]
    return tuple(size // 2 if each else 0 for each in slides)


def _windows_of_types(keys: Keys, layers: int) -> tuple[int, ...]:
    """The windows of GPT-Neo's key `attention_types`: [[["global", "local"], 12]] means both kinds in turn, twelve
    times.
    """
    kinds: list[object] = []
    for each in keys.list("attention_types") or ():
        names, times = cast("list[object]", each) if isinstance(each, list) and len(cast("list[object]", each)) == 2 else (None, None)
        if not isinstance(names, list) or not isinstance(times, int) or not 0 < times <= layers:
            raise keys.error(f"'attention_types' has the entry {each!r}")
        kinds += cast("list[object]", names) * times
    if len(kinds) != layers or not {*kinds} <= {"global", "local"}:
        raise keys.error(f"'attention_types' does not say for each of {layers} layers whether it is global or local")
    size = keys.integer("window_size")
    if size < 1:
        raise keys.error(f"a window of {size} keys is not possible")
    return tuple(size if kind == "local" else 0 for kind in kinds)


def _sliding_layers(rule: str, keys: Keys, layers: int) -> list[bool]:
    """For each layer, whether it has a sliding window, by a `rule` of `Family.window`, if the file does not list them.

    Raises ModelFileError for an impossible period.
    """
    if rule == "flagged":
        first = keys.integer("max_window_layers", layers)
        return [layer >= first for layer in range(layers)]
    if rule == "alternating first":
        first = keys.integer("max_window_layers", layers)
        return [layer % 2 == 0 and layer < first for layer in range(layers)]
    if rule == "listed":
        return [False] * layers
    if rule == "alternating":
        return [layer % 2 == 0 for layer in range(layers)]
    if rule == "second of four, first and last see all":
        return [layer > 1 and layer % 4 != 1 and layer != layers - 1 for layer in range(layers)]
    if rule == "every fourth sees all":
        return [layer % 4 != 0 for layer in range(layers)]
    if rule == "pattern after dense":
        first, periods = keys.integer("first_k_dense_replace"), ("prefix_dense_sliding_window_pattern", "sliding_window_pattern")
        before, after = (keys.integer(key) for key in periods)
        if not (before > 0 and after > 0 and first >= 0):
            raise keys.error(
                f"windows in all but each {before}th layer before layer {first}, and each {after}th after it, are not possible"
            )
        return [((layer + 1) % before if layer < first else (layer - first + 1) % after) != 0 for layer in range(layers)]
    if rule.startswith("pattern"):
        period = keys.first(("sliding_window_pattern", "_sliding_window_pattern"))
        if isinstance(period, str):
            # LLLG: local and global layers.
            return [period[layer % len(period)] == "L" for layer in range(layers)]
        if not isinstance(period, int) or period < 1:
            raise keys.error(f"'sliding_window_pattern' is {period!r}")
        return [(layer + 1) % period != 0 for layer in range(layers)]
    return [True] * layers
