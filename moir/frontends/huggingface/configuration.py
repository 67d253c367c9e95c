"""config.json -> the configuration of an architecture, spelled as by transformers 4 or 5."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import ml_dtypes

from moir.architectures.family import ANY, IGNORED, KEYS, Family
from moir.architectures.record import Architecture, Configuration, Distances, Latent
from moir.frontends.huggingface.experts import expert_layers
from moir.frontends.huggingface.key_indices import key_index
from moir.frontends.huggingface.keys import CAUSAL, Keys, is_number
from moir.frontends.huggingface.layer_kinds import blocks, chunks, single_kinds, windows
from moir.frontends.huggingface.layer_sizes import key_sources, layer_fields
from moir.frontends.huggingface.rotary import rotary_layers

INTEGERS = ("layers", "hidden", "vocabulary", "heads", "feed_forward", "positions")
"""The sizes that every family has."""

REQUIRED = ("layers", "hidden", "vocabulary", "positions")
"""Sizes that must be present; null counts as missing."""

ARCHITECTURE, CONFIGURATION, FAMILY = (frozenset(each.__annotations__) for each in (Architecture, Configuration, Family))
"""The names of the fields of these records."""

LARGEST_DISTANCE = 1 << 20
"""Greatest distance of two tokens that can have an embedding, beyond any that exists."""

LARGEST_COUNT = 10_000
"""Most layers, heads or experts of a model, beyond any that exists: the number may come from a damaged file."""


def configured(family: Family, keys: Keys) -> tuple[Architecture, Configuration, Family]:
    """The architecture of one model, its configuration and its family, with the variants that its keys choose.

    Raises ModelFileError for keys with impossible values, and for keys that nothing reads.
    """
    keys = keys.with_names(family.aliases).with_tables(family.tables).with_defaults(family.defaults)
    if family.kinds and not keys.has("num_hidden_layers"):
        keys = keys.with_defaults({**family.defaults, "num_hidden_layers": len(single_kinds(keys))})
    for key, value in family.expected.items():
        known = cast("tuple[object, ...]", value if isinstance(value, tuple) else (value,))
        if keys.value(key) not in (*known, None):
            listed = " and ".join(repr(each) for each in known)
            raise keys.error(f"{key!r} is {keys.value(key)!r}; of this family moir knows {listed} alone")
    changes: dict[str, object] = {}
    for key, value, changed in family.variants:
        if keys.value(key) == value or (value is ANY and keys.value(key) is not None):
            changes |= changed
    family = _varied(family, changes)
    architecture = family.architecture
    fields = _fields(family, keys)
    fields |= {name: value for name, value in changes.items() if name in CONFIGURATION and name not in FAMILY}
    if architecture.task == "classification":
        fields["labels"] = _label_count(keys)
    configuration = Configuration(**fields)
    _check(configuration, keys)
    is_encoder = architecture.task != "generation"
    causal = {key for key in (*CAUSAL, "is_decoder") if keys.values.get(key) is True}
    if is_encoder and causal:
        raise keys.error(f"{min(causal)!r} is true; encoders whose tokens see none after them are not known")
    keys.check_all_read(IGNORED | family.unread | (CAUSAL if is_encoder else causal) | {family.further_layers})
    return architecture, configuration, family


def _varied(family: Family, changes: Mapping[str, object]) -> Family:
    """The family with the fields in `changes`; a field of its architecture is given by its name, one of its attention
    by `attention.NAME`.
    """
    own = {name: value for name, value in changes.items() if name in FAMILY}
    outer = {name: value for name, value in changes.items() if name in ARCHITECTURE and name not in own}
    architecture = family.architecture.with_fields(**outer)
    inner = {name.partition(".")[2]: value for name, value in changes.items() if name.startswith("attention.")}
    return family.with_fields(**own, architecture=architecture.with_fields(attention=architecture.attention.with_fields(**inner)))


def _fields(family: Family, keys: Keys) -> dict[str, Any]:
    """The fields of `Configuration` by name. Raises ModelFileError for keys that are missing or impossible."""
    fields: dict[str, Any] = dict(family.fixed)
    for field in (*INTEGERS, *(set(family.keys) - set(INTEGERS))):
        key = family.key(field)
        if key and field not in fields and field in CONFIGURATION:
            fields[field] = _value(keys, field, key)
    for field in ("epsilon", "activation", "is_tied", "key_heads", "head_size"):
        if field not in fields and (key := family.key(field)):
            fields[field] = _value(keys, field, key)
            if field in ("key_heads", "head_size") and fields[field] == 0:
                raise keys.error(f"{key!r} is 0")
    for table, power in ((family.divisors, -1.0), (family.roots, 0.5), (family.inverse_roots, -0.5)):
        fields |= {field: _positive(keys, key) ** power for field, key in table.items()}
    fields |= {field: float(ml_dtypes.bfloat16(_positive(keys, key) ** 0.5)) for field, key in family.rounded_roots.items()}
    for field in family.halves:
        if fields[field] is None or fields[field] % 2:
            raise keys.error(f"{family.key(field)!r} is {fields[field]}, which is odd")
        fields[field] //= 2
    factors = {name: _factor(keys, key) for name, key in family.factors.items()}
    fields["factors"] = {name: factor for name, factor in factors.items() if factor != 1}
    fields |= {field: _quotient(keys, text) for field, text in family.quotients.items()}
    if family.sizes:
        fields["sizes"] = _further_sizes(family, keys)
    layers = fields["layers"]
    if layers is None or not 0 < layers <= LARGEST_COUNT or not 0 <= (fields.get("heads") or 0) <= LARGEST_COUNT:
        raise keys.error(f"{layers} layers with {fields.get('heads')} heads are not possible")
    fields["key_heads"] = fields.get("key_heads") or fields.get("heads", 0)
    if family.has_distances:
        fields["distances"] = _distances(keys)
    if family.key_index:
        fields["key_index"] = key_index(family, keys, layers)
    if family.latent:
        fields["latent"] = latent = _latent(family, keys)
        fields["head_size"] = latent.plain_size + latent.rotated_size
        fields["value_size"] = fields.get("value_size") or fields["hidden"] // max(fields["heads"], 1)
    if fields.get("heads"):
        fields["head_size"] = fields.get("head_size") or fields["hidden"] // fields["heads"]
    fields["feed_forward"] = fields["feed_forward"] or 4 * fields["hidden"]
    if family.adjusted_feed_forward:
        fields["feed_forward"] = _adjusted(keys, fields["feed_forward"])
    if fields.get("embedding_size") == fields["hidden"]:
        fields["embedding_size"] = None
    fields["positions"] += family.architecture.positions_offset
    if "activation" in fields and fields["activation"] is None:
        raise keys.error(f"the key {family.key('activation')!r} names no activation")
    fields = {name: value for name, value in fields.items() if value is not None}
    fields["biases"] = frozenset(each for key, operands in family.biases.items() if not key or keys.flag(key) for each in operands.split())
    fields.setdefault("windows", windows(family, keys, layers))
    fields["blocks"] = blocks(family, keys, layers)
    fields.setdefault("chunks", chunks(family, keys, layers))
    if sources := key_sources(family, keys, layers, fields["windows"]):
        fields["sources"] = sources
    if own := layer_fields(family, keys, fields):
        fields["layer_fields"] = own
    if family.architecture.attention.rotation is not None:
        if not fields.get("head_size"):
            raise keys.error(f"{fields.get('heads')} heads of {fields['hidden']} features are not possible")
        full_size = next((each["head_size"] for each in fields.get("layer_fields", ()) if "head_size" in each), fields["head_size"])
        fields.setdefault("rotary", rotary_layers(family, keys, layers, int(fields["head_size"]), int(full_size)))
    if family.experts:
        fields["experts"] = expert_layers(family, keys, layers)
    return fields


def _factor(keys: Keys, text: str) -> float:
    """A factor: the value of the key `text`, or element INDEX of the list at a key for the text `KEY INDEX`; 1 if it is
    null.
    """
    key, _, index = text.partition(" ")
    if keys.value(key) is None:
        return 1.0
    if not index:
        return keys.number(key)
    entries = keys.list(key) or ()
    if len(entries) <= int(index) or not is_number(entries[int(index)]):
        raise keys.error(f"{key!r} has no number at index {index}")
    return float(entries[int(index)])


def _quotient(keys: Keys, text: str) -> float:
    """The quotient of the values of two keys, given as text `a / b` or `a / root b`; 1 if the first one is null."""
    first, second = text.split(" / ")
    if keys.value(first) is None:
        return 1.0
    is_root, key = second.startswith("root "), second.removeprefix("root ")
    return keys.number(first) / _positive(keys, key) ** (0.5 if is_root else 1.0)


def _positive(keys: Keys, key: str) -> float:
    """The number under a key. Raises ModelFileError if it is not above 0."""
    if (number := keys.number(key)) <= 0:
        raise keys.error(f"{key!r} is {number}")
    return number


def _latent(family: Family, keys: Keys) -> Latent:
    """The sizes of a latent attention, from the keys that `family.latent` names."""
    sizes = {field: keys.integer(key) for field, key in family.latent.items() if keys.value(key) is not None}
    for field, size in sizes.items():
        if not 0 < size < 1 << 31:
            raise keys.error(f"{family.latent[field]!r} is {size}")
    if missing := [field for field in ("rank", "plain_size", "rotated_size") if field not in sizes]:
        raise keys.error(f"{family.latent[missing[0]]!r} is null")
    return Latent(**sizes)


def _distances(keys: Keys) -> Distances:
    """The distances that have embeddings. Raises ModelFileError for impossible numbers of them."""
    longest, buckets = keys.integer("max_relative_positions", -1), keys.integer("position_buckets", -1)
    if longest < 1:
        longest = keys.integer("max_position_embeddings")
    span = buckets if buckets > 0 else longest
    if not 0 < span < LARGEST_DISTANCE or longest >= LARGEST_DISTANCE or (buckets > 0 and (buckets < 4 or longest <= buckets // 2 + 1)):
        raise keys.error(f"{buckets} 'position_buckets' of distances up to {longest} are not possible")
    return Distances(span, longest if buckets > 0 else 0)


def _further_sizes(family: Family, keys: Keys) -> dict[str, int]:
    """The value of `Configuration.sizes`, the sizes that only this family has, except for those whose value is
    `auto`.
    """
    further: dict[str, int] = {}
    for name, key in family.sizes.items():
        if keys.value(key) == "auto":
            continue
        if name in family.optional_sizes and not keys.value(key):
            further[name] = 0
            continue
        further[name] = keys.integer(key)
        if not 0 < further[name] < 1 << 31:
            raise keys.error(f"{key!r} is {further[name]}")
    return further


def _adjusted(keys: Keys, size: int) -> int:
    """The size of a feed-forward block: `size`, or two thirds of it times a factor, rounded up, if config.json says so
    (LFM2).

    Raises ModelFileError for an impossible factor or multiple.
    """
    factor, unit = keys.value("block_ffn_dim_multiplier"), keys.integer("block_multiple_of")
    if not keys.flag("block_auto_adjust_ff_dim"):
        return size
    size = int(2 * size / 3)
    if factor is None:
        return size
    if unit < 1:
        raise keys.error(f"'block_multiple_of' is {unit}")
    factor = keys.number("block_ffn_dim_multiplier")
    if not 0 < factor < 1 << 31:
        raise keys.error(f"'block_ffn_dim_multiplier' is {factor}")
    return -(-int(factor * size) // unit) * unit


def _label_count(keys: Keys) -> int:
    """The number of classes of a model that classifies; two where config.json says nothing, as in Transformers."""
    names = keys.table("id2label")
    return keys.integer("num_labels", 2) if names is None else len(names)


def _value(keys: Keys, field: str, key: str) -> Any:
    """The value of a key for a field of a configuration; None if the file or the family has null for it.

    Raises ModelFileError if the key is required and missing, or its value is not of the type of the field.
    """
    key = next((each for each in key.split() if keys.value(each) is not None), key.split()[-1])
    value = keys.number_of(key)
    keys.check_type(key, value, Configuration.__annotations__[field])
    if value is None and field in REQUIRED:
        raise keys.error(f"{key!r} is null")
    return value


def _check(configuration: Configuration, keys: Keys) -> None:
    """Raises ModelFileError for sizes of a configuration that do not fit together."""
    numbers: Mapping[str, int] = {name: getattr(configuration, name) for name in INTEGERS if name != "positions"}
    for name, value in numbers.items():
        if name in ("heads", "feed_forward") and value == 0:
            continue
        if not 0 < value < 1 << 31:
            raise keys.error(f"{value} is not a possible number ({KEYS.get(name, name)})")
    if configuration.epsilon < 0:
        raise keys.error(f"the epsilon of normalizations is {configuration.epsilon}")
    if configuration.attention_scale == 0:
        raise keys.error("the factor of the scores is 0; runtimes take it for the usual one")
    if configuration.heads and (configuration.key_heads < 1 or configuration.heads % configuration.key_heads):
        raise keys.error(f"{configuration.heads} heads cannot share {configuration.key_heads} heads of keys")
