"""The error for an attribute that a node does not have."""

from __future__ import annotations


class MissingAttributeError(AttributeError, KeyError):
    """A node does not have an attribute.

    It is a KeyError, as in Model Optimizer, for extensions that catch it, and an AttributeError for `hasattr`.
    """

    def __str__(self) -> str:
        return str(self.args[0])
