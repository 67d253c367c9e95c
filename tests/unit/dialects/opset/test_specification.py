"""Every opset operation against the reference of the operation sets and the runtime.

Attributes (names, form, allowed values, defaults), number of operands, and the reference's sample: its types, static, with unknown
dimensions and of unknown rank, and the layer the emitter writes of it. The reference is `reference.json`, which
`python -m scripts.opset_reference` asks OpenVINO Runtime for.
"""

from __future__ import annotations

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
from moir.dialects.opset.infrastructure import Result
from moir.dialects.opset.interfaces.properties import PropertySpec, property_table
from moir.dialects.properties import string_attribute, value_of
from moir.dialects.xml import properties_of, text_of
from moir.emit import to_openvino
from moir.errors import InferenceError
from tests.unit.dialects.opset.runtime_reference import attributes_of, infer_with_moir, infer_with_runtime, moir_operation, types_of

REFERENCE: dict[str, dict[str, Any]] = json.loads(Path(__file__).with_name("reference.json").read_text(encoding="utf-8"))["operations"]

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
    "element type": "element",
    "ints": "ints",
    "floats": "floats",
    "strings": "strs",
}
"""Type of an attribute in the reference: form of the property."""


def attributes(name: str) -> dict[str, dict[str, Any]]:
    """The attributes of an operation in the reference."""
    return REFERENCE[name]["attributes"]


def specs(name: str) -> dict[str, PropertySpec]:
    return dict(property_table(operation(name)).specs)


def plain(value: Any) -> Any:
    """A default as a plain value: element types by name, words in lower case, lists as tuples."""
    if isinstance(value, Attribute) and is_element_type(value):
        return describe(value).xml
    if isinstance(value, list | tuple):
        return tuple(plain(item) for item in value)
    return value.lower() if isinstance(value, str) else value


def test_every_operation_of_every_version_has_a_class() -> None:
    assert set(ALL) == REFERENCE.keys() | REGIONS | OWN_ATTRIBUTES
    assert (len(ALL), len({name.partition(".")[2] for name in ALL})) == (245, 209)


@pytest.mark.parametrize("name", [name for name in ALL if name not in OWN_ATTRIBUTES | REGIONS])
def test_properties_have_the_names_and_form_of_the_attributes(name: str) -> None:
    expected = {attribute: FORMS[row["type"]] for attribute, row in attributes(name).items()}
    actual = {key: spec.kind.kind for key, spec in specs(name).items()}
    assert actual == expected


WORDS_OF_THE_SPECIFICATION = {
    "activations": ("hardsigmoid", "relu", "sigmoid", "tanh"),
    "framework": ("", "tensorflow"),
}
"""Words of attributes that the runtime does not look at when it reads a model."""


@pytest.mark.parametrize("name", [name for name in ALL if name not in OWN_ATTRIBUTES | REGIONS])
def test_properties_allow_the_values_of_the_attributes(name: str) -> None:
    for attribute, row in attributes(name).items():
        allowed = row.get("values", WORDS_OF_THE_SPECIFICATION.get(attribute))
        if allowed is not None:
            allowed = [*allowed, *FURTHER_WORDS.get((name, attribute), ())]
            assert {value.lower() for value in specs(name)[attribute].kind.allowed} == {value.lower() for value in allowed}, attribute


FURTHER_WORDS = {("opset1.Broadcast", "mode"): ("explicit",)}
"""Words that the runtime reads as another one."""

_OPTIONAL = "the Python interface asks for it, the specification has a default"
_REQUIRED = "the Python interface has a default, the specification asks for it"
_FILLED = "the runtime begins with an empty list, which stands for the default of the specification"
_INITIAL = "the runtime begins with a value, the specification asks for it"

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
    **{
        (f"opset1.{kind}ConvolutionBackpropData", attribute): (None, "the Python interface fills it in")
        for kind in ("", "Group")
        for attribute in ("dilations", "pads_begin", "pads_end")
    },
    **{(f"opset1.{kind}ConvolutionBackpropData", "output_padding"): ((), "the Python interface fills it in") for kind in ("", "Group")},
    ("opset1.PriorBoxClustered", "width"): ((1.0,), _FILLED),
    ("opset1.PriorBoxClustered", "height"): ((1.0,), _FILLED),
    ("opset4.Interpolate", "pads_begin"): ((0,), _FILLED),
    ("opset4.Interpolate", "pads_end"): ((0,), _FILLED),
    ("opset11.Interpolate", "pads_begin"): ((0,), _FILLED),
    ("opset11.Interpolate", "pads_end"): ((0,), _FILLED),
    ("opset4.Range", "output_type"): (None, _INITIAL),
    ("opset1.Reverse", "mode"): (None, _INITIAL),
    ("opset1.NormalizeL2", "eps_mode"): (None, _INITIAL),
    **{("opset2.ROIPooling", f"output_{name}"): ((0, 0), _OPTIONAL) for name in ("roi", "size")},
    **{("opset2.ROIPooling", f"pooled_{name}"): (None, "an older name of output_roi, which need not be there") for name in ("h", "w")},
    ("opset16.SegmentMax", "fill_mode"): ("zero", _OPTIONAL),
}
"""Where the default of the specification is not that of the runtime, and why."""


@pytest.mark.parametrize("exception", DEFAULTS_OF_THE_SPECIFICATION, ids="-".join)
def test_an_exception_differs_from_the_reference(exception: tuple[str, str]) -> None:
    name, attribute = exception
    assert plain(attributes(name)[attribute].get("default")) != DEFAULTS_OF_THE_SPECIFICATION[exception][0]


@pytest.mark.parametrize("name", [name for name in ALL if name not in OWN_ATTRIBUTES | REGIONS])
def test_properties_have_the_documented_defaults(name: str) -> None:
    for attribute, row in attributes(name).items():
        default = specs(name)[attribute].default
        actual = None if default is None else plain(value_of(default))
        expected = plain(row.get("default"))
        if (name, attribute) in DEFAULTS_OF_THE_SPECIFICATION:
            expected, _ = DEFAULTS_OF_THE_SPECIFICATION[name, attribute]
        assert actual == expected, attribute


UNLIMITED = 10**6

_BODIES = "operations with bodies are not in the reference"

OPERANDS_OF_THE_SPECIFICATION = {
    "opset1.PRelu": ((2, 2), "the runtime does not look for the slope"),
    "opset3.EmbeddingSegmentsSum": (
        (4, 6),
        "the Python interface calls the number of segments optional, the runtime refuses to do without",
    ),
    "opset1.LSTMCell": ((5, 7), "the Python interface does not take the weights of peepholes"),
    "opset6.ExperimentalDetectronROIFeatureExtractor": ((2, UNLIMITED), "the Python interface takes a list of feature maps"),
    "opset6.ReadValue": ((0, 1), "the Python interface always gives an initial value"),
    "opset13.ScaledDotProductAttention": ((3, 6), "the Python interface does not take sinks"),
    "opset8.If": ((1, UNLIMITED), _BODIES),
    "opset5.Loop": ((2, UNLIMITED), _BODIES),
    "opset1.TensorIterator": ((0, UNLIMITED), _BODIES),
}
"""Where the number of operands is not that of the reference, and why."""


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
    least, greatest = REFERENCE.get(name, {}).get("operands", (0, 0))
    expected = (least, greatest) if greatest is not None else (0, UNLIMITED)
    if name in OPERANDS_OF_THE_SPECIFICATION:
        expected, _ = OPERANDS_OF_THE_SPECIFICATION[name]
    assert operand_counts(name) == expected


WITHOUT_SAMPLE = REGIONS | {"opset1.Parameter", "opset1.Constant", "opset1.Result", "opset3.Assign", "opset6.Assign"}
"""Operations that are part of any model here, or make no model on their own."""

SAMPLED = [name for name in ALL if name not in WITHOUT_SAMPLE]
VARIANTS = ("static", "unknown dimensions", "unknown rank", "unknown values")


def spelled(value: Any, spec: PropertySpec) -> Any:
    """An attribute of a sample as a value of the property: lists as tuples, words as moir writes them, for the runtime reads any case."""
    if isinstance(value, list):
        return tuple(value)
    return next((word for word in spec.kind.allowed if isinstance(value, str) and word.lower() == value.lower()), value)


def operand(text: str, variant: str) -> Any:
    """An operand of a sample in a variant, as `runtime_reference` takes it."""
    element, is_constant, values = text.partition("=")
    if is_constant:
        array = np.array(json.loads(values), dtype=to_numpy(from_xml(element)))
        if variant != "unknown values":
            return array
        return element, array.shape
    element, _, dimensions = text.rstrip("]").partition("[")
    shape = tuple(int(dimension) for dimension in dimensions.split(",") if dimension)
    if variant == "unknown rank":
        return element, None
    return element, (-1,) * len(shape) if variant == "unknown dimensions" else shape


def sample(name: str, variant: str) -> tuple[str, list[Any], dict[str, Any], int]:
    """Operation, operands, properties and number of results of the sample of the reference."""
    content = REFERENCE[name]["sample"]
    table = specs(name)
    return (
        name,
        [operand(text, variant) for text in content["operands"]],
        {key: spelled(value, table[key]) for key, value in content["attributes"].items()},
        len(content["results"]),
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


_FILLED_IN = "the runtime computes the value when it validates the operation"
UNLIKE_THE_RUNTIME = {
    ("opset1.Interpolate", "mode"): "the runtime takes the empty word, which is no mode",
    ("opset2.MVN", "reduction_axes"): _FILLED_IN,
    **{("opset2.ROIPooling", size): _FILLED_IN for size in ("output_size", "output_roi", "pooled_h", "pooled_w")},
    **{
        ("opset5." + kind, "activations"): "the runtime reports no words for its default"
        for kind in ("GRUSequence", "LSTMSequence", "RNNSequence")
    },
}
"""Attributes whose value where nothing is written the runtime reports otherwise, and why."""


def without_padding(value: Any) -> Any:
    """A value for comparison: a list that only fills in zeros or ones for each axis is an empty one."""
    value = plain(value)
    return () if isinstance(value, tuple) and set(value) <= {0, 1} else value


@pytest.mark.parametrize("name", SAMPLED)
def test_what_is_not_written_is_read_as_the_runtime_reads_it(name: str) -> None:
    written = {key: text_of(attribute) for key, attribute in attributes_of(name, sample(name, "static")[2]).items()}
    for attribute, row in attributes(name).items():
        if "unwritten" not in row or (name, attribute) in UNLIKE_THE_RUNTIME:
            continue
        texts = {key: text for key, text in written.items() if key != attribute}
        actual = properties_of(operation(name), texts).properties[attribute]
        assert without_padding(value_of(actual)) == without_padding(row["unwritten"]), attribute


@pytest.mark.parametrize("name", SAMPLED)
def test_attributes_are_read_as_they_are_written(name: str) -> None:
    expected = attributes_of(name, sample(name, "static")[2])
    actual = properties_of(operation(name), {key: text_of(attribute) for key, attribute in expected.items()})
    assert actual.properties == expected
    assert not actual.unknown
