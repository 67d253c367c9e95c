"""`keep-precision`: operations are marked as ones that are computed in their own element type, whatever the rest is in.

    keep-precision{nodes="norm"}

    %y = opset6.MVN(%x, %axes) {name = "norm"} : tensor<2x32xf32>
->  %y = opset6.MVN(%x, %axes) {name = "norm", runtime_info = {precise = {version = "0"}}} : tensor<2x32xf32>

Readers of IR that compute in f16 or bf16 leave such an operation in f32, and convert around it. A name is that of an
operation of the module or of a node of the framework, and stands for all operations that come from the node; of a loop
or a branch, all operations of its bodies are marked, too.

With `nodes="auto"`, the operations are those that lose so much in f16 that the outputs are not right
(`moir.checking`, for random inputs).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir.analysis.analyses import Analyses
from moir.analysis.marks import mark
from moir.analysis.provenance import all_sources
from moir.dialects.element_types import REAL_TYPES
from moir.dialects.moir import add_notes, models_of
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Constant, Parameter, Result
from moir.dialects.shapes import element_of
from moir.errors import UsageError
from moir.frameworks import load
from moir.rewriting.reporting_pass import ReportingPass
from moir.support.suggestions import did_you_mean

AUTO = "auto"
"""The name that stands for the operations that a check of the model in f16 selects."""

CHECK = "moir.checking.automatic:operations_to_keep"
"""The function that selects the operations for `auto`.

It is in a layer above the passes, and therefore loaded by name when needed.
"""


@dataclass(frozen=True)
class KeepPrecisionPass(ReportingPass):
    """Marks operations that are computed in their own element type.

    Args:
        nodes: names of operations or of nodes of the framework; or `auto`.
    """

    name = "keep-precision"
    IN_PLACE = True

    nodes: tuple[str, ...] = ()

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        operations = _operations_named([name for name in self.nodes if name != AUTO], module)
        if AUTO in self.nodes:
            necessary, note = load(CHECK)(module)
            operations += necessary
            for model in models_of(module):
                add_notes(model, [note])
        for op in operations:
            for each in op.walk():
                if _is_markable(each):
                    mark(each)
        return bool(operations)


def _operations_named(names: Sequence[str], module: ModuleOp) -> list[Operation]:
    """The operations that have a name, and those that come from a node with it. Raises UsageError if there are none."""
    if not names:
        return []
    known: dict[str, dict[Operation, None]] = {}
    for op, sources in all_sources(module).items():
        if _is_markable(op):
            for name in (name_of(op), *(each.node for each in sources)):
                known.setdefault(name or "", {})[op] = None
    operations: dict[Operation, None] = {}
    for name in names:
        if name not in known:
            reason = f"there is no node {name!r} whose precision could be kept"
            raise UsageError(reason, hint=did_you_mean(name, known, "`moir check MODEL` names the nodes that need it"))
        operations |= known[name]
    return [*operations]


def _is_markable(op: Operation) -> bool:
    return not isinstance(op, Constant | Parameter | Result) and any(element_of(each) in REAL_TYPES for each in op.results)
