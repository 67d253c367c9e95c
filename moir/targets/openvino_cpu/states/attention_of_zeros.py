"""An attention of zeros, added to language models without attention, which OpenVINO GenAI's paged backend does not
accept.

    opset1.Result(%logits)
->  %v = opset1.Concat(opset8.Gather(opset6.ReadValue(…), %beam_idx, 0), %zeros)
    %y = opset13.ScaledDotProductAttention(%zeros, %v, %v, %mask)
    opset1.Result(opset1.Add(%logits, opset1.ReduceSum(%y)))

The backend (`SDPAToPagedAttention`) raises an error for a model without attention, and its scheduler counts tokens by
the blocks of a cache of keys. The attention has one head of zeros, so its results are exactly 0.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.known_values import KnownValues
from moir.dialects.element_types import f32
from moir.dialects.moir import ModelOp, ModuleLevel, add_notes, models_of
from moir.dialects.opset.attention import ScaledDotProductAttention
from moir.dialects.opset.infrastructure import ReadValue, Result
from moir.dialects.properties import value_of
from moir.dialects.shapes import element_of
from moir.expansions.causal_masks import causal_mask
from moir.rewriting.builder import OpBuilder
from moir.rewriting.state_pairs import inputs_by_name
from moir.rewriting.variables import assign_variable
from moir.targets.openvino_cpu.states.outputs import add_to_output
from moir.targets.record import Fault, Form
from moir.targets.stages import STATES

INPUTS = ("input_ids", "attention_mask", "beam_idx")
"""The inputs by which a language model is recognized."""

RECURRENT = "cache_params.past."
"""The prefix of the names of recurrent states; states with other names are caches of keys and values."""

BACKEND = 'ATTENTION_BACKEND="SDPA"'

NOTE = (
    "OpenVINO GenAI's paged backend computes no attention whose scores have a cap, or that is no single operation: LLMPipeline runs "
    f"the model with {BACKEND}, which it chooses by itself; ContinuousBatchingPipeline does not run it"
)

SIZE = 16
"""The head size: the smallest one that the CPU's paged attention computes with blocks."""


def _attend_to_zeros(module: ModuleOp, _: Analyses) -> bool:
    """Add an attention of zeros to models that have recurrent states only; return whether there are any."""
    changed = False
    for model in models_of(module):
        states = unattended_states(model)
        result = next((op for op in model.block.ops if isinstance(op, Result) and element_of(op.operands[0]) == f32), None)
        if states and all(each.startswith(RECURRENT) for each in states) and result is not None:
            inputs = inputs_by_name(model.block)
            _add_attention(result, *(inputs[each].results[0] for each in INPUTS))
            changed = True
    return changed


def _note_unfused_caches(module: ModuleOp, _: Analyses) -> bool:
    """Add a note to models with caches of keys that no attention operation reads; return whether there are any."""
    noted = [model for model in models_of(module) if _has_unfused_caches(model)]
    for model in noted:
        known = model.attributes.get(ModuleLevel.NOTES)
        # Programs whose caches became states have a note of that pass already.
        if known is None or BACKEND not in str(known):
            add_notes(model, [NOTE])
    return bool(noted)


def _has_unfused_caches(model: ModelOp) -> bool:
    """Whether a language model has fewer attention operations than pairs of caches of keys and values."""
    if not inputs_by_name(model.block).keys() >= {*INPUTS}:
        return False
    attentions = sum(isinstance(op, ScaledDotProductAttention) for op in model.block.ops)
    return 2 * attentions < sum(not each.startswith(RECURRENT) for each in _states(model))


def _states(model: ModelOp) -> list[str]:
    """The names of the states of a model."""
    return [str(value_of(op.properties["variable_id"])) for op in model.block.ops if isinstance(op, ReadValue)]


def unattended_states(model: ModelOp) -> list[str]:
    """The names of the states of a language model without an attention operation; empty for any other model."""
    if not inputs_by_name(model.block).keys() >= {*INPUTS} or any(isinstance(op, ScaledDotProductAttention) for op in model.block.ops):
        return []
    return _states(model)


def _add_attention(result: Result, tokens: SSAValue, attention_mask: SSAValue, beams: SSAValue) -> None:
    """Add an attention of zeros, with its caches, and its sum to an output [batch, tokens, features].

    Args:
        result: the output.
        tokens: the ids of the tokens [batch, tokens].
        attention_mask: the attention mask of the model.
        beams: the input `beam_idx`.
    """
    assert isinstance(result.parent, Block)
    op = OpBuilder(KnownValues(), result.parent, result)
    sizes, zero = op.ShapeOf(tokens), op.constant(0.0, f32)
    batch, count = (op.Gather(sizes, [axis], 0) for axis in (0, 1))
    zeros = op.Broadcast(zero, op.Concat(batch, op.constant([1]), count, op.constant([SIZE]), axis=0))
    texts = op.Concat(op.Gather(op.ShapeOf(beams), [0], 0), op.constant([1, 0, SIZE]), axis=0)
    caches: list[SSAValue] = []
    for part in ("key", "value"):
        variable = f"past_key_values.0.{part}present.0.{part}"
        before = op.ReadValue(op.Broadcast(zero, texts), variable_id=variable, variable_type=f32, variable_shape=f"?,1,?,{SIZE}")
        caches.append(op.Concat(op.Gather(before, beams, op.constant(0)), zeros, axis=-2))
        assign_variable(op, variable, caches[-1])
    mask = causal_mask(op, attention_mask, tokens)
    attended = op.ScaledDotProductAttention(zeros, *caches, mask, op.constant(1.0, f32), causal=False)
    add_to_output(op, result, op.ReduceSum(op.Squeeze(attended, [1]), [2], keep_dims=True))


FORMS = (
    Form(
        "attend-to-zeros",
        summary="Adds an attention of zeros to models that generate texts without an attention.",
        run=_attend_to_zeros,
        roots=(ReadValue,),
        stage=STATES,
        faults=(Fault("no-attention", "a model with states and no attention, in OpenVINO GenAI's paged backend", "is refused"),),
    ),
    Form(
        "note-unfused-caches",
        summary="Notes that OpenVINO GenAI's paged backend does not run a model; changes no operation.",
        run=_note_unfused_caches,
        roots=(ReadValue,),
        in_place=True,
        stage=STATES,
        after=("attend-to-zeros",),
        faults=(
            Fault(
                "unfused-attention",
                "attention that ScaledDotProductAttention does not have, as with a cap of the scores, in OpenVINO GenAI's paged backend",
                "is refused",
            ),
        ),
    ),
)
