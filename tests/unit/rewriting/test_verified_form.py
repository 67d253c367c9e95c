"""Forms of operation classes and xDSL's verification of their definitions say the same."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp, UnitAttr, f32
from xdsl.ir import Attribute, Block, Operation, Region
from xdsl.irdl import irdl_op_definition, operand_def, result_def
from xdsl.utils.exceptions import VerifyException

from moir.dialects.data import DataAttr
from moir.dialects.opset import names, operation
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import PropertySpec, integer_property, property_table
from moir.dialects.properties import attribute_of
from moir.dialects.shapes import tensor
from moir.rewriting.verification import verify_module
from moir.rewriting.verified_form import VerifiedForm, form_of

WITH_BODIES = {"opset8.If", "opset5.Loop", "opset1.TensorIterator"}

EXAMPLES: dict[str, Attribute] = {
    "int": attribute_of(3),
    "bool": attribute_of(True),
    "float": attribute_of(0.5),
    "str": attribute_of("text"),
    "element": f32,
    "ints": attribute_of([1, 2]),
    "floats": attribute_of([0.5, 1.5]),
    "strs": attribute_of(["text"]),
    "attribute": DataAttr.of(np.zeros(2, np.float32), f32),
}
"""An attribute of each form of properties."""


def example(spec: PropertySpec) -> Attribute:
    if spec.kind.allowed:
        return attribute_of(spec.kind.allowed[0] if spec.kind.kind == "str" else [spec.kind.allowed[0]])
    return EXAMPLES[spec.kind.kind]


def created(operation: type[Operation], operands: int, results: int, properties: dict[str, Attribute], **rest: Any) -> Operation:
    values = test.TestOp(result_types=[f32] * operands).results
    op = operation.create(operands=values, result_types=[f32] * results, **rest)
    # Not when it is created, for then missing properties get their defaults.
    op.properties = dict(properties)
    return op


def form(name: str) -> VerifiedForm:
    form = form_of(operation(name))
    assert form is not None
    return form


def accepts(op: OpsetOp) -> bool:
    """Whether xDSL accepts an operation; what the definition does not say is not looked at."""
    try:
        op.get_irdl_definition().verify(op)
    except VerifyException:
        return False
    return True


def valid(name: str) -> Iterator[tuple[str, Operation]]:
    counts, specs = form(name), property_table(operation(name)).specs
    examples = {key: example(spec) for key, spec in specs.items()}
    defaults = {key: spec.default or examples[key] for key, spec in specs.items()}
    for operands in {counts.operands[0], counts.operands[-1] if len(counts.operands) < 10 else 10}:
        for results in {counts.results[0], counts.results[-1] if len(counts.results) < 10 else 10}:
            yield f"{operands} operands, {results} results", created(operation(name), operands, results, examples)
            yield f"{operands} operands, {results} results, defaults", created(operation(name), operands, results, defaults)
    for key, attribute in examples.items():
        yield f"only {key} is no default", created(operation(name), counts.operands[0], counts.results[0], {**defaults, key: attribute})
        if specs[key].optional:
            rest = {other: value for other, value in examples.items() if other != key}
            yield f"no {key}", created(operation(name), counts.operands[0], counts.results[0], rest)


def broken(name: str) -> Iterator[tuple[str, Operation]]:
    counts, specs = form(name), property_table(operation(name)).specs
    operands, results = counts.operands[0], counts.results[0]
    properties = {key: example(spec) for key, spec in specs.items()}

    def changed(**change: Any) -> Operation:
        settings: dict[str, Any] = {"operands": operands, "results": results, "properties": properties}
        return created(operation(name), **{**settings, **change})

    if operands:
        yield "an operand is missing", changed(operands=operands - 1)
    if len(counts.operands) < 10:
        yield "an operand too many", changed(operands=counts.operands[-1] + 1)
    if results:
        yield "a result is missing", changed(results=results - 1)
    if len(counts.results) < 10:
        yield "a result too many", changed(results=counts.results[-1] + 1)
    yield "a body", changed(regions=[Region(Block())])
    yield "a successor", changed(successors=[Block()])
    yield "an unknown property", changed(properties={**properties, "unknown": f32})
    for key, spec in specs.items():
        if not spec.optional:
            yield f"{key} is missing", changed(properties={other: value for other, value in properties.items() if other != key})
        for kind, attribute in {**EXAMPLES, "unit": UnitAttr()}.items():
            if kind != spec.kind.kind:
                yield f"{key} is of kind {kind}", changed(properties={**properties, key: attribute})
        if spec.kind.allowed:
            word = attribute_of("no such word" if spec.kind.kind == "str" else ["no such word"])
            yield f"{key} is a word that is not allowed", changed(properties={**properties, key: word})


@pytest.mark.parametrize("name", [name for name in names() if name not in WITH_BODIES])
def test_what_xdsl_accepts_fits(name: str) -> None:
    for what, op in valid(name):
        assert isinstance(op, OpsetOp)
        assert (accepts(op), form(name).fits(op)) == (True, True), what


@pytest.mark.parametrize("name", [name for name in names() if name not in WITH_BODIES])
def test_what_xdsl_rejects_does_not_fit(name: str) -> None:
    for what, op in broken(name):
        assert isinstance(op, OpsetOp)
        assert (accepts(op), form(name).fits(op)) == (False, False), what


@pytest.mark.parametrize("name", list(names()))
def test_defaults_satisfy_their_constraints(name: str) -> None:
    """A form does not look at a property that is the default."""
    for key, spec in property_table(operation(name)).specs.items():
        assert spec.default is None or spec.kind.accepts(spec.default), key


def test_only_operations_with_bodies_have_no_form() -> None:
    assert {name for name in names() if form_of(operation(name)) is None} == WITH_BODIES


@irdl_op_definition
class Halved(OpsetOp):
    name = "extension.Halved"
    data = operand_def()
    axis = integer_property(0)
    result = result_def()

    def check_invariants(self) -> None:
        if self.integer("axis") < 0:
            raise VerifyException("a negative axis has no half")


@irdl_op_definition
class HalvedAsInXdsl(OpsetOp):
    name = "extension.HalvedAsInXdsl"
    data = operand_def()
    axis = integer_property(0)
    result = result_def()

    def verify_(self) -> None:
        if self.integer("axis") < 0:
            raise VerifyException("a negative axis has no half")


class Quartered(HalvedAsInXdsl):
    name = "extension.Quartered"


@pytest.mark.parametrize("operation", [Halved, HalvedAsInXdsl, Quartered])
def test_checks_of_a_class_run_after_those_of_its_definition(operation: type[OpsetOp]) -> None:
    def module(operands: int, axis: object) -> ModuleOp:
        source = test.TestOp(result_types=[tensor((2,), f32)] * operands)
        op = operation.create(operands=source.results, result_types=[tensor((2,), f32)], properties={"axis": attribute_of(axis)})
        return ModuleOp([source, op])

    verify_module(module(1, 1))
    with pytest.raises(VerifyException, match=rf"{operation.name}: a negative axis has no half"):
        verify_module(module(1, -1))
    with pytest.raises(VerifyException, match="not a property of kind int"):
        verify_module(module(1, "last"))
    with pytest.raises(VerifyException, match="Expected 1 operand, but got 2"):
        verify_module(module(2, -1))


def test_xdsl_runs_the_checks_of_a_class() -> None:
    op = created(Halved, 1, 1, {"axis": attribute_of(-1)})
    with pytest.raises(VerifyException, match="a negative axis has no half"):
        op.verify_()


def test_a_class_that_verifies_itself_has_no_form() -> None:
    assert form_of(Halved) is not None
    assert form_of(HalvedAsInXdsl) is None
    assert form_of(Quartered) is None
