"""Every opset operation against the reference of the operation sets (`../shared/opset/opset.json` beside the checkout) and the runtime.

Attributes (names, form, allowed values, defaults), number of operands, and the reference's sample: its types, static, with unknown
dimensions and of unknown rank, and the layer the emitter writes of it.
"""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block
from xdsl.irdl import RangeLengthConstraint, VarOperandDef
from xdsl.irdl.constraints import AtMost
from xdsl.utils.exceptions import VerifyException

from moir.analysis.known_values import KnownValues
from moir.dialects.element_types import describe, from_xml, is_element_type, to_numpy
from moir.dialects.moir import ModelOp
from moir.dialects.opset import names, operation
from moir.dialects.opset.base import PropertySpec, property_table
from moir.dialects.opset.infrastructure import Result
from moir.dialects.properties import string_attribute, value_of
from moir.emit import to_openvino
from moir.errors import InferenceError
from tests.unit.dialects.opset.runtime_reference import infer_with_moir, infer_with_runtime, moir_operation, types_of

REFERENCE = Path(__file__).resolve().parents[5] / "shared" / "opset" / "opset.json"
OPERATIONS = json.loads(REFERENCE.read_text())["ops"] if REFERENCE.exists() else {}

pytestmark = pytest.mark.skipif(not OPERATIONS, reason=f"the reference of the operation sets is not there: {REFERENCE}")

ALL = list(names())

REGIONS = {"opset8.If", "opset5.Loop", "opset1.TensorIterator"}
"""Operations whose description is in child elements: test_condition.py."""

OWN_ATTRIBUTES = {"opset1.Parameter", "opset1.Constant"}
"""Operations whose attributes are the type of the result, and the place of the value in the `.bin`."""

FORMS = {
    "float": "float",
    "int": "int",
    "bool": "bool",
    "string": "str",
    "enum": "str",
    "element_type": "element",
    "int[]": "ints",
    "float[]": "floats",
    "string[]": "strs",
    'partial_shape string (e.g. "2,3", "?,3", "...")': "str",
}
"""Type of an attribute in the reference: form of the property."""


def entry(name: str) -> dict[str, Any]:
    """What the reference has of an operation."""
    opset, _, kind = name.partition(".")
    (found,) = [version for version in OPERATIONS[kind]["versions"] if version["version"] == opset]
    return found


def attributes(name: str) -> dict[str, dict[str, Any]]:
    return {attribute["name"]: attribute for attribute in entry(name)["attributes"]}


def specs(name: str) -> dict[str, PropertySpec]:
    return dict(property_table(operation(name)).specs)


def plain(value: Any) -> Any:
    """A default as a plain value: element types by name, words in lower case, lists as tuples."""
    if isinstance(value, Attribute) and is_element_type(value):
        return describe(value).xml
    if isinstance(value, list | tuple):
        return tuple(plain(item) for item in value)
    return value.lower() if isinstance(value, str) else value


@pytest.mark.parametrize("name", [name for name in ALL if name not in OWN_ATTRIBUTES | REGIONS])
def test_properties_have_the_names_and_form_of_the_attributes(name: str) -> None:
    expected = {attribute: FORMS[row["type"]] for attribute, row in attributes(name).items()}
    found = {key: spec.kind.kind for key, spec in specs(name).items()}
    assert found == expected


@pytest.mark.parametrize("name", [name for name in ALL if name not in OWN_ATTRIBUTES | REGIONS])
def test_properties_allow_the_values_of_the_attributes(name: str) -> None:
    for attribute, row in attributes(name).items():
        allowed = row.get("values")
        if isinstance(allowed, list):
            assert {value.lower() for value in specs(name)[attribute].kind.allowed} == {value.lower() for value in allowed}, attribute


def documented_default(row: dict[str, Any]) -> Any:
    """Default of an attribute as documented or in the runtime's Python interface; None if it must be given, `...` if nothing is said."""
    if row.get("required_documented") or row.get("required_by_python_factory"):
        return None
    text = row.get("documented_default", row.get("python_default"))
    if text is None:
        return ...
    try:
        return plain(ast.literal_eval(text.capitalize() if text in ("true", "false") else text))
    except (SyntaxError, ValueError):
        return text.lower()


_OPTIONAL = "the Python interface asks for it, the specification has a default"
_REQUIRED = "the Python interface has a default, the specification asks for it"

DEFAULTS_OF_THE_SPECIFICATION: dict[tuple[str, str], tuple[Any, str]] = {
    ("opset7.Gelu", "approximation_mode"): ("erf", _OPTIONAL),
    ("opset5.LogSoftmax", "axis"): (1, _OPTIONAL),
    ("opset1.Softmax", "axis"): (1, _OPTIONAL),
    ("opset8.Softmax", "axis"): (1, _OPTIONAL),
    ("opset1.MatMul", "transpose_a"): (False, _OPTIONAL),
    ("opset1.MatMul", "transpose_b"): (False, _OPTIONAL),
    ("opset1.ReverseSequence", "batch_axis"): (0, _OPTIONAL),
    ("opset1.ReverseSequence", "seq_axis"): (1, _OPTIONAL),
    ("opset1.ShuffleChannels", "axis"): (1, _OPTIONAL),
    ("opset1.ShuffleChannels", "group"): (1, _OPTIONAL),
    ("opset12.ScatterElementsUpdate", "reduction"): ("none", _OPTIONAL),
    ("opset8.MaxPool", "dilations"): ((), _OPTIONAL),
    ("opset14.MaxPool", "dilations"): ((), _OPTIONAL),
    ("opset1.RNNCell", "activations"): (("tanh",), _OPTIONAL),
    ("opset1.RNNCell", "activations_alpha"): ((), _OPTIONAL),
    ("opset1.RNNCell", "activations_beta"): ((), _OPTIONAL),
    ("opset6.GatherElements", "axis"): (None, _REQUIRED),
    ("opset1.LRN", "alpha"): (None, _REQUIRED),
    ("opset1.LRN", "beta"): (None, _REQUIRED),
    ("opset1.LRN", "bias"): (None, _REQUIRED),
    ("opset1.LRN", "size"): (None, _REQUIRED),
    ("opset4.Proposal", "framework"): ("", "the reference says the empty string in words"),
}
"""Where the default of the specification is not that of the runtime's Python interface, and why."""


@pytest.mark.parametrize("name", [name for name in ALL if name not in OWN_ATTRIBUTES | REGIONS])
def test_properties_have_the_documented_defaults(name: str) -> None:
    for attribute, row in attributes(name).items():
        default = specs(name)[attribute].default
        found = None if default is None else plain(value_of(default))
        expected = documented_default(row)
        if (name, attribute) in DEFAULTS_OF_THE_SPECIFICATION:
            expected, _ = DEFAULTS_OF_THE_SPECIFICATION[name, attribute]
        assert expected is ... or found == expected, attribute


UNLIMITED = 10**6

OPERANDS_OF_THE_RUNTIME = {
    "opset3.CumSum": ((2, 2), "the runtime refuses a model without the axis that the reference calls optional"),
}


def operand_counts(name: str) -> tuple[int, int]:
    """Least and greatest number of operands the definition of an operation takes."""
    least = greatest = 0
    for _, definition in operation(name).get_irdl_definition().operands:
        if not isinstance(definition, VarOperandDef):
            least, greatest = least + 1, greatest + 1
        elif isinstance(definition.constr, RangeLengthConstraint) and isinstance(definition.constr.length, AtMost):
            greatest += definition.constr.length.bound
        else:
            greatest = UNLIMITED
    return least, greatest


@pytest.mark.parametrize("name", ALL)
def test_operands_are_as_many_as_in_the_reference(name: str) -> None:
    rows = entry(name)["inputs"]
    least = sum(not row.get("optional") and not row.get("variadic") for row in rows)
    expected = (least, UNLIMITED if any(row.get("variadic") for row in rows) else len(rows))
    if name in OPERANDS_OF_THE_RUNTIME:
        expected, _ = OPERANDS_OF_THE_RUNTIME[name]
    assert operand_counts(name) == expected


WITHOUT_SAMPLE = REGIONS | {"opset1.Parameter", "opset1.Constant", "opset1.Result", "opset6.Assign"}
"""Operations that are part of any model here, or make no model on their own."""

SAMPLED = [name for name in ALL if name not in WITHOUT_SAMPLE]
VARIANTS = ("static", "unknown dimensions", "unknown rank", "unknown values")


def parsed_attribute(text: str, spec: PropertySpec) -> Any:
    """An attribute of a sample as a Python value; an element type stays as it is spelled."""
    items = [item.strip() for item in text.split(",")] if text else []
    match spec.kind.kind:
        case "int":
            return int(text)
        case "float":
            return float(text)
        case "bool":
            return text == "true"
        case "ints":
            return tuple(int(item) for item in items)
        case "floats":
            return tuple(float(item) for item in items)
        case "strs":
            return items
        case _:
            # The runtime reads words of any case.
            return next((word for word in spec.kind.allowed if word.lower() == text.lower()), text)


def sample(name: str, variant: str) -> tuple[str, list[Any], dict[str, Any], int]:
    """Operation, operands, properties and number of results of the sample of the reference."""
    content = entry(name)["sample"]
    operands: list[Any] = []
    for row in content["inputs"]:
        shape = tuple(row["shape"])
        if row["kind"] == "Const" and variant != "unknown values":
            operands.append(np.array(row["value"], dtype=to_numpy(from_xml(row["type"]))).reshape(shape))
        elif row["kind"] == "Const" or variant in ("static", "unknown values"):
            operands.append((row["type"], shape))
        else:
            operands.append((row["type"], None if variant == "unknown rank" else (-1,) * len(shape)))
    table = specs(name)
    return (
        name,
        operands,
        {key: parsed_attribute(text, table[key]) for key, text in content["attributes"].items()},
        len(content["inferred_outputs"]),
    )


def outcome(infer: Any, *case: Any) -> Any:
    """What was inferred, or `refused`."""
    try:
        return infer(*case)
    except (InferenceError, VerifyException, RuntimeError):
        return "refused"


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("name", SAMPLED)
def test_samples_have_the_types_of_the_runtime(name: str, variant: str) -> None:
    case = sample(name, variant)
    expected = outcome(infer_with_runtime, *case)
    assert variant != "static" or expected != "refused"
    assert outcome(infer_with_moir, *case) == expected


@pytest.mark.parametrize("name", SAMPLED)
def test_samples_are_emitted_as_the_runtime_reads_them(name: str) -> None:
    case = sample(name, "static")
    op = moir_operation(*case)
    op = type(op).create(operands=op.operands, properties=op.properties, result_types=op.infer(KnownValues()))
    op.attributes["name"] = string_attribute("op")
    sources = [operand.owner for operand in op.operands]
    results = [Result.create(operands=[result]) for result in op.results]
    model = to_openvino(ModuleOp([ModelOp.of("m", Block([*sources, op, *results]))]))
    (layer,) = [node for node in model.get_ops() if node.get_friendly_name() == "op"]
    assert layer.get_type_info().version_id == name.partition(".")[0]
    assert types_of(model) == infer_with_moir(*case)
