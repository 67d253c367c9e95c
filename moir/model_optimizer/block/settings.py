"""The entries of `graph.graph`, as a dictionary that records which of them extensions read."""

from __future__ import annotations

from typing import Any


class Settings(dict[str, Any]):
    """A dictionary that records which keys are read.

    A transformation may depend on the layout of the graph: if it changes nothing, a report mentions that it read the
    layout.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.read = set[str]()

    def __getitem__(self, key: str) -> Any:
        self.read.add(key)
        return super().__getitem__(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default."""
        self.read.add(key)
        return super().get(key, default)

    def unnoted(self, key: str) -> Any:
        """The value of a key, without recording that it was read; None if it is absent."""
        return super().get(key)
