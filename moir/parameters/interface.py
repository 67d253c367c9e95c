"""The parameters for the inputs and outputs of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from moir.errors import UsageError
from moir.parameters.kinds import SWITCH, TEXT, integer, structured
from moir.parameters.layout import layout_fields
from moir.parameters.parameter import FieldValue, Options, Parameter, PassRequest

if TYPE_CHECKING:
    from moir.parameters.input_notation import Dimension, InputItem, Place


def _inputs(value: Any) -> tuple[InputItem, ...]:
    from moir.parameters.input_values import inputs_of

    return () if value is None else inputs_of(value)


def _outputs(value: Any) -> tuple[Place, ...]:
    from moir.parameters.input_values import outputs_of

    return () if value is None else outputs_of(value)


def _shapes(value: Any) -> tuple[tuple[Dimension, ...], ...]:
    from moir.parameters.input_values import shapes_of

    return () if value is None else shapes_of(value)


def _shape_texts(value: tuple[tuple[Dimension, ...], ...]) -> list[str]:
    from moir.parameters.input_notation import shape_text

    return list(map(shape_text, value))


def _texts(value: tuple[object, ...]) -> list[str]:
    return list(map(str, value))


_INPUTS = structured(
    "inputs: a text as of --input, a shape, a moir.Input, a mapping of names to shapes, or a list of such", _inputs, _texts
)
_OUTPUTS = structured("outputs: a text as of --output, or a list of names (str)", _outputs, _texts)
_SHAPES = structured("shapes: a text as of --input-shape, a shape, or a list of shapes", _shapes, _shape_texts)


def _items(options: Options) -> tuple[InputItem, ...]:
    """The input items of `input`, completed by `input_shape` and the frozen values; empty if none of these is given."""
    items, given = options[INPUT], options[INPUT_SHAPE]
    if not (items or given or options[FREEZE]):
        return ()
    from dataclasses import replace

    if given:
        from moir.parameters.input_notation import merged

        items = merged(items, given)
    frozen = {str(item.place): item for item in options[FREEZE]}
    values = [frozen.pop(str(item.place), None) for item in items]
    filled = (
        item if each is None else replace(item, value=each.value, is_scalar=each.is_scalar)
        for item, each in zip(items, values, strict=True)
    )
    return (*filled, *frozen.values())


def _cut(options: Options) -> Mapping[str, FieldValue] | None:
    items = _items(options)
    return {"inputs": tuple(map(str, items))} if any(item.place.text for item in items) else None


def _described(part: str) -> PassRequest:
    """The request for the pass that sets `part` (`element`, `shape` or `value`) of the inputs.

    The pass runs only if an item has this part. After cut-inputs, the inputs are in the order of the items.
    """
    name = {"element": "set-input-types", "shape": "set-input-shapes", "value": "freeze-inputs"}[part]

    def fields(options: Options) -> Mapping[str, FieldValue] | None:
        items = _items(options)
        if not any(getattr(item, part) not in (None, "") for item in items):
            return None
        from moir.parameters.input_notation import InputItem

        kept = {"value": ("value", "is_scalar", "element")}.get(part, (part,))
        return {"inputs": tuple(str(InputItem(**{each: getattr(item, each) for each in kept})) for item in items)}

    return PassRequest(name, options=fields)


def _batch(options: Options) -> Mapping[str, FieldValue] | None:
    shaped = next((item for item in options[INPUT] if item.shape is not None), None)
    if options[BATCH] and shaped is not None:
        raise UsageError(f"batch and the shape of {str(shaped)!r} exclude each other", hint="write the batch into the shape")
    return {"size": options[BATCH], **layout_fields(options)} if options[BATCH] else None


def _static_shape(options: Options) -> Mapping[str, FieldValue] | None:
    return {"static_shape": True} if options[STATIC_SHAPE] else {}


_OF_INPUTS = (PassRequest("cut-inputs", options=_cut), *map(_described, ("element", "shape", "value")))

INPUT: Parameter[tuple[InputItem, ...]] = Parameter(
    "input",
    _INPUTS,
    (),
    "inputs in their order, or where to cut the model: port:name:port[shape]{type}->value, separated by commas",
    in_python="the inputs of the converted model in their order, or where to cut the model: a text in the notation of the "
    'command line (`"x[1,3,?,?]{f32},0:conv1,training->False"`), an `Input`, a mapping of names to shapes (in '
    "elements, -1 where dynamic), element types, tuples of both or values, or a list of such items; shapes "
    "without names belong to the inputs of the model in their order",
    metavar="INPUTS",
    passes=_OF_INPUTS,
)
OUTPUT: Parameter[tuple[Place, ...]] = Parameter(
    "output",
    _OUTPUTS,
    (),
    "outputs in their order, or where to cut the model: name, node:port or port:node, separated by commas",
    in_python="the outputs in their order, or where to cut the model: names of outputs, tensors or nodes, `node:1` (an "
    "output port) or `0:node` (the tensor that enters an input port)",
    metavar="OUTPUTS",
    passes=(PassRequest("cut-outputs", "outputs"),),
)
INPUT_SHAPE: Parameter[tuple[tuple[Dimension, ...], ...]] = Parameter(
    "input_shape",
    _SHAPES,
    (),
    "shapes of the inputs in their order: [1,3,224,224],[1,10]; dimensions can be ?, -1, 1..10 or a name",
    in_python="the shapes of the inputs in their order, in elements: one shape, or a list of shapes",
    metavar="SHAPES",
    synonym_of=("input",),
    passes=_OF_INPUTS,
    excludes=("batch",),
)
BATCH: Parameter[int] = Parameter(
    "batch",
    integer(1),
    0,
    "the first dimension of each input, or n of its layout",
    metavar="N",
    former=("-b",),
    passes=(PassRequest("set-batch", options=_batch),),
)
STATIC_SHAPE = Parameter(
    "static_shape",
    SWITCH,
    False,
    "compute shapes during the conversion; the model cannot be reshaped any more",
    passes=(PassRequest("fold-constants", options=_static_shape),),
)
FREEZE: Parameter[tuple[InputItem, ...]] = Parameter(
    "freeze_placeholder_with_value",
    _INPUTS,
    (),
    "inputs that become constants: name->value, separated by commas; the same as in --input",
    in_python='inputs that become constants: `{"training": False}`; the same as in `input`',
    metavar="VALUES",
    synonym_of=("input",),
    passes=_OF_INPUTS,
)

MODEL_NAME = Parameter(
    "model_name",
    TEXT,
    "",
    "name of the model, and of its files",
    metavar="NAME",
    former=("-n",),
    passes=(PassRequest("set-model-name", "to"),),
)

INTERFACE_PARAMETERS: tuple[Parameter[Any], ...] = (INPUT, OUTPUT, INPUT_SHAPE, BATCH, STATIC_SHAPE, FREEZE, MODEL_NAME)
