"""The keys of a file's architecture, such as `llama.block_count`; keys that were read are recorded."""

from __future__ import annotations

from collections.abc import Set
from typing import Any, cast

import numpy as np

from moir.frontends.gguf.container import Container
from moir.frontends.huggingface.configuration import LARGEST_COUNT
from moir.frontends.huggingface.keys import Keys
from moir.support.tables import words

REQUIRED = words("block_count embedding_length attention.head_count context_length")

IGNORED = words("vocab_size tensor_data_layout rope.scaling.finetuned")
"""Keys without effect on results, or that tensors repeat."""


class Metadata:
    """The keys of the architecture of a file.

    Args:
        container: the file.
        architecture: the name of the architecture, with which its keys begin.
    """

    def __init__(self, container: Container, architecture: str) -> None:
        self.prefix = f"{architecture}."
        own = {key: value for key, value in container.metadata.items() if key.startswith(self.prefix)}
        self.keys = Keys({key: _as_list(value) for key, value in own.items()}, container.location)
        for key, value in self.keys.values.items():
            if isinstance(value, list) and len(cast("list[Any]", value)) > LARGEST_COUNT:
                raise self.keys.error(f"{key!r} has more than {LARGEST_COUNT} entries")

    def value(self, name: str, skipped: object = None) -> Any:
        """The value of a key, or the common value for all layers; None if the key is absent.

        Args:
            name: the key, without the architecture.
            skipped: the value for layers to which the key does not apply, which is ignored.

        Raises ModelFileError if the value differs from layer to layer, or is a text.
        """
        key = self.prefix + name
        value = self.keys.value(key)
        if isinstance(value, list):
            entries = {each for each in cast("list[Any]", value) if each != skipped}
            if len(entries) > 1:
                raise self.keys.error(f"{key!r} differs from layer to layer", "models whose layers have different sizes are not read")
            value = entries.pop() if entries else None
        if isinstance(value, str):
            raise self.keys.error(f"{key!r} is a text, not a number")
        return value

    def size(self, name: str, skipped: int | None = None) -> int | None:
        """The integer of a key as in `value`; None if there is none.

        Raises ModelFileError if the key is required and missing, or the value is no integer.
        """
        value = self.value(name, skipped)
        if value is None and name in REQUIRED:
            raise self.keys.error(f"the key {self.prefix + name!r} is missing")
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise self.keys.error(f"{self.prefix + name!r} is {value!r}, not an integer")
        return value

    def layers(self) -> int:
        """The number of layers of the model, without those after it that predict further tokens."""
        count, further = self.size("block_count") or 0, self.size("nextn_predict_layers") or 0
        if not 0 <= further < max(count, 1):
            raise self.keys.error(f"{further} of {count} layers cannot predict further tokens")
        return count - further

    def numbers_of_layers(self, name: str) -> list[int]:
        """The list of integers of a key, one for each layer. Raises ModelFileError if it has no list of integers."""
        values = self.keys.list(self.prefix + name)
        if not values or not all(type(each) is int for each in values):
            raise self.keys.error(f"{self.prefix + name!r} has not one number for each layer")
        return list(values)

    def dismiss(self, name: str, *values: object) -> None:
        """Mark a key as read if its value is one of `values`, which have no effect in the family."""
        if self.keys.values.get(self.prefix + name) in values:
            self.keys.value(self.prefix + name)

    def check_all_read(self, ignored: Set[str]) -> None:
        """Raises ModelFileError for keys that nothing has read and that are not in `ignored`, names without effect."""
        names = (*IGNORED, *ignored)
        self.keys.check_all_read(frozenset(self.prefix + name for name in names), "moir cannot tell what it changes in the results")


def _as_list(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value
