"""Signatures of handlers against the schemas of their frameworks: names, kinds and defaults of operands and attributes.

The schemas are those of the installed `onnx` (every version that a handler is for) and `tensorflow`, and for MXNet and
Caffe the tables in `fields/`, which say nothing of operands. Kinds that these do not know (`com.microsoft`, TensorFlow's
former names, layers of Caffe's forks) are not compared.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from inspect import unwrap
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from xdsl.ir import Attribute

from moir.frameworks import FRAMEWORKS
from moir.frontends.tensorflow.tensors import element_type
from moir.lowering.driver import table_of
from moir.lowering.mxnet.attributes import ELEMENTS
from moir.lowering.onnx.element_types import ELEMENTS as DATA_TYPES
from moir.lowering.signatures import Signature, signature_of
from moir.lowering.table import NEWEST
from tests.unit.lowering.field_tables import field_table

_TAKEN_APART = "the frontend takes the text of dimension numbers apart"

DELIBERATE: Mapping[str, str] = {
    "Dropout: there is no attribute scale_train": "forks of Caffe have it",
    "LSTM: attribute num_output may be absent": "a hidden state has at least one number",
    "RNN: attribute num_output may be absent": "a hidden state has at least one number",
    "_npi_einsum: attribute subscripts may be absent": "an empty formula is none",
    "NonDeterministicInts, StatefulUniformFullInt, StatelessRandomUniformFullInt, StatelessRandomUniformFullIntV2: "
    "attribute dtype is IntegerType(64, Signedness.UNSIGNED) by default, not IntegerType(64, Signedness.SIGNED)": (
        "only numbers of si32 are lowered: both defaults are refused"
    ),
    "RegexFullMatch: attribute pattern may be absent": "without a pattern there is nothing to match",
    "Reshape: attribute shape may be absent": "without a shape there is nothing to do before version 5",
    "UniformQuantizedConvolutionHybrid: there is no attribute input_batch_dimension": _TAKEN_APART,
    "XlaConv, XlaConvV2: there is no attribute input_spatial_dimensions": _TAKEN_APART,
    "XlaGather: there is no attribute collapsed_slice_dims": _TAKEN_APART,
    "XlaGather: there is no attribute start_index_map": _TAKEN_APART,
    "XlaScatter: there is no attribute inserted_window_dims": _TAKEN_APART,
    "XlaScatter: there is no attribute scatter_dims_to_operand_dims": _TAKEN_APART,
    "XlaScatter: there is no attribute update_window_dims": _TAKEN_APART,
}
"""Differences that are meant, with the reason."""


class SchemaOperand(NamedTuple):
    name: str
    is_optional: bool
    is_variadic: bool


class SchemaAttribute(NamedTuple):
    types: frozenset[str]
    default: Any
    is_required: bool


class Schema(NamedTuple):
    """What a framework says of a kind: a default of None is one that it does not state as a value.

    Operands are None where nothing is known of them.
    """

    operands: Sequence[SchemaOperand] | None
    attributes: Mapping[str, SchemaAttribute]


class Registered(NamedTuple):
    """A handler of a kind, from a version of its operation set to before another one.

    `field` is the field of a Caffe layer whose parameters are the attributes of the handler.
    """

    kind: str
    handler: Callable[..., Any]
    since: int
    until: int
    field: str


ONNX_TYPES = {
    "INT": {"int", "bool", "Attribute"},
    "FLOAT": {"float"},
    "STRING": {"str"},
    "INTS": {"tuple[int, ...]"},
    "FLOATS": {"tuple[float, ...]"},
    "STRINGS": {"tuple[str, ...]"},
    "TENSOR": {"Array"},
}
TENSORFLOW_TYPES = {
    "int": {"int"},
    "float": {"float"},
    "bool": {"bool"},
    "string": {"str"},
    "type": {"Attribute"},
    "shape": {"tuple[int, ...]"},
    "list(int)": {"tuple[int, ...]"},
    "list(float)": {"tuple[float, ...]"},
    "list(string)": {"tuple[str, ...]"},
}


@cache
def onnx_schemas() -> Mapping[str, Mapping[int, Schema]]:
    import onnx.defs
    from onnx.helper import get_attribute_value

    form = onnx.defs.OpSchema.FormalParameterOption
    results: dict[str, dict[int, Schema]] = defaultdict(dict)
    for schema in onnx.defs.get_all_schemas_with_history():
        operands = [SchemaOperand(each.name, each.option == form.Optional, each.option == form.Variadic) for each in schema.inputs]
        attributes: dict[str, SchemaAttribute] = {}
        for name, each in schema.attributes.items():
            has_default = each.default_value is not None and each.default_value.name
            default = get_attribute_value(each.default_value) if has_default else None
            types = frozenset(ONNX_TYPES.get(str(each.type).rpartition(".")[2], ()))
            attributes[name] = SchemaAttribute(types, default, each.required)
        kind = f"{schema.domain}.{schema.name}" if schema.domain else schema.name
        results[kind][schema.since_version] = Schema(operands, attributes)
    return results


def schemas_of_onnx(entry: Registered) -> list[Schema]:
    """The schemas of the versions that a handler is for."""
    versions = onnx_schemas().get(entry.kind, {})
    first = max((version for version in versions if version <= entry.since), default=0)
    return [schema for version, schema in sorted(versions.items()) if first <= version < entry.until]


def schemas_of_tensorflow(entry: Registered) -> list[Schema]:
    """The schema of a kind, if the installed TensorFlow has it."""
    from tensorflow.python.framework import op_def_registry

    definition = op_def_registry.get(entry.kind)
    if definition is None:
        return []
    operands = [SchemaOperand(each.name, False, bool(each.number_attr or each.type_list_attr)) for each in definition.input_arg]
    attributes: dict[str, SchemaAttribute] = {}
    for each in definition.attr:
        default: Any = None
        if each.HasField("default_value"):
            field = each.default_value.WhichOneof("value")
            default = getattr(each.default_value, field)
            if field == "list":
                items = [entry for _, values in default.ListFields() for entry in values]
                default = tuple(items)
            elif field == "type":
                default = element_type(default)
            elif field not in ("i", "f", "b", "s"):
                default = None
        types = frozenset(TENSORFLOW_TYPES.get(each.type, ()))
        attributes[each.name] = SchemaAttribute(types, default, not each.HasField("default_value"))
    return [Schema(operands, attributes)]


FIELD_TYPES = {
    "int": {"int"},
    "float": {"float"},
    "bool": {"bool"},
    "str": {"str", "Attribute"},
    "ints": {"tuple[int, ...]"},
    "floats": {"tuple[float, ...]"},
}


def schemas_of_fields(framework: str, name: str) -> list[Schema]:
    """The schema in a table of fields, if it has the entry."""
    fields = field_table(framework).get(name)
    if fields is None:
        return []
    of = {
        each: SchemaAttribute(frozenset(FIELD_TYPES.get(field.kind, ())), field.default, field.is_required)
        for each, field in fields.items()
    }
    return [Schema(None, of)]


SCHEMAS: Mapping[str, Callable[[Registered], list[Schema]]] = {
    "onnx": schemas_of_onnx,
    "tf": schemas_of_tensorflow,
    "mxnet": lambda entry: schemas_of_fields("mxnet", entry.kind),
    "caffe": lambda entry: schemas_of_fields("caffe", entry.field),
}


def registered(framework: str) -> Iterator[Registered]:
    """The built-in handlers of a framework, with the versions that they are for."""
    table = table_of(FRAMEWORKS[framework])
    package = import_module(str(table.package))
    for path in sorted(Path(str(package.__file__)).parent.rglob("*.py")):
        import_module(".".join([package.__name__, *path.relative_to(Path(str(package.__file__)).parent).with_suffix("").parts]))
    for kind, versions in sorted(table._handlers.items()):
        until = NEWEST
        for since, handler in versions:
            if handler.__module__.startswith("moir."):
                yield Registered(kind, unwrap(handler), since, until, getattr(handler, "layer_parameters", ""))
            until = since


def plain(name: str) -> str:
    """A name without the differences that Python's names and the package's style make."""
    return re.sub(r"\W|_", "", name).lower()


def is_equal(ours: object, theirs: object) -> bool:
    if isinstance(ours, Attribute) and isinstance(theirs, str):
        return ELEMENTS.get(theirs) == ours
    if isinstance(ours, Attribute) and isinstance(theirs, int):
        return DATA_TYPES.get(theirs) == ours
    if isinstance(theirs, bytes):
        theirs = theirs.decode()
    if isinstance(ours, tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(is_equal(*pair) for pair in zip(ours, theirs, strict=True))
    if isinstance(ours, float) or isinstance(theirs, float):
        return float(str(ours)) == pytest.approx(float(str(theirs)), rel=1e-6)
    return ours == theirs


def differences(signature: Signature, kinds: Mapping[str, Sequence[Schema]]) -> Iterator[str]:
    """What a signature says otherwise than the schemas of the kinds that its handler is for."""
    kind, schemas = ", ".join(kinds), [schema for each in kinds.values() for schema in each]
    listed = [schema.operands for schema in schemas if schema.operands is not None]
    for index, operand in enumerate(signature.operands if listed else ()):
        theirs = [operands[index] for operands in listed if index < len(operands)]
        if operand.is_variadic and any(operands and operands[-1].is_variadic for operands in listed):
            continue
        if not theirs:
            yield f"{kind}: there is no operand {operand.name}"
            continue
        if operand.is_variadic:
            continue
        if any(each.is_variadic for each in theirs):
            continue
        if len(kinds) == 1 and all(plain(operand.name) != plain(each.name) for each in theirs):
            yield f"{kind}: operand {index} is {theirs[-1].name}, not {operand.name}"
        if not operand.is_optional and all(each.is_optional for each in theirs):
            yield f"{kind}: operand {operand.name} may be absent"
    for attribute in signature.attributes:
        results = [schema.attributes[attribute.name] for schema in schemas if attribute.name in schema.attributes]
        if not results:
            yield f"{kind}: there is no attribute {attribute.name}"
            continue
        if all(attribute.type.removesuffix(" | None") not in each.types for each in results):
            yield f"{kind}: attribute {attribute.name} is no {attribute.type}"
        if attribute.is_required and not any(each.is_required for each in results):
            yield f"{kind}: attribute {attribute.name} may be absent"
        for each in results:
            if each.default is not None and not attribute.is_required and not is_equal(attribute.default, each.default):
                yield f"{kind}: attribute {attribute.name} is {each.default!r} by default, not {attribute.default!r}"


@cache
def all_differences(framework: str) -> tuple[list[str], int]:
    """The differences of all handlers of a framework, and how many kinds were compared."""
    by_handler: dict[Callable[..., Any], list[Registered]] = defaultdict(list)
    for entry in registered(framework):
        by_handler[entry.handler].append(entry)
    results: list[str] = []
    compared = 0
    for handler, entries in by_handler.items():
        kinds: dict[str, list[Schema]] = defaultdict(list)
        for entry in entries:
            kinds[entry.kind] += SCHEMAS[framework](entry)
        if all(kinds.values()):
            compared += len(kinds)
            results += differences(signature_of(handler), kinds)
    return sorted(set(results)), compared


@pytest.mark.parametrize(("framework", "least"), [("onnx", 200), ("tf", 500), ("mxnet", 200), ("caffe", 15)])
def test_signatures_say_what_schemas_say(framework: str, least: int) -> None:
    actual, compared = all_differences(framework)
    assert compared > least
    assert [each for each in actual if each not in DELIBERATE] == []


def test_every_deliberate_difference_is_one() -> None:
    actual = {each for framework in SCHEMAS for each in all_differences(framework)[0]}
    assert [each for each in DELIBERATE if each not in actual] == []
