"""Attributes that the lowering of an extension does not name are refused; moir's own lowerings name those of ONNX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import pytest
from onnx import defs

from moir.errors import ConversionError
from moir.lowering.onnx.table import onnx
from moir.lowering.pytorch.table import aten
from moir.lowering.signatures import signature_of
from moir.lowering.table import LoweringTable
from tests.unit.lowering.nodes import node_of


def called(handler: Callable[..., Any], table: LoweringTable | None = None, **attributes: Any) -> Any:
    """What a handler of an extension returns for a node with these attributes."""
    table = table or LoweringTable("onnx")
    with table.extended():
        table.lowers("Tested")(handler)
        result = table.handler("Tested", 1)
        assert result is not None
        return result(node_of(**attributes), cast("Any", "builder"))


def test_a_misspelt_attribute_is_refused() -> None:
    def hard_tanh(op: Any, *, limt: float = 1.0) -> Any:
        return op, limt

    with pytest.raises(ConversionError) as caught:
        called(hard_tanh, limit=2.0)
    assert caught.value.reason == "the lowering hard_tanh does not name attribute limit"
    assert caught.value.hint is not None
    assert caught.value.hint.startswith("did you mean limit in place of limt? Otherwise name it after *")
    assert caught.value.operation == "onnx.Tested"
    assert caught.value.location is not None
    assert caught.value.location.startswith(__file__)
    assert called(hard_tanh) == ("builder", 1.0)


def test_all_attributes_are_listed() -> None:
    with pytest.raises(ConversionError, match=r"does not name attributes limit, mode; name them after \*"):
        called(lambda op: op, limit=2.0, mode="hard")


def test_before_a_required_attribute_is_missing() -> None:
    def handler(*, limt: float) -> Any:
        return limt

    with pytest.raises(ConversionError, match="does not name attribute limit; did you mean limit in place of limt"):
        called(handler, limit=2.0)


def test_all_others_are_taken_as_values() -> None:
    def handler(*, k: int = 0, **attributes: Any) -> Any:
        return k, attributes

    assert called(handler, k=3, limit=2.0, axes=[1, 2], mode="hard") == (3, {"limit": 2.0, "axes": (1, 2), "mode": "hard"})
    assert called(lambda a=None, b=None, **attributes: (a, b, attributes), limit=2.0) == (None, None, {"limit": 2.0})


def test_a_lowering_that_takes_the_node_may_read_them() -> None:
    assert called(lambda node, _: node.number("limit"), limit=2.0) == 2.0


def test_what_is_implied_may_be_left_out() -> None:
    table = LoweringTable("onnx", implied=frozenset(("place",)))
    assert called(lambda op: op, table, place="here") == "builder"
    with pytest.raises(ConversionError, match="attribute limit"):
        called(lambda op: op, table, place="here", limit=2.0)


OWN: list[tuple[str, dict[str, Any], bool]] = [
    ("Elu", {"alpha": 1.0}, True),
    ("Elu", {"alpha": 2.0}, False),
    ("Elu", {"consumed_inputs": [0]}, True),
    ("LeakyRelu", {"alpha": 0.009999999776482582}, True),
    ("Concat", {"axis": 0}, False),
]


@pytest.mark.parametrize(("kind", "attributes", "is_accepted"), OWN)
def test_defaults_may_be_left_out(kind: str, attributes: dict[str, Any], is_accepted: bool) -> None:
    builder = cast("Any", "builder")
    with onnx.extended():
        onnx.lowers(kind)(lambda op: op)
        actual = onnx.handler(kind, 17)
        assert actual is not None
        if is_accepted:
            assert actual(node_of(**attributes), builder) == builder
        else:
            with pytest.raises(ConversionError, match=f"does not name attribute {next(iter(attributes))}"):
                actual(node_of(**attributes), builder)


def test_names_of_operands_are_no_attributes_of_pytorch() -> None:
    assert called(lambda op: op, aten, copies=True) == "builder"


def test_the_lowerings_of_onnx_name_every_attribute_that_is_not_implied() -> None:
    ignored: set[str] = set()
    checked = 0
    for schema in defs.get_all_schemas_with_history():
        kind = f"{schema.domain}.{schema.name}" if schema.domain else schema.name
        own = next((handler for since, handler in onnx._registered(kind) if since <= schema.since_version), None)
        if own is None or "node" in (signature := signature_of(own, onnx.readers)).leading:
            continue
        checked += 1
        ignored |= schema.attributes.keys() - {each.name for each in signature.attributes}
    assert checked > 80
    assert ignored == onnx._implied
