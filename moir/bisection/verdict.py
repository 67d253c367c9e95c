"""The result of a bisection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from moir.execution.comparison import Difference
from moir.support.records import Record

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xdsl.dialects.builtin import ModuleOp

    from moir.dialects.memory_map import Array
    from moir.reduction.reduced import Reduced

Kind = Literal["none", "pass", "lowering", "plugin"]
"""The kind of fault: none, a pass, a lowering (or the frontend), or the plugin of the runtime."""

_SHOWN = 6
_LONGEST = 240


class Rewrite(Record):
    """A rewrite of a pass, or the lowering of a node.

    Args:
        pattern: the pattern, or the function of the lowering.
        number: its number among the rewrites of the pass, from 1 on.
        count: the number of rewrites of the pass.
        before: the operations that it replaces, as text.
        after: the operations that it inserts, as text.
    """

    pattern: str
    number: int
    count: int
    before: tuple[str, ...]
    after: tuple[str, ...]


class WrongTensor(Record):
    """The first tensor whose numbers leave the tolerance.

    Args:
        name: its name.
        operation: the operation that computes it, as text.
        difference: its difference from the reference.
        before: the operation that computed it before the pass, as text; None for a lowering.
    """

    name: str
    operation: str
    difference: Difference
    before: str | None = None


class Reproduction(Record):
    """A reproduction of the fault.

    Args:
        before: the module before the pass.
        pipeline: the pass, for `moir-opt --passes`.
        inputs: the inputs, by name.
    """

    before: ModuleOp
    pipeline: str
    inputs: Mapping[str, Array]


class Verdict(Record):
    """The result of a bisection.

    Args:
        kind: the kind of fault.
        reference: the runtime that computed the reference.
        outputs: the differences of the outputs of the converted model, by name.
        stage: the pass at fault, with its number, as in the names of dumps.
        rewrite: the rewrite at fault; None if the pass reports none.
        tensor: the first wrong tensor with a name; None if there is none.
        node: the node of the framework whose lowering is at fault: its name and kind.
        plugin: the operation that the plugin computes wrongly, and the difference.
        not_finite: a sentence on the first tensor with NaN or infinite elements.
        losses: the tensors that lose the most accuracy by the compression to f16, with their differences from the
            reference.
        reproduction: the module before the fault.
        reduced: a small model that fails in the same way.
        notes: further remarks.
        states: the number of states of the conversion.
        runs: the number of times that a model was run.
        seconds: the duration.
    """

    kind: Kind
    reference: str
    outputs: Mapping[str, Difference]
    stage: str | None = None
    rewrite: Rewrite | None = None
    tensor: WrongTensor | None = None
    node: str | None = None
    plugin: str | None = None
    not_finite: str | None = None
    losses: tuple[tuple[str, float], ...] = ()
    reproduction: Reproduction | None = None
    reduced: Reduced | None = None
    notes: tuple[str, ...] = ()
    states: int = 0
    runs: int = 0
    seconds: float = 0.0

    def __str__(self) -> str:
        return "\n".join(f"{label:<12}{text}" for label, text in self.rows())

    def rows(self) -> list[tuple[str, str]]:
        """The verdict as labels and texts; a row without a label belongs to the one above it."""
        rows = [("reference", self.reference)]
        rows += [("output", f"{name}: {'wrong, ' if each.exceeds else ''}{each}") for name, each in self.outputs.items()]
        rows.append(("verdict", self.sentence))
        if self.rewrite is not None:
            pass_number = f", {self.rewrite.number} of {self.rewrite.count}" if self.node is None else ""
            rows.append(("rewrite", f"{self.rewrite.pattern}{pass_number}"))
            rows += _rows_of("-", self.rewrite.before) + _rows_of("+", self.rewrite.after)
        if self.tensor is not None:
            rows.append(("tensor", f"{self.tensor.name}: {self.tensor.difference}"))
            rows += [] if self.tensor.before is None else _rows_of("before:", (self.tensor.before,))
            rows += _rows_of("after:" if self.tensor.before is not None else "computed by:", (self.tensor.operation,))
        if self.plugin is not None:
            rows.append(("plugin", self.plugin))
        if self.not_finite is not None:
            rows.append(("not finite", self.not_finite))
        rows += [("f16 loss", f"{name}: {error:.2g}") for name, error in self.losses]
        rows += [("note", each) for each in self.notes]
        return rows

    @property
    def sentence(self) -> str:
        """The verdict in one sentence, without its full stop."""
        if self.kind == "none":
            return "the converted model agrees with the reference"
        if self.kind == "pass":
            return f"the pass {self.stage} is the first after which the model is wrong"
        if self.kind == "plugin":
            where = f"; it shows after {self.stage}" if self.stage is not None else ""
            return f"the plugin of the runtime computes the model otherwise than its operations are defined{where}"
        node = f" of {self.node}" if self.node is not None else ", or the frontend"
        return f"all states agree with each other, not with the reference: the lowering{node} ({self.stage})"


def _rows_of(mark: str, texts: tuple[str, ...]) -> list[tuple[str, str]]:
    shown = [("", f"{mark} {text if len(text) <= _LONGEST else text[:_LONGEST] + '…'}") for text in texts[:_SHOWN]]
    return shown + ([("", f"{mark} … {len(texts) - _SHOWN} more")] if len(texts) > _SHOWN else [])
