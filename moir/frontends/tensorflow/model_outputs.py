"""The outputs of a graph without a signature: the nodes without uses, except those for side effects and training."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute

from moir.dialects.framework import FrameworkOp
from moir.dialects.inference import set_type
from moir.dialects.moir import RESULT, models_of
from moir.dialects.shapes import UNKNOWN
from moir.frontends.tensorflow.edges import Edges
from moir.frontends.tensorflow.frames import MAXIMUM_OUTPUTS, Frame
from moir.frontends.tensorflow.model_inputs import INPUT_KINDS, PLACEHOLDER_KINDS
from moir.frontends.tensorflow.outputs import output_count
from moir.frontends.tensorflow.references import Tensor, tensor_text
from moir.frontends.tensorflow.state.nodes import VARIABLE_KINDS
from moir.frontends.tensorflow.training.gradients import Gradients
from moir.frontends.tensorflow.training.predictions import Predictions

_CHECKS, _REPORTS = "checks and printing", "reports to TensorBoard"
EFFECTS: dict[str, str] = {
    "NoOp ControlTrigger _Send _Recv Abort DestroyResourceOp DisableCopyOnRead Timestamp TensorArrayClose* StackClose*": "",
    "Assert PrintV2": _CHECKS,
    "*Summary*": _REPORTS,
    "Save SaveV2 SaveSlices Restore RestoreV2 RestoreSlice MergeV2Checkpoints ShardedFilename DistributedSave": "saving and restoring",
    "Apply* SparseApply* ResourceApply* ResourceSparseApply* Accumulator* ResourceAccumulator* SparseAccumulator* "
    "SparseConditionalAccumulator": "training",
    "Assign* *StridedSliceAssign CountUpTo ResourceCountUpTo ResourceScatter* ScatterAdd ScatterSub ScatterMul ScatterDiv ScatterMin "
    "ScatterMax ScatterUpdate ScatterNdAdd ScatterNdSub ScatterNdMin ScatterNdMax ScatterNdUpdate": "writing variables",
    "InitializeTable* LookupTableImport* LookupTableInsert* LookupTableExport* LookupTableRemove*": "filling tables",
    "*Queue* *Iterator* *Dataset*": "feeding the model",
}
"""Kinds that exist for a side effect -> its description for notes; "" for kinds that no note mentions.

A `*` at the beginning or the end of a kind stands for any text.
"""

_SOURCES = (
    "Const Placeholder* *VarHandleOp *VarHandlesOp Variable VariableV2 ReadVariableOp VarIsInitializedOp IsVariableInitialized "
    "*HashTable* *TableV2 Mutex* StackV2 BroadcastGradientArgs"
)
"""Kinds of nodes that are not taken as outputs of a model, because they are only sources of values."""
_SAVING_KINDS = frozenset(("Save", "SaveV2", "SaveSlices", "MergeV2Checkpoints"))
_PASSING_KINDS = frozenset(("Identity", "Switch", "RefSwitch", "Merge", "RefMerge"))
_ENTERS, _EXITS = frozenset(("Enter", "RefEnter")), frozenset(("Exit", "RefExit"))
_LOWERED_EXIT = r"(.*/)?exit/_\d+"
_READ_VARIABLE = r"(.*/)?(ReadVariableOp(_\d+)?|read)"
_PREDICATE = r"(.*/)?pred_id(_\d+)?"
"""Names of the nodes that pass the predicate of a TensorFlow 1 condition to its branches."""
_UNUSED_INPUT = r"(.*/)?unused_control_flow_input(_\d+)?"
"""Names of the nodes that TensorFlow adds when it lowers loops from functions to control flow."""
_MAXIMUM_NAMES = 4


def declare_outputs(module: ModuleOp, types: Sequence[Attribute]) -> None:
    """Store the types that a signature declares for the outputs, in the order of `types`, in outputs of a model whose
    graph declares no type.

    The lowering compares them with the types that it infers.
    """
    results = [op for op in models_of(module)[0].block.ops if op.name == RESULT]
    for result, type_ in zip(results, types, strict=True):
        value = result.operands[0]
        if value.type == UNKNOWN and isinstance(value.owner, FrameworkOp):
            set_type(value, type_)


class ModelOutputs:
    """Determines the outputs of a main graph.

    Args:
        frame: the graph.
    """

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.is_frozen = not any(node.op in VARIABLE_KINDS for node in frame.nodes.values())
        self.controlling = {name[1:] for node in frame.nodes.values() for name in node.input if name.startswith("^")}
        self.edges = Edges(frame)
        self.gradients = Gradients(frame.nodes, self.edges)
        self.others: list[Tensor] = []
        """Further results of a graph that trains a model, which a user may want as outputs."""
        looped = self._in_loops()
        self._tensors = self._predictions(looped) if self.gradients.steps else []
        candidates = self._unused(frame.nodes.values())
        if not candidates:
            # In such a graph all results are also printed, summarized or saved, so uses for side effects do not count.
            candidates = self._unused([node for node in frame.nodes.values() if effect_of(node.op) is None])
        if self._tensors:
            self.nodes: list[Any] = [frame.nodes[name] for name in dict.fromkeys(name for name, _ in self._tensors)]
        else:
            self.nodes = self._without_uses(candidates, looped)
            self._tensors = [(node.name, number) for node in self.nodes for number in range(self._count(node))]
        chosen = {node.name for node in self.nodes}
        self.byproducts = [node.name for node in candidates if node.name not in chosen and node.name not in self.gradients.nodes]

    def _without_uses(self, candidates: list[Any], looped: Collection[str]) -> list[Any]:
        """The nodes that are the outputs of an inference graph: nodes without uses; gradients only if there are no
        others.

        `candidates` are the nodes without uses, `looped` the names of those within loops, which are left out if
        possible.
        """
        outside = [node for node in candidates if node.name not in looped]
        fed = self.edges.after(self._sources()) if candidates and not self.is_frozen else set[str]()
        remaining = [node for node in outside if not self._is_byproduct(node)]
        remaining = [node for node in remaining if node.name in fed] or remaining
        remaining = [node for node in remaining if node.name not in self.gradients.nodes] or remaining
        return remaining or outside or candidates or self._lone_inputs()

    def _predictions(self, looped: Collection[str]) -> list[Tensor]:
        """The outputs of a graph that trains a model: its predictions. `looped` are the names of the nodes within
        loops.
        """
        nodes = self.frame.nodes
        effects = {node.name for node in nodes.values() if effect_of(node.op) is not None}
        users = [node for node in nodes.values() if node.name not in self.gradients.nodes]
        unused = self._results(users, looped)
        reported = self._results([node for node in users if effect_of(node.op) not in (_CHECKS, _REPORTS)], looped)
        predictions = Predictions(self.frame, self.edges, self.gradients, unused, reported, self._sources(), effects, looped)
        chosen, self.others = predictions.tensors()
        return chosen

    def _results(self, users: Iterable[Any], looped: Collection[str]) -> set[str]:
        """The names of the nodes that no node of `users` uses, except nodes of `looped` (those within loops) and
        by-products such as summaries.
        """
        return {node.name for node in self._unused(users) if node.name not in looped and not self._is_byproduct(node)}

    def tensors(self) -> list[Tensor]:
        """The outputs of the model, in the order of the graph."""
        return self._tensors

    def wanted(self, tensors: Iterable[Tensor]) -> list[Tensor]:
        """The tensors among `tensors` that exist in the graph and can be outputs."""
        nodes = self.frame.nodes
        return [
            (name, number)
            for name, number in tensors
            if name in nodes and effect_of(nodes[name].op) is None and self._has_outputs(nodes[name]) and number < self._count(nodes[name])
        ]

    def _count(self, node: Any) -> int:
        count = output_count(node.op, lambda name: self.frame.count(node, name))
        if count > MAXIMUM_OUTPUTS:
            raise self.frame.error(f"it cannot have {count} outputs", node)
        return count

    def _unused(self, users: Iterable[Any]) -> list[Any]:
        """The nodes that compute something and are not operands of any of the nodes `users`."""
        used = {name for user in users for name, _ in self.frame.operands(user)}
        return [node for node in self.frame.nodes.values() if node.name not in used and self._computes(node)]

    def _computes(self, node: Any) -> bool:
        """Whether a node computes values, instead of existing only for a side effect."""
        return effect_of(node.op) is None and not _is_any_of(node.op, _SOURCES) and self._has_outputs(node)

    def _has_outputs(self, node: Any) -> bool:
        """Whether a node has outputs; the call of a function that only writes variables has none."""
        types = self.frame.attribute(node, "Tout")
        return types is None or types.WhichOneof("value") != "list" or bool(types.list.type)

    def _lone_inputs(self) -> list[Any]:
        """The placeholders of a graph that has no other nodes, so that they are its outputs, too; empty for other
        graphs.
        """
        nodes = [node for node in self.frame.nodes.values() if node.op != "NoOp"]
        return nodes if all(node.op in PLACEHOLDER_KINDS for node in nodes) else []

    def _is_byproduct(self, node: Any) -> bool:
        """Whether a node without uses is a remainder of control flow, freezing or saving."""
        if node.op in _EXITS:
            return not self.is_frozen or re.fullmatch(_LOWERED_EXIT, node.name) is not None
        if node.op not in _PASSING_KINDS:
            return False
        if node.name in self.controlling or self._waits_for_saving(node) or re.fullmatch(_PREDICATE, node.name):
            return True
        source = self._origin(node)
        if source.op in ("Switch", "RefSwitch"):
            return True
        # A constant can be an output, but not one that was the value of a variable before the graph was frozen.
        is_left_over = not self.is_frozen or re.fullmatch(_READ_VARIABLE, node.name) is not None
        is_source = effect_of(source.op) is not None or _is_any_of(source.op, _SOURCES)
        return is_left_over and is_source and source.op not in INPUT_KINDS and source.op != "PlaceholderWithDefault"

    def _waits_for_saving(self, node: Any) -> bool:
        """Whether a node only returns the name of a checkpoint, after a control edge from the node that saves it."""
        before = (self.frame.nodes.get(name[1:]) for name in node.input if name.startswith("^"))
        return any(other is not None and other.op in _SAVING_KINDS for other in before)

    def _origin(self, node: Any) -> Any:
        """The node at the beginning of the chain of Identity operations that ends at a node."""
        seen: set[str] = set()
        while node.op == "Identity" and node.name not in seen and (operands := self.frame.operands(node)):
            seen.add(node.name)
            node = self.frame.nodes[operands[0][0]]
        return node

    def _sources(self) -> list[str]:
        """The names of the nodes that are inputs of the model."""
        return [node.name for node in self.frame.nodes.values() if node.op in INPUT_KINDS or node.op.startswith("Placeholder")]

    def _in_loops(self) -> set[str]:
        """The names of the nodes within loops of TensorFlow 1, whose values are not available outside."""
        entering = [node.name for node in self.frame.nodes.values() if node.op in _ENTERS]
        exits = {node.name for node in self.frame.nodes.values() if node.op in _EXITS}
        return self.edges.after(entering, exits) if entering else set()

    def notes(self, imported: Mapping[str, Any]) -> list[str]:
        """Notes on the nodes that are not imported.

        Args:
            imported: names of the nodes that were imported.
        """
        kinds: dict[str, Counter[str]] = {}
        inputs: list[str] = []
        for node in self.frame.nodes.values():
            if node.name in imported:
                continue
            if node.op.startswith("Placeholder") and re.fullmatch(_UNUSED_INPUT, node.name) is None:
                inputs.append(node.name)
            if effect := effect_of(node.op):
                kinds.setdefault(effect, Counter())[node.op] += 1
        notes = [f"left out {effect} ({_counted(counts)})" for effect, counts in kinds.items()]
        if inputs:
            notes.append(f"left out inputs no output depends on ({_shown(inputs)})")
        if self.byproducts and not (self.is_frozen and all(_is_lowered(name) for name in self.byproducts)):
            notes.append(f"results nobody uses that are not outputs, by what computes them ({_shown(self.byproducts)})")
        if self.gradients.steps and self._tensors:
            chosen, others = (_shown_tensors(tensors) for tensors in (self._tensors, self.others))
            command = f"; for others: moir {self.frame.path.name} --output NAME, of {others}" if others else ""
            notes.append(f"the graph trains a model, whose predictions are the outputs: {chosen}{command}")
        return notes


@cache
def effect_of(kind: str) -> str | None:
    """The description of the side effect for which operations of a kind exist; None if they compute a value."""
    return next((effect for kinds, effect in EFFECTS.items() if _is_any_of(kind, kinds)), None)


def _is_any_of(kind: str, kinds: str) -> bool:
    return any(_is(kind, each) for each in kinds.split())


def _is(kind: str, pattern: str) -> bool:
    text = pattern.strip("*")
    if pattern.startswith("*"):
        return text in kind if pattern.endswith("*") else kind.endswith(text)
    return kind.startswith(text) if pattern.endswith("*") else kind == text


def _is_lowered(name: str) -> bool:
    """Whether TensorFlow generated a node's name (`…/_12`) when it lowered functional control flow."""
    return re.search(r"/_\d+$", name) is not None


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))


def _shown_tensors(tensors: Sequence[Tensor]) -> str:
    return _shown([tensor_text(tensor) for tensor in tensors])


def _shown(names: list[str]) -> str:
    more = f" and {len(names) - _MAXIMUM_NAMES} more" if len(names) > _MAXIMUM_NAMES else ""
    return ", ".join(names[:_MAXIMUM_NAMES]) + more
