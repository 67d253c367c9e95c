"""Single nodes, drawn from the schemas of ONNX: every operation, every version, every element type."""

from __future__ import annotations

from fnmatch import fnmatch
from importlib import import_module
from typing import Any

import numpy as np
from onnx import defs, helper

from tests.fuzz.attributes import KEPT, free_attributes
from tests.fuzz.case import Case
from tests.fuzz.draw import Array, Draw, NoCase
from tests.fuzz.onnx_model import assemble
from tests.fuzz.signature import OUTPUTS, Required, Signature, Values, histories, recipe_of, versions_of

FAMILIES = (
    "elementwise",
    "reduction",
    "movement",
    "indexing",
    "matrix",
    "convolution",
    "image",
    "normalization",
    "quantization",
    "recurrent",
    "attention",
    "signal",
    "detection",
    "text",
    "machine_learning",
)
"""Files of recipes."""

UNREPEATABLE = frozenset({"Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"})
"""Their results are the luck of a generator."""

ELSEWHERE = frozenset(
    {
        *("If", "Loop", "Scan", "SequenceMap", "SplitToSequence", "ConcatFromSequence", "ImageDecoder"),
        *("SequenceAt", "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength"),
        *("Optional", "OptionalGetElement", "OptionalHasElement"),
    }
)
"""Operations with bodies, sequences or optional values; the control-flow generator draws them. Images cannot be decoded."""

UNDRAWN = frozenset({"CastMap", "DictVectorizer", "ZipMap", "CategoryMapper", "SVMClassifier", "SVMRegressor", "TreeEnsemble"})
"""Operations on maps, and those that no recipe draws yet."""

NUMBERS = {defs.OpSchema.AttrType.FLOAT: float, defs.OpSchema.AttrType.INT: int}

NEWEST = 0.5
"""Probability of the newest version."""


def _load() -> None:
    for family in FAMILIES:
        import_module(f"tests.fuzz.recipes.{family}")


def names(only: str, domain: str = "") -> list[str]:
    """The operations that are drawn, restricted to a glob."""
    return [name for name in histories(domain) if name not in UNREPEATABLE | ELSEWHERE | UNDRAWN and fnmatch(name, only)]


def single_node(draw: Draw, only: str, domain: str = "") -> Case:
    """A model of one node."""
    _load()
    history = histories(domain)[draw.subject(names(only, domain))]
    index = len(history) - 1 if draw.chance(NEWEST) else draw.integer(0, len(history) - 1)
    schema = history[index]
    last = history[index + 1].since_version - 1 if index + 1 < len(history) else versions_of(domain)
    signature = Signature(draw, schema, schema.since_version if draw.chance(0.6) else draw.integer(schema.since_version, last))
    with np.errstate(all="ignore"):
        function = recipe_of(schema.name)
        values = function(draw, signature) if function else anything(draw, signature)
    return node_case(draw, signature, values)


def anything(draw: Draw, signature: Signature) -> Values:
    """Operands of one shape, for an operation without a recipe: right for elementwise operations."""
    shape = draw.shape()
    results: Values = {}
    for name, parameter in signature.inputs.items():
        array = draw.array(signature.dtype(name), shape)
        results[name] = [array] if parameter.option == defs.OpSchema.FormalParameterOption.Variadic else array
    return results


def node_case(draw: Draw, signature: Signature, values: Values) -> Case:
    """The case of a node whose operands and attributes were drawn."""
    schema = signature.schema
    operands: dict[str, Array] = {}
    references: list[str] = []
    for name, parameter in signature.inputs.items():
        value = values.get(name)
        if parameter.option == defs.OpSchema.FormalParameterOption.Variadic:
            members = [] if value is None else [signature.array(name, each) for each in value]
            references += [f"{name}{number}" for number in range(len(members))]
            operands |= {f"{name}{number}": member for number, member in enumerate(members)}
            continue
        optional = parameter.option == defs.OpSchema.FormalParameterOption.Optional
        if value is None or (optional and not isinstance(value, Required) and not draw.chance(KEPT)):
            if not optional:
                raise NoCase(f"no {name} was drawn")
            references.append("")
            continue
        operands[name] = signature.array(name, value.value if isinstance(value, Required) else value)
        references.append(name)
    while references and not references[-1]:
        references.pop()
    first = operands[references[0]] if references and references[0] else np.zeros(())
    given = {name: value.value if isinstance(value, Required) else value for name, value in values.items()}
    attributes = free_attributes(draw, schema, given, first.ndim)
    outputs = _outputs(draw, schema, values.get(OUTPUTS))
    node = helper.make_node(schema.name, references, outputs, schema.name.lower(), domain=schema.domain)
    for name, value in attributes.items():
        kind: Any = schema.attributes[name].type
        # Some attributes were integers in one version and floats in another.
        typed = NUMBERS[kind](value) if kind in NUMBERS else value
        node.attribute.append(helper.make_attribute(name, typed, attr_type=int(kind.value)))
    opsets = {"": signature.opset} if not schema.domain else {"": 21, schema.domain: signature.opset}
    source, inputs = assemble(draw, [node], operands, [name for name in outputs if name], opsets)
    return Case(f"{schema.domain}.{schema.name}" if schema.domain else schema.name, source, inputs, [name for name in outputs if name])


def _outputs(draw: Draw, schema: defs.OpSchema, count: int | None) -> list[str]:
    """Names of the outputs; those that are optional may be left out, "" in the middle."""
    results: list[str] = []
    for position, parameter in enumerate(schema.outputs):
        if parameter.option == defs.OpSchema.FormalParameterOption.Variadic:
            results += [f"{parameter.name}{number}" for number in range(count or 1)]
        elif parameter.option == defs.OpSchema.FormalParameterOption.Optional and (count is not None or draw.chance(0.5)):
            results.append("")
        else:
            results.append(
                parameter.name if parameter.name not in [each.name for each in schema.inputs] else f"{parameter.name}_{position}"
            )
    while len(results) > 1 and not results[-1]:
        results.pop()
    if not any(results):
        results[0] = schema.outputs[0].name
    return results


def machine_learning_node(draw: Draw, only: str) -> Case:
    """A model of one node of ai.onnx.ml."""
    return single_node(draw, only, "ai.onnx.ml")
