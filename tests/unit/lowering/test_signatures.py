"""Signatures of handlers: which operands and attributes a handler gets."""

from __future__ import annotations

from typing import Any, cast

import pytest
from xdsl.ir import Attribute, SSAValue

from moir.dialects.element_types import f32, si8
from moir.errors import ConversionError, UsageError
from moir.lowering.mxnet.attributes import READERS
from moir.lowering.signatures import NodeAttribute, Operand, bound, signature_of
from moir.lowering.table import LoweringTable
from moir.rewriting.builder import OpBuilder
from tests.unit.lowering.nodes import node_of


def test_operands_in_order() -> None:
    def handler(op: OpBuilder, x: SSAValue, slope: SSAValue | None = None, *others: SSAValue) -> Any:
        return op, x, slope, others

    node = node_of(operands=["a", "b", "c", "d"])
    assert bound(handler)(node, "builder") == ("builder", *node.values[:2], tuple(node.values[2:]))
    assert signature_of(handler).operands == (Operand("x"), Operand("slope", True), Operand("others", False, True))


@pytest.mark.parametrize("operands", [["a"], ["a", None]])
def test_an_optional_operand_may_be_absent(operands: list[str | None]) -> None:
    def handler(x: SSAValue, slope: SSAValue | None = None) -> Any:
        return x, slope

    node = node_of(operands=operands)
    assert bound(handler)(node, None) == (node.values[0], None)


@pytest.mark.parametrize("operands", [["a"], ["a", None]])
def test_a_required_operand_may_not(operands: list[str | None]) -> None:
    def handler(x: SSAValue, slope: SSAValue) -> Any:
        return x, slope

    with pytest.raises(ConversionError, match="operand 1 is missing"):
        bound(handler)(node_of(operands=operands), None)


def test_an_operand_that_is_not_used_may_be_absent() -> None:
    def handler(_shape: SSAValue, x: SSAValue) -> Any:
        return x

    node = node_of(operands=[None, "a"])
    assert bound(handler)(node, None) == node.values[1]
    assert signature_of(handler).operands == (Operand("shape", True), Operand("x"))


def test_an_absent_operand_among_others_is_missing() -> None:
    with pytest.raises(ConversionError, match="operand 1 is missing"):
        bound(lambda *values: values)(node_of(operands=["a", None, "b"]), None)


def test_attributes_with_the_defaults_of_the_signature() -> None:
    def handler(*, alpha: float = 1.0, axes: tuple[int, ...] = (1, 2), mode: str = "none", keep: bool = True, k: int) -> Any:
        return alpha, axes, mode, keep, k

    assert bound(handler)(node_of(k=3), None) == (1.0, (1, 2), "none", True, 3)
    assert bound(handler)(node_of(k=3, alpha=2.5, axes=[0], mode="sum", keep=0), None) == (2.5, (0,), "sum", False, 3)


def test_a_required_attribute() -> None:
    def handler(*, k: int) -> int:
        return k

    with pytest.raises(ConversionError, match="attribute k is missing"):
        bound(handler)(node_of(), None)


def test_an_attribute_of_another_type() -> None:
    def handler(*, k: int = 0) -> int:
        return k

    with pytest.raises(ConversionError, match="attribute k is 'three', not of type int"):
        bound(handler)(node_of(k="three"), None)


@pytest.mark.parametrize(("given", "expected"), [({}, None), ({"scale": 0.5}, 0.5)])
def test_an_attribute_that_may_be_none(given: dict[str, Any], expected: float | None) -> None:
    def handler(*, scale: float | None = None) -> float | None:
        return scale

    assert bound(handler)(node_of(**given), None) == expected


def test_a_default_says_the_type_of_an_attribute() -> None:
    def handler(*, alpha=1.0, axes=(1,)):  # type: ignore[no-untyped-def]
        return alpha, axes

    assert signature_of(handler).attributes == (
        NodeAttribute("alpha", "alpha", "float", 1.0),
        NodeAttribute("axes", "axes", "tuple[int, ...]", (1,)),
    )


def test_a_trailing_underscore_is_not_part_of_a_name() -> None:
    def handler(input_: SSAValue, *, lambda_: float = 0.5) -> Any:
        return input_, lambda_

    node = node_of(operands=["a"], **{"lambda": 2.0})
    assert signature_of(handler).operands == (Operand("input"),)
    assert bound(handler)(node, None) == (node.values[0], 2.0)


def test_node_and_builder_come_first() -> None:
    def handler(node: Any, op: Any, x: SSAValue) -> Any:
        return node, op, x

    node = node_of(operands=["a"])
    assert bound(handler)(node, "builder") == (node, "builder", node.values[0])


def test_the_builder_does_not_come_before_the_node() -> None:
    with pytest.raises(UsageError, match="the node comes before the builder"):
        bound(lambda op, node, x: (op, node, x))


def test_a_handler_of_node_and_builder_is_taken_as_it_is() -> None:
    def handler(node: Any, op: Any) -> Any:
        return node, op

    assert bound(handler) is handler


@pytest.mark.parametrize("annotation", ["complex", "SSAValue", "list[int]"])
def test_a_type_that_no_attribute_has(annotation: str) -> None:
    def handler(*, k: Any) -> Any:
        return k

    handler.__annotations__["k"] = annotation
    with pytest.raises(UsageError, match=r"lowering .*handler: the type of attribute k is"):
        bound(handler)


def test_a_default_of_an_operand() -> None:
    def handler(x: Any = 1.0) -> Any:
        return x

    with pytest.raises(UsageError, match="an operand that may be absent has the default None") as raised:
        bound(handler)
    assert raised.value.location == f"{__file__}:{handler.__code__.co_firstlineno}"
    assert raised.value.hint == "if x is an attribute, write a * before it: parameters after a * are attributes"


def test_attributes_that_a_framework_writes_in_its_own_way() -> None:
    """MXNet writes a list of one number as that number, and an element type by its name."""

    def handler(*, axes: tuple[int, ...] = (), dtype: Attribute = f32, k: int = 1) -> Any:
        return axes, dtype, k

    table = LoweringTable("test", readers=READERS)
    table.lowers("Kind")(handler)
    called = table.handler("Kind", 1)
    assert called is not None
    actual: Any = called(node_of(axes=2, dtype="int8", k=3), cast("Any", None))
    assert actual == ((2,), si8, 3)
    assert called(node_of(), cast("Any", None)) == ((), f32, 1)
