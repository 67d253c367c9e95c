"""The keys of a config.json, with checks of types; keys that were read are recorded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence, Set
from typing import Any, TypeGuard, cast

from moir.errors import ModelFileError
from moir.support.suggestions import did_you_mean

HINT = "the file is damaged, or of a model that moir does not know"


TYPES: Mapping[str, tuple[tuple[type, ...], str]] = {
    "int": ((int,), "an integer"),
    "float": ((int, float), "a number"),
    "str": ((str,), "a text"),
    "bool": ((bool,), "true or false"),
}
"""The types that a value may have in JSON, by the annotation of the field that it is for, with names for messages."""


CAUSAL = frozenset(("causal", "is_causal", "use_causal_mask"))
"""The keys that are false for encoders."""

_ON_BY_DEFAULT = CAUSAL | {"apply_rope", "use_rope", "use_rotary_emb", "use_rotary_embeddings"}
"""Keys that, if they are false, switch off a feature that the families have by default."""


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value of JSON is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


class Keys:
    """The entries of a config.json, with a record of which were read.

    Args:
        values: the values by key.
        location: the file, for messages.
        defaults: the values of keys that the file leaves out.
        is_part: whether the entries are those of the language model of a multimodal model.
    """

    def __init__(
        self, values: Mapping[str, Any], location: str, defaults: Mapping[str, object] | None = None, is_part: bool = False
    ) -> None:
        self.values = values
        self.location = location
        self.defaults = defaults or {}
        self.is_part = is_part
        self._read: set[str] = set()

    def with_names(self, aliases: Mapping[str, str]) -> Keys:
        """The entries with other names of a key, `aliases`, replaced by the key.

        Raises ModelFileError if two names of a key have different values.
        """
        values = dict(self.values)
        for alias, key in aliases.items():
            value = values.pop(alias, None)
            if value is None:
                continue
            if values.get(key, value) not in (value, None):
                raise self.error(f"{alias!r} is {value!r}, but {key!r} is {values[key]!r}")
            values[key] = value
        return Keys(values, self.location, self.defaults, self.is_part)

    def with_tables(self, tables: Sequence[str]) -> Keys:
        """The entries, with those of the nested objects `tables` flattened to `TABLE.KEY`.

        A table may be an object within one before it.
        """
        values = dict(self.values)
        for name in tables:
            inner = Keys(values, self.location).table(name) or {}
            values.pop(name, None)
            values |= {f"{name}.{key}": value for key, value in inner.items()}
        return Keys(values, self.location, self.defaults, self.is_part) if tables else self

    def with_defaults(self, defaults: Mapping[str, object]) -> Keys:
        """The entries with `defaults` as the values of keys that the file leaves out."""
        return Keys(self.values, self.location, defaults, self.is_part)

    def error(self, reason: str, hint: str | None = HINT) -> ModelFileError:
        """An error about the configuration."""
        return ModelFileError(reason, location=self.location, hint=hint)

    def has(self, key: str) -> bool:
        """Whether the file has a key with a value other than null."""
        return self.values.get(key) is not None

    def value(self, key: str, default: object = None) -> Any:
        """The value of a key; if the file leaves it out, that of the defaults, or else `default`."""
        self._read.add(key)
        return self.values[key] if key in self.values else self.defaults.get(key, default)

    def first(self, keys: Sequence[str], default: object = None) -> Any:
        """The value of the first of several keys that the file has; if it has none, that of the defaults, or else
        `default`.
        """
        self._read.update(keys)
        for key in keys:
            if self.has(key):
                return self.values[key]
        return next((self.defaults[key] for key in keys if key in self.defaults), default)

    def number_of(self, key: str) -> Any:
        """The value of a key if it is a number, text, flag or null (None).

        Raises ModelFileError for anything else, infinity and NaN, or if the key is missing and has no default.
        """
        value = self.value(key)
        if value is None and key not in self.values and key not in self.defaults:
            raise self.error(f"the key {key!r} is missing")
        if value is not None and not isinstance(value, int | float | str):
            raise self.error(f"{key!r} is {type(value).__name__}")
        if isinstance(value, float) and not math.isfinite(value):
            raise self.error(f"{key!r} is {value}")
        return value

    def check_type(self, key: str, value: object, annotation: str) -> None:
        """Raises ModelFileError if the value of a key is neither None nor of the type that `annotation`, of its field,
        names.
        """
        types, name = TYPES[annotation.partition(" |")[0]]
        if value is not None and (not isinstance(value, types) or isinstance(value, bool) is not (bool in types)):
            raise self.error(f"{key!r} is {value!r}, not {name}")

    def integer(self, key: str, default: int | None = None) -> int:
        """The integer under a key. Raises ModelFileError for another type, or a missing key without a default."""
        value = self.value(key, default)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(f"{key!r} is {value!r}, not an integer")
        return value

    def number(self, key: str, default: float | None = None) -> float:
        """The finite number under a key. Raises ModelFileError for another type, or a missing key without a default."""
        value = self.value(key, default)
        if not is_number(value):
            raise self.error(f"{key!r} is {value!r}, not a number")
        return float(value)

    def text(self, key: str) -> str:
        """The string under a key. Raises ModelFileError if the key is missing, or for another type."""
        value = self.value(key)
        if not isinstance(value, str):
            raise self.error(f"{key!r} is missing" if value is None else f"{key!r} is {type(value).__name__}, not a text")
        return value

    def flag(self, key: str, default: bool = False) -> bool:
        """The boolean under a key; the default if the key is missing or null. Raises ModelFileError for
        another type.
        """
        value = self.value(key, default)
        if value is None:
            return default
        if not isinstance(value, bool | int):
            raise self.error(f"{key!r} is {value!r}, not true or false")
        return bool(value)

    def list(self, key: str, length: int | None = None) -> Sequence[Any] | None:
        """The list at a key, which must have `length` entries if that is given; None if the key is absent."""
        value = self.value(key)
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise self.error(f"{key!r} is {type(value).__name__}, not a list")
        items = cast("Sequence[Any]", value)
        if length is not None and len(items) != length:
            raise self.error(f"{key!r} has {len(items)} entries for {length} layers")
        return items

    def periodic(self, names: str, layers: int) -> list[bool]:
        """For each layer, whether its index modulo a period equals an offset.

        `names` are the keys of the period and of the offset, with a blank between them. Raises ModelFileError if the
        offset is not below the period.
        """
        first, second = names.split()
        period, index = self.integer(first), self.integer(second)
        if not 0 <= index < period:
            raise self.error(f"layer {index} ({second!r}) of each {period} ({first!r}) is not possible")
        return [layer % period == index for layer in range(layers)]

    def table(self, key: str) -> Mapping[str, Any] | None:
        """The JSON object under a key; None if the key is absent."""
        value = self.value(key)
        if value is None:
            return None
        if not isinstance(value, dict):
            raise self.error(f"{key!r} is {type(value).__name__}, not an object")
        return cast("Mapping[str, Any]", value)

    def check_all_read(self, ignored: Set[str], hint: str = "if it has no effect on results, remove it from config.json") -> None:
        """Raises ModelFileError if a key was not read, is not in `ignored`, and may change what the model computes."""
        for key, value in self.values.items():
            if (
                key in self._read
                or not ignored.isdisjoint((key, key.rpartition(".")[2]))
                or value is None
                or (value is False and key not in _ON_BY_DEFAULT)
                or value in ([], {}, "")
            ):
                continue
            if key.startswith("_") and key not in self.defaults:
                continue
            shown = repr(value)
            text = f"the key {key!r} ({shown[:60]}{'…' if len(shown) > 60 else ''}) is not known for this family"
            # A key that was read and is there has its own spelling.
            raise self.error(text, did_you_mean(key, self._read - self.values.keys(), hint))
