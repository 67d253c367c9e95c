"""Stand-ins for messages and nodes of a framework, for tests of extractors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from unittest import TestCase

import numpy as np

from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.node import GraphNode


class PB(dict[str, Any]):
    """A stand-in for a message of protobuf: its fields are entries of a dictionary and attributes.

    A missing field is None.
    """

    def __getattr__(self, name: str) -> Any:
        return self.get(name)

    def update_node(self) -> None:
        """Does nothing; real messages update the attributes of their node."""


class FakeAttr:
    """An object whose attributes are entries, too.

    Args:
        kwargs: the attributes.
    """

    def __init__(self, **kwargs: Any) -> None:
        self.__dict__.update(kwargs)

    def __setitem__(self, key: str, value: Any) -> None:
        setattr(self, key, value)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)


class FakeNode(GraphNode):
    """A node, in a graph without other nodes, that a test uses only for its messages.

    Args:
        pl: the message of the node, `node.pb`.
        ml: the message with the weights, `node.model_pb`.
    """

    __slots__ = ("model_pb", "pb")

    def __init__(self, pl: Any, ml: Any) -> None:
        graph = Graph()
        super().__init__(graph, graph.create({"op": "FakeNode"}).id)
        object.__setattr__(self, "pb", pl)
        object.__setattr__(self, "model_pb", ml)


class FakeMultiParam(FakeAttr):
    """A stand-in for a message with several fields.

    Args:
        val: the fields.
    """

    def __init__(self, val: Mapping[str, Any]) -> None:
        super().__init__(**val)
        self.dict_values = val


class FakeParam(FakeAttr):
    """A stand-in for a message with one field.

    Args:
        param_key: the name of the field.
        param_val: its value.
    """

    def __init__(self, param_key: str, param_val: Any) -> None:
        super().__init__(**{param_key: param_val})


class FakeBlob(FakeParam):
    """The weights of a layer: a message with one field."""


class FakeModelLayer:
    """A stand-in for the message of a layer with weights.

    Args:
        blobs_val: the numbers of each blob.
    """

    def __init__(self, blobs_val: Sequence[Any]) -> None:
        self.blobs = [FakeBlob("data", values) for values in blobs_val]


class FakeRepeatedParam:
    """A stand-in for a field that occurs several times.

    Args:
        param_val: its values.
    """

    def __init__(self, param_val: Sequence[Any]) -> None:
        self.val = list(param_val)

    def __len__(self) -> int:
        return len(self.val)

    def __getitem__(self, index: int) -> Any:
        return self.val[index]


class FakeValue:
    """A stand-in for a message with a shape.

    Args:
        val: the shape.
    """

    def __init__(self, val: Any) -> None:
        self.shape = val


class BaseExtractorsTestingClass(TestCase):
    """A test of an extractor: `expected` are the attributes, `res` those of the node."""

    expected: Mapping[str, Any] = {}
    res: Any = None

    def compare(self) -> None:
        """Fail if an attribute in `expected` differs from that of the node."""
        for name, value in self.expected.items():
            check = np.testing.assert_almost_equal if isinstance(value, float) else np.testing.assert_equal
            check(self.res[name], value, err_msg=f"the attribute {name}")


class UnitTestWithMockedTelemetry(TestCase):
    """A test; moir has no telemetry that would have to be replaced."""
