"""The inspection of a module: its interface, operations, weights, bodies and metadata."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, Operation

from moir.analysis.port_layouts import recorded_layout
from moir.dialects.data import DataAttr
from moir.dialects.element_types import describe
from moir.dialects.framework import decode_kind
from moir.dialects.interface import inputs_of, operations_of, outputs_of
from moir.dialects.moir import PARAMETER, RESULT, ModuleLevel, all_blocks, models_of
from moir.dialects.names import name_of, names_of
from moir.dialects.properties import value_of
from moir.inspection.obstacles import obstacles
from moir.inspection.records import InspectedPort, Inspection, OperationKind, Subgraph, Weight, WeightType
from moir.inspection.tables import plain

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from moir.dialects.interface import Port
    from moir.options import ConversionOptions
    from moir.pipeline import LoadedExtensions

LARGEST = 10
"""The number of largest weights that are listed."""


def inspect_module(
    module: ModuleOp,
    form: str,
    framework: str,
    options: ConversionOptions,
    extensions: LoadedExtensions | None = None,
    *,
    is_read: bool = False,
) -> Inspection:
    """Inspect a module, which is not changed.

    Args:
        module: the module.
        form: the format that was read, for the result.
        framework: the name of the framework's dialect.
        options: the options that a conversion would have.
        extensions: the extensions that are loaded.
        is_read: whether the module is a model as its frontend has read it.
    """
    models = models_of(module)
    remaining, reason = obstacles(module, framework, options, extensions)
    unknown = {each.operation for each in remaining if each.reason is None}
    kinds = Counter(decode_kind(op.name) for op in operations_of(module))
    weights = list(_weights(module))
    return Inspection(
        name=", ".join(model.sym_name.data for model in models),
        format=form,
        inputs=tuple(port for model in models for port in _ports(inputs_of(model), model.block.ops, PARAMETER)),
        outputs=tuple(port for model in models for port in _ports(outputs_of(model), model.block.ops, RESULT)),
        operations=tuple(OperationKind(name, count, name not in unknown) for name, count in kinds.most_common()),
        obstacles=remaining,
        reason=reason,
        weights=_by_type(weights),
        largest_weights=tuple(sorted(weights, key=lambda each: -each.bytes)[:LARGEST]),
        subgraphs=tuple(_subgraphs(module)),
        metadata=metadata_of(module, is_read=is_read),
    )


def metadata_of(module: ModuleOp, *, is_read: bool = False) -> dict[str, Any]:
    """The metadata of a module as values of JSON: versions of operation sets, producer, parameters of a conversion.

    Args:
        module: the module.
        is_read: whether the module is a model as its frontend has read it. The conversion parameters are then those of
            this reading, and are left out; a text has those of its conversion.
    """
    left_out = (ModuleLevel.CONVERSION_PARAMETERS,) if is_read else ()
    return {name: _python(value) for model in models_of(module) for name, value in model.attributes.items() if name not in left_out}


def _ports(ports: list[Port], operations: Any, kind: str) -> Iterator[InspectedPort]:
    for port, op in zip(ports, (each for each in operations if each.name == kind), strict=True):
        layout = recorded_layout(op)
        yield InspectedPort(port.name, port.element, port.dimensions, None if layout is None else str(layout))


def constants_of(op: Operation) -> Iterator[DataAttr]:
    """The tensors among the properties of an operation, such as the value of a constant."""
    return (each for each in op.properties.values() if isinstance(each, DataAttr))


def _weights(module: ModuleOp) -> Iterator[Weight]:
    for block in all_blocks(module):
        for op in block.ops:
            for data in constants_of(op):
                name = name_of(op) or next((each for result in op.results for each in names_of(result)), "")
                row = describe(data.element)
                # The size of strings whose text was left out is not known.
                size = 0 if data.data.values is None and not row.bits else data.nbytes
                yield Weight(name, row.xml, data.shape, size)


def _by_type(weights: list[Weight]) -> tuple[WeightType, ...]:
    groups: dict[str, list[Weight]] = {}
    for each in weights:
        groups.setdefault(each.element, []).append(each)
    rows = (WeightType(element, len(group), sum(map(_size, group)), sum(each.bytes for each in group)) for element, group in groups.items())
    return tuple(sorted(rows, key=lambda row: -row.bytes))


def _size(weight: Weight) -> int:
    size = 1
    for dimension in weight.shape:
        size *= dimension
    return size


def _subgraphs(module: ModuleOp) -> Iterator[Subgraph]:
    for block in all_blocks(module):
        for op in block.ops:
            for role, region in zip(roles(op), op.regions, strict=True):
                inner = [each for body in region.blocks for each in body.ops]
                count = sum(1 for each in inner for _ in each.walk())
                inputs, outputs = (sum(1 for each in inner if each.name == kind) for kind in (PARAMETER, RESULT))
                yield Subgraph(name_of(op) or "", op.name, role, count - inputs - outputs, inputs, outputs)


def roles(op: Operation) -> list[str]:
    """The names of the bodies of an operation: the framework's attributes that contain them, or `body`."""
    names = op.properties.get("graph_attributes")
    names_of_bodies = [] if names is None else [str(each) for each in value_of(names)]
    if len(names_of_bodies) == len(op.regions):
        return names_of_bodies
    if op.name.endswith(".If") and len(op.regions) == 2:
        return ["then_body", "else_body"]
    return ["body"] * len(op.regions)


def _python(attribute: Attribute) -> Any:
    """An attribute of the IR as a value of JSON."""
    if isinstance(attribute, DictionaryAttr):
        return {name: _python(each) for name, each in cast("Mapping[str, Attribute]", attribute.data).items()}
    if isinstance(attribute, ArrayAttr):
        return [_python(each) for each in cast("ArrayAttr[Attribute]", attribute).data]
    value: object = value_of(attribute)
    return str(value) if isinstance(value, Attribute) else plain(value)
