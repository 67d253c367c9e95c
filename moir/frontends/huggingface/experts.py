"""The experts of the layers of a model, according to its config.json."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from moir.architectures.family import Family
from moir.architectures.record import Experts
from moir.frontends.huggingface.keys import Keys
from moir.frontends.huggingface.layer_kinds import MIXTURES, single_kinds

LARGEST_COUNT = 4096

DENSE_KEYS: Mapping[str, tuple[str, ...]] = {
    "sparse step": ("decoder_sparse_step", "mlp_only_layers"),
    "interval": ("moe_layer_interval", "moe_layer_start_index", "moe_layer_end_index"),
    "listed": ("moe_layers", "interleave_moe_layer_step"),
}
"""The keys that each rule in `Family.dense` reads, for rules that are not a key themselves."""


def expert_layers(family: Family, keys: Keys, layers: int) -> tuple[Experts | None, ...]:
    """The experts of each layer; None for layers with one MLP for all tokens."""
    values: dict[str, Any] = {}
    for field, key in family.experts.items():
        if isinstance(key, str) and key[:1] == "=":
            values[field] = key[1:]
        elif isinstance(key, str):
            value = _value(keys, field, key)
            if value is not None:
                values[field] = value
        else:
            values[field] = key
    for field in ("count", "chosen", "size", "shared", "groups", "chosen_groups"):
        value = values.get(field, 0)
        if not 0 <= value < 1 << 31:
            raise keys.error(f"{value!r} is not a possible number of experts or of their features")
    if missing := [field for field in ("count", "chosen", "size") if field not in values]:
        raise keys.error(f"{family.experts[missing[0]]!r} is null")
    experts = Experts(**values)
    if not 0 < experts.chosen <= experts.count <= LARGEST_COUNT:
        raise keys.error(f"{experts.chosen} of {experts.count} experts cannot be chosen")
    if experts.groups < 1 or experts.count % experts.groups or not 0 < experts.chosen_groups <= experts.groups:
        raise keys.error(f"{experts.count} experts in {experts.groups} groups, {experts.chosen_groups} of them chosen, are not possible")
    if experts.chosen > experts.count // experts.groups * experts.chosen_groups:
        raise keys.error(f"{experts.chosen} experts cannot be chosen from {experts.chosen_groups} of {experts.groups} groups")
    dense = dense_layers(family, keys, layers)
    return tuple(None if layer in dense else experts for layer in range(layers))


def _value(keys: Keys, field: str, key: str) -> Any:
    """The value of a field of `Experts` in config.json; None if it is null.

    `key` is a key, several keys of which the first present one counts (`a b`), or two keys whose values are multiplied
    (`a * b`). Raises ModelFileError for a value of another type.
    """
    factors = key.split(" * ")
    if len(factors) == 2:
        return keys.integer(factors[0]) * keys.integer(factors[1])
    value: Any = keys.first(key.split())
    if isinstance(value, list):
        # One number for each layer.
        numbers = cast("list[object]", value)
        value = numbers[0] if numbers and numbers.count(numbers[0]) == len(numbers) else numbers
    keys.check_type(key.split()[0], value, Experts.__annotations__[field])
    return value


def dense_layers(family: Family, keys: Keys, layers: int) -> set[int]:
    """The indices of the layers without experts, as the file lists them, or else by the rule of the family.

    Raises ModelFileError for kinds of layers and numbers that are not possible.
    """
    if family.kinds:
        return {layer for layer, kind in enumerate(single_kinds(keys, layers)) if kind not in MIXTURES}
    listed = keys.list("mlp_layer_types", layers)
    if listed is not None:
        if unknown := [each for each in listed if each not in ("dense", "sparse")]:
            raise keys.error(f"'mlp_layer_types' has a layer {unknown[0]!r}, which is not known")
        # Keys of the rule are redundant beside the list.
        keys.first(DENSE_KEYS.get(family.dense, tuple(family.dense.split())))
        return {layer for layer, kind in enumerate(listed) if kind == "dense"}
    if family.dense == "sparse step":
        step = keys.integer("decoder_sparse_step", 1)
        only = keys.list("mlp_only_layers") or ()
        return {layer for layer in range(layers) if layer in only or step < 1 or (layer + 1) % step}
    if family.dense == "listed":
        step, sparse = keys.integer("interleave_moe_layer_step"), keys.list("moe_layers")
        if step < 1:
            raise keys.error(f"experts in each {step}th layer are not possible")
        return {layer for layer in range(layers) if ((layer + 1) % step if sparse is None else layer not in sparse)}
    if family.dense == "interval":
        step, start, end = (keys.integer(f"moe_layer_{each}") for each in ("interval", "start_index", "end_index"))
        if step < 1:
            raise keys.error(f"experts in each {step}th layer are not possible")
        sparse = range(start, layers if end == -1 else min(end + 1, layers))
        return {layer for layer in range(layers) if layer not in sparse or (layer + 1) % step}
    if " " in family.dense:
        return {layer for layer, is_sparse in enumerate(keys.periodic(family.dense, layers)) if not is_sparse}
    if family.dense:
        return set(range(min(keys.integer(family.dense), layers)))
    return set()
