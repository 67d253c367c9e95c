"""The rotary embeddings of a model, according to its config.json.

transformers 4    rope_theta, rope_scaling {type or rope_type, factor, …}, partial_rotary_factor
transformers 5    rope_parameters {rope_theta, rope_type, factor, …, …}, or one for each kind of layer
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from moir.architectures.family import Family
from moir.architectures.record import Rotary
from moir.frontends.huggingface.experts import dense_layers
from moir.frontends.huggingface.keys import Keys, is_number
from moir.frontends.huggingface.layer_kinds import FULL, SLIDING, listed_rotations, windows
from moir.support.tables import words

SCALINGS: Mapping[str, frozenset[str]] = {
    "default": frozenset(),
    "linear": words("factor"),
    "dynamic": words("factor"),
    "llama3": words("factor low_freq_factor high_freq_factor original_max_position_embeddings"),
    "yarn": words("factor beta_fast beta_slow truncate attention_factor mscale mscale_all_dim original_max_position_embeddings"),
    "proportional": words("factor rotated"),
    "longrope": words("short_factor long_factor factor attention_factor original_max_position_embeddings short_mscale long_mscale"),
}
"""The parameters of each scaling."""

ALIASES = {"su": "longrope", "none": "default", "mrope": "default", "xdrope": "dynamic"}
"""Other names of rope scalings. mrope is the default for text, where all its sections have the same positions; xdrope
(HunYuan) the dynamic one.
"""

WITHOUT_EFFECT = words("mrope_section xdrope_section mrope_interleaved finetuned")

MAGNITUDES = words("short_mscale long_mscale")
"""The factors of cosines and sines for short and long texts, which have an effect in some families only."""

LARGEST_LENGTH = 1 << 31


def rotary_layers(family: Family, keys: Keys, layers: int, head_size: int, full_size: int = 0) -> tuple[Rotary | None, ...]:
    """The rotary embedding of each layer; None for layers that are not rotated.

    `full_size` is the size of a head of layers without a window if they have another one.
    """
    full, sliding = _by_kind(family, keys, head_size, full_size or head_size)
    thetas = keys.list("layer_rope_theta", layers) if family.rotary_layers == "thetas" else None
    if thetas is not None:
        return tuple(_with_theta(keys, full, theta) for theta in thetas)
    slides = windows(family, keys, layers) or (0,) * layers
    rotated = _rotated(family, keys, layers, slides)
    embeddings = [sliding if window and sliding is not None else full for window in slides]
    return tuple(each if is_rotated else None for each, is_rotated in zip(embeddings, rotated, strict=True))


def _with_theta(keys: Keys, rotary: Rotary, theta: object) -> Rotary | None:
    """The rotary embedding of a layer that has a base `theta` of its own; None if that is 0 or null, so that the layer
    has no rotation.
    """
    if not theta:
        return None
    if not is_number(theta) or theta <= 0:
        raise keys.error(f"'layer_rope_theta' has the entry {theta!r}")
    return rotary.with_fields(theta=float(theta))


def _rotated(family: Family, keys: Keys, layers: int, slides: tuple[int, ...]) -> list[bool]:
    """For each layer, whether it has a rotary embedding. `slides` are the windows of the layers, 0 for none."""
    if family.rotary_layers == "sliding or all" and keys.value("sliding_window") is None:
        return [True] * layers
    if family.rotary_layers in ("sliding", "sliding or all"):
        return [bool(window) for window in slides] if any(slides) or family.window == "pattern" else [True] * layers
    if family.rotary_layers == "sliding or dense":
        dense = dense_layers(family, keys, layers) if keys.value("prefix_dense_sliding_window_pattern") == 1 else ()
        return [bool(window) or layer in dense for layer, window in enumerate(slides)]
    if family.rotary_layers == "listed":
        return listed_rotations(keys, layers)
    return [True] * layers


def _by_kind(family: Family, keys: Keys, head_size: int, full_size: int) -> tuple[Rotary, Rotary | None]:
    """The embeddings of layers without and with a window; None for the second if they have the same.

    `full_size` is the size of a head of layers without a window, `head_size` that of the others.
    """
    parameters = keys.table("rope_parameters")
    if parameters is not None and (FULL in parameters or SLIDING in parameters):
        for_kinds = Keys(parameters, keys.location)
        sizes = ((FULL, full_size), (SLIDING, head_size))
        full, sliding = (_rotary(family, keys, for_kinds.table(kind) or {}, size) for kind, size in sizes)
        return full, sliding
    scaling = keys.table("rope_scaling")
    settings = {**(scaling or {}), **(parameters or {})}
    full = _rotary(family, keys, settings, full_size)
    local = family.key("local_theta")
    if not local:
        return full, None
    theta = keys.number(local)
    return full, Rotary(full.size if full_size == head_size else head_size, theta)


def _rotary(family: Family, keys: Keys, settings: Mapping[str, Any], head_size: int) -> Rotary:
    """The rotary embedding of heads of `head_size` that `settings`, the entry `rope_parameters` or `rope_scaling`,
    describe.

    Raises ModelFileError for a type or a parameter that is not known.
    """
    values = dict(settings)
    kind = str(values.pop("rope_type", None) or values.pop("type", None) or "default")
    values.pop("type", None)
    kind = ALIASES.get(kind, kind)
    if kind not in SCALINGS:
        raise keys.error(f"rotary embeddings of the type {kind!r} are not known")
    theta = keys.first((family.key("theta") or "rope_theta").split(), 10000.0)
    own = values.pop("rope_theta", None)
    theta = theta if own is None else own
    if not is_number(theta) or theta <= 0:
        raise keys.error(f"'rope_theta' is {theta!r}")
    part = keys.value(family.key("partial") or "partial_rotary_factor", 1.0)
    own = values.pop("partial_rotary_factor", None)
    part = part if own is None else own
    if part is not None and not (is_number(part) and 0 < part <= 1):
        raise keys.error(f"'partial_rotary_factor' is {part!r}")
    size_key = family.key("rotary_size")
    size = (size_key and keys.value(size_key)) or int(head_size * (1.0 if part is None else part))
    if not isinstance(size, int) or not 2 <= size <= max(head_size, 2) or size % 2:
        raise keys.error(f"{size} rotated dimensions of {head_size} are not possible")
    if kind == "dynamic" and values.get("alpha") and "alpha" in family.rotary_traits:
        theta *= float(_number(keys, "alpha", values["alpha"])) ** (size / max(size - 2, 1))
        kind, values = "default", {}
    if kind == "proportional":
        # The angles of all dimensions are those of the whole head; those of the others are 0.
        values["rotated"], size = size // 2 * 2, head_size
    growth = values.pop("llama_4_scaling_beta", None) if "growth" in family.rotary_traits else None
    without_effect = WITHOUT_EFFECT if "magnitudes" in family.rotary_traits else WITHOUT_EFFECT | MAGNITUDES
    for key in [key for key, value in values.items() if value is None or key in without_effect]:
        del values[key]
    known = SCALINGS[kind] | {"original_max_position_embeddings", "factor", "max_position_embeddings"}
    unknown = [key for key in values if key not in known]
    if unknown:
        raise keys.error(f"rotary embeddings of the type {kind!r} have no parameter {unknown[0]!r}")
    values = {key: _number(keys, key, value) for key, value in values.items() if key in SCALINGS[kind]}
    if kind in ("yarn", "longrope", "llama3", "dynamic"):
        values = _with_lengths(keys, kind, values)
    if kind == "longrope":
        for key in ("short_factor", "long_factor"):
            if len(cast("tuple[float, ...]", values.get(key, ()))) != size // 2:
                raise keys.error(f"{key!r} has not one entry for each of {size // 2} frequencies")
        if "magnitudes" in family.rotary_traits and not all(isinstance(values.get(key), float) for key in MAGNITUDES):
            raise keys.error(f"rotary embeddings of the type {kind!r} of this family need {' and '.join(sorted(MAGNITUDES))}")
    if growth and "original_max_position_embeddings" not in values:
        raise keys.error(f"rotary embeddings of the type {kind!r} have no length beyond which queries grow")
    divisors = (-1.0,) * (size // 2) if "backward" in family.rotary_traits else ()
    return Rotary(size, float(theta), kind, values, divisors, _number(keys, "llama_4_scaling_beta", growth or 0.0))


def _with_lengths(keys: Keys, kind: str, values: dict[str, Any]) -> dict[str, Any]:
    """The parameters `values` of a scaling of type `kind`, with the lengths before and after the scaling, and its
    factor.

    Raises ModelFileError for impossible lengths, or a missing factor.
    """
    length = keys.integer("max_position_embeddings", 0)
    original = keys.value("original_max_position_embeddings")
    original = values.get("original_max_position_embeddings") or original or length
    if not is_number(original) or not 0 < original < LARGEST_LENGTH or not 0 < length < LARGEST_LENGTH:
        raise keys.error(f"lengths of {original!r} and {length!r} are not possible")
    values["original_max_position_embeddings"] = original
    if kind == "longrope" and "factor" not in values:
        values["factor"] = length / original
    if kind != "longrope" and not (isinstance(values.get("factor"), float) and values["factor"] > 0):
        raise keys.error(f"rotary embeddings of the type {kind!r} have no factor")
    values["max_position_embeddings"] = length
    return values


def _number(keys: Keys, key: str, value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if is_number(value):
        return float(value)
    if isinstance(value, list) and all(is_number(each) and each > 0 for each in cast("list[Any]", value)):
        return tuple(float(each) for each in cast("list[float]", value))
    raise keys.error(f"the parameter {key!r} of the rotary embeddings is {value!r}")
