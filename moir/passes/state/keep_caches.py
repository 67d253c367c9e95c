"""`keep-caches`: the cache of a program that generates texts becomes variables, in the form that OpenVINO GenAI takes.

    keep-caches{}

    %p = opset1.Parameter() {name = "past_key_values.0.key"} : tensor<?x2x?x16xf32>
    %n = opset1.Concat(%p, %k) {axis = 2}
    opset1.Result(%n) {name = "present.0.key"}
->  %b = opset1.Parameter() {name = "beam_idx"} : tensor<?xi32>
    %z = opset3.Broadcast(0.0, [size of %b, 2, 0, 16])
    %p = opset6.ReadValue(%z) {variable_id = "past_key_values.0.keypresent.0.key", …}
    %g = opset8.Gather(%p, %b, 0)
    %n = opset1.Concat(%g, %k) {axis = 2}
    opset6.Assign(%n) {variable_id = "past_key_values.0.keypresent.0.key"}

The names of the pairs are those of `CACHE_NAMES`, and `pairs` may name others. What is left are the inputs of GenAI
(`input_ids`, `attention_mask`, `position_ids`, of i64) and the output `logits`, of f32.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.known_values import KnownValues
from moir.analysis.order import sort_block
from moir.dialects import opset
from moir.dialects.element_types import describe, f32, si32, si64
from moir.dialects.inference import set_type
from moir.dialects.moir import add_notes, models_of
from moir.dialects.names import name_of, names_of, several_tensor_names, tensor_names
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.opset.movement import Concat
from moir.dialects.properties import string_attribute
from moir.dialects.shapes import element_of, format_shape, shape_of, tensor
from moir.errors import ConversionError, UsageError
from moir.rewriting.builder import OpBuilder
from moir.rewriting.dead_code import erase
from moir.rewriting.reporting_pass import ReportingPass
from moir.rewriting.state_pairs import inputs_by_name, outputs_by_name, split_pair
from moir.rewriting.variables import VariableNames, assign_variable, check_variable_type, read_variable

CACHE_NAMES: Mapping[str, str] = {
    "past_key_values.N.key": "present.N.key",
    "past_key_values.N.value": "present.N.value",
    "past_key_values.layers.N.keys": "cache.layers.N.keys",
    "past_key_values.layers.N.values": "cache.layers.N.values",
    "past_key_values_N": "cache_N",
    "cache_N": "cache_N",
}
"""Names of cache inputs, each with that of its output; N stands for a number.

They are those of ONNX files of Optimum and of onnxruntime-genai, of ONNX files of Transformers, and of its exported
programs, with the older and the newer name of the argument.
"""

BEAMS, LOGITS = "beam_idx", "logits"
IDS, MASK = "input_ids", "attention_mask"
INPUTS = (IDS, MASK, "position_ids", "token_type_ids")
"""The inputs that OpenVINO GenAI provides."""

_SDPA = 'create the pipeline with ATTENTION_BACKEND="SDPA"'
_NOT_ATTENDED = f"attention is not one operation, so OpenVINO GenAI's paged backend does not take the model: {_SDPA}"
_NOT_APPENDED = (
    f"new keys and values are not appended to the cache, but written into it at places for texts without padding: {_SDPA}, and give "
    "it one text at a time"
)
_HINT = "name further pairs with --stateful INPUT=OUTPUT"


@dataclass(frozen=True)
class KeepCachesPass(ReportingPass):
    """Replaces the pairs of a cache by variables whose rows `beam_idx` reorders.

    Args:
        pairs: names of an input and of an output with `=` between them, beside those of `CACHE_NAMES`.
    """

    name = "keep-caches"

    pairs: tuple[str, ...] = ()

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        for model in models_of(module):
            add_notes(model, _keep_caches(model.block, self.pairs))
        return True


def _keep_caches(block: Block, written: Sequence[str]) -> list[str]:
    """Replace the pairs of a model, those in `written` among them, by variables.

    Returns notes on those that no operation for attention reads.
    """
    inputs, outputs = inputs_by_name(block), outputs_by_name(block)
    pairs = [*cache_pairs(inputs, outputs), *[split_pair(each, inputs, outputs) for each in written]]
    if not pairs and BEAMS in inputs:
        raise ConversionError("the model keeps its cache in variables already", hint="leave out --generation")
    if not pairs:
        known = ", ".join(f"{source} and {target}" for source, target in CACHE_NAMES.items())
        raise ConversionError(f"the model has no inputs and outputs of a cache, as {known}", hint=_HINT)
    taken, used = [inputs[source] for source, _ in pairs], [outputs[target] for _, target in pairs]
    if len(set(map(id, taken))) < len(taken) or len(set(map(id, used))) < len(used):
        raise UsageError("an input or output of the cache is in two pairs", hint="leave out --stateful for it")
    _check_inputs(block, taken)
    _set_logits(block, used)
    names = VariableNames()
    beams = _beams(block)
    notes = [_keep(inputs[source], outputs[target], names.unique(source + target), beams) for source, target in pairs]
    sort_block(block)
    return [each for each in dict.fromkeys(notes) if each]


def cache_pairs(inputs: Mapping[str, object], outputs: Mapping[str, object]) -> list[tuple[str, str]]:
    """The names of inputs and outputs that are a cache, see `CACHE_NAMES`.

    Raises ConversionError for an input of a cache without an output.
    """
    pairs: list[tuple[str, str]] = []
    for source, target in CACHE_NAMES.items():
        pattern = re.compile(re.escape(source).replace("N", r"(\d{1,6})"))
        for name in inputs:
            if (match := pattern.fullmatch(name)) is None:
                continue
            other = target.replace("N", match[1])
            if other not in outputs:
                raise ConversionError(f"the input {name!r} of a cache has no output {other!r}", hint=_HINT)
            pairs.append((name, other))
    return pairs


def _check_inputs(block: Block, taken: Sequence[Parameter]) -> None:
    """Give the inputs that are not caches, all but `taken`, GenAI's names and element type, and drop their bounds.

    Raises ConversionError for an input that GenAI does not have.
    """
    others = [op for op in block.ops if isinstance(op, Parameter) and op not in taken]
    for op in others:
        value = op.results[0]
        name = next((each for each in (name_of(op), *names_of(value)) if each in INPUTS), None)
        if name is None:
            reason = f"OpenVINO GenAI gives no value to the input {name_of(op)!r}"
            raise ConversionError(reason, operation=op.name, node=name_of(op), hint=f"fix its value with --input, or {_HINT}")
        op.attributes["name"] = string_attribute(name)
        op.attributes["tensor_names"] = tensor_names(name)
        # Exporters of programs assume that a text has two tokens at least.
        op.properties.pop("bounds", None)
        if (element := element_of(value)) != si64:
            assert op.parent is not None
            uses = list(value.uses)
            set_type(value, tensor(shape_of(value), si64))
            converted = OpBuilder(KnownValues(), op.parent, op.next_op).convert(value, element)
            for use in uses:
                use.operation.operands[use.index] = converted
    present = {name_of(op) for op in others}
    for name in (IDS, MASK):
        if name not in present:
            raise ConversionError(f"the model has no input {name!r}", hint="export the program with it")


def _set_logits(block: Block, used: Sequence[Result]) -> None:
    """Rename the output with the logits, which is not one of `used`, to `logits`, give it the type f32, and erase the
    others.

    Raises ConversionError if there is none, or more than one.
    """
    left = [op for op in block.ops if isinstance(op, Result) and op not in used]
    named = [op for op in left if LOGITS in (name_of(op), *names_of(op.operands[0]))] or left
    if len(named) != 1:
        listed = ", ".join(name_of(op) or "?" for op in left) or "none"
        raise ConversionError(f"one output {LOGITS!r} is needed beside the cache, but there are: {listed}", hint=_HINT)
    for op in left:
        if op is not named[0]:
            erase(op)
    [result] = named
    value = result.operands[0]
    assert result.parent is not None
    if element_of(value) != f32:
        value = OpBuilder(KnownValues(), result.parent, result).convert(value, f32)
        result.operands[0] = value
    producer = value.owner
    if isinstance(producer, Operation):
        names = [[LOGITS] if each is value else names_of(each) for each in producer.results]
        producer.attributes["tensor_names"] = several_tensor_names(names)
    result.attributes["name"] = string_attribute(LOGITS)


def _beams(block: Block) -> SSAValue:
    """Add an input `beam_idx`, si32 [?], and return its value: for each row of the next tokens, the row of the cache it
    continues.
    """
    parameter = opset.operation("opset1.Parameter").create(result_types=[tensor((-1,), si32)])
    parameter.attributes["name"] = string_attribute(BEAMS)
    parameter.attributes["tensor_names"] = tensor_names(BEAMS)
    last = [op for op in block.ops if isinstance(op, Parameter)][-1]
    block.insert_op_after(parameter, last)
    return parameter.results[0]


def _keep(parameter: Parameter, result: Result, variable: str, beams: SSAValue) -> str:
    """Replace an input and an output by a variable; returns a note if GenAI may not accept the cache, or "".

    Args:
        parameter: the input.
        result: the output.
        variable: the id of the variable.
        beams: the input `beam_idx`, which reorders the rows.
    """
    value, assigned = parameter.results[0], result.operands[0]
    shape, later = shape_of(value), shape_of(assigned)
    if shape is not None and later is not None and len(shape) == len(later) == 4:
        # Heads and their size do not change from one inference to the next.
        shape = (shape[0], max(shape[1], later[1]), shape[2], max(shape[3], later[3]))
    if shape is None or len(shape) != 4 or shape[1] < 0 or shape[3] < 0 or shape[2] >= 0:
        reason = f"a cache is [batch, heads, length, size] of known heads and size and any length, but it is {format_shape(shape)}"
        raise ConversionError(reason, operation=parameter.name, node=name_of(parameter), hint="export the program with a dynamic length")
    set_type(value, tensor((-1, *shape[1:]), element_of(value)))
    check_variable_type(variable, value, assigned)
    assert parameter.parent is not None
    op = OpBuilder(KnownValues(), parameter.parent, parameter)
    batch = op.Gather(op.ShapeOf(beams), [0], 0)
    row = describe(element_of(value))
    empty = op.Broadcast(
        op.constant(np.zeros((), row.numpy), row.attribute), op.Concat(batch, op.constant([shape[1], 0, shape[3]]), axis=0)
    )
    uses = list(value.uses)
    read = read_variable(op, variable, value, empty)
    reordered = op.Gather(read, beams, op.constant(0))
    for use in uses:
        use.operation.operands[use.index] = reordered
    assign_variable(OpBuilder(op.known, parameter.parent, result), variable, assigned)
    erase(result)
    erase(parameter)
    producer = assigned.owner
    if not isinstance(producer, Concat) or producer.operands[0] is not reordered:
        return _NOT_APPENDED
    return "" if _is_attended(assigned) else _NOT_ATTENDED


def _is_attended(value: SSAValue) -> bool:
    """Whether a ScaledDotProductAttention reads a value, perhaps after up to three Unsqueezes, Broadcasts and
    Reshapes.
    """
    for _ in range(4):
        readers = [use.operation for use in value.uses if use.operation.name not in ("opset6.Assign", "opset1.Result")]
        if any(op.name == "opset13.ScaledDotProductAttention" for op in readers):
            return True
        moved = [op for op in readers if op.name.split(".")[-1] in ("Unsqueeze", "Broadcast", "Reshape")]
        if not moved:
            return False
        value = moved[0].results[0]
    return False
