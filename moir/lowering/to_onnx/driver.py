"""Lowering of a model from the opset dialects to the `onnx` dialect, in the form in which ONNX's frontend builds it.

    %y = opset4.Swish(%x) {name = "act"} : tensor<1x8xf32>
->  %s = onnx.Sigmoid(%x) : tensor<1x8xf32>
    %y = onnx.Mul(%x, %s) {name = "act"} : tensor<1x8xf32>

Parameters, Constants and Results stay, as in an imported model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar, cast

from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Block, Operation, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.known_values import KnownValues
from moir.dialects.framework import FrameworkOp
from moir.dialects.inference import set_type
from moir.dialects.moir import ONNX_DOMAIN, ModelOp, ModuleLevel, add_notes, all_blocks, is_none, models_of
from moir.dialects.names import inherit_names, name_of
from moir.dialects.properties import integer_attribute
from moir.errors import ConversionError, UnsupportedOperationError
from moir.frameworks.records import ONNX
from moir.lowering.binder import LoweringNode
from moir.lowering.handlers import BoundHandler
from moir.lowering.to_onnx.builder import OnnxBuilder
from moir.lowering.to_onnx.dimension_names import name_output_dimensions
from moir.lowering.to_onnx.packed_products import pack_products
from moir.lowering.to_onnx.priors import settle_sizes
from moir.lowering.to_onnx.states import expose_states
from moir.lowering.to_onnx.table import PREFERRED, check_version, opset
from moir.lowering.to_onnx.types import check_element_types
from moir.rewriting.dead_code import eliminate_dead, erase, is_used
from moir.rewriting.reporting_pass import ReportingPass

T = TypeVar("T")

_KEPT = frozenset(("opset1.Parameter", "opset1.Constant", "opset1.Result"))


class LoweringToOnnx:
    """One run of the lowering to ONNX over one model, with the interface of `moir.lowering.binder.LoweringRun`.

    Args:
        version: the version of ONNX's operator set.
    """

    framework = ONNX
    keeps_layouts = False

    def __init__(self, version: int) -> None:
        self.version = version
        self.known = KnownValues()
        self.versions: Mapping[str, int] = {"": version}
        self.notes: list[str] = []
        self._states: dict[object, object] = {}

    def state(self, key: object, make: Any) -> Any:
        """The state that the handlers of this run share under a key; `make` builds it at the first request."""
        if key not in self._states:
            self._states[key] = make()
        return self._states[key]

    def release(self, op: Operation) -> None:
        """Do nothing: dead operations are erased at the end of the run."""

    def block(self, block: Block) -> None:
        """Lower the operations of a block in order. Raises ConversionError for an operation that ONNX does not have."""
        for op in list(block.ops):
            if op.name in _KEPT or is_none(op) or isinstance(op, FrameworkOp):
                continue
            self._lower(op)

    def _handler(self, op: Operation) -> BoundHandler:
        kind = op.name.partition(".")[2]
        handler = opset.handler(op.name, self.version) or opset.handler(kind, self.version)
        if handler is None:
            since = [*opset.since(op.name), *opset.since(kind)]
            later = f"it can be written from version {min(since)} of the operator set on" if since else ""
            raise UnsupportedOperationError(
                f"ONNX has no counterpart of {op.name}" + (f" in version {self.version} of its operator set" if later else ""),
                operation=op.name,
                node=name_of(op),
                hint=later or "cut the model before it with --output, or write IR",
            )
        return handler

    def _lower(self, op: Operation) -> None:
        assert op.parent is not None
        handler = self._handler(op)
        builder = OnnxBuilder(op.parent, op, self.version)
        try:
            results = cast(Any, handler)(LoweringNode(cast(Any, op), self.version, self), builder)
        except ConversionError as error:
            if error.operation is None or error.node is None:
                raise type(error)(error.reason, operation=op.name, node=name_of(op), hint=error.hint) from error
            raise
        values: list[SSAValue | None] = [*cast("Sequence[SSAValue | None]", results)] if isinstance(results, Sequence) else [results]
        self._replace(op, [*values, *[None] * (len(op.results) - len(values))])

    def _replace(self, op: Operation, values: Sequence[SSAValue | None]) -> None:
        replacements: list[SSAValue] = []
        for result, value in zip(op.results, values, strict=True):
            if value is None and result.first_use is not None:
                raise UnsupportedOperationError(
                    f"result {result.index} has no counterpart in ONNX", operation=op.name, node=name_of(op), hint="do not use this result"
                )
            if (
                isinstance(value, OpResult)
                and isinstance(value.op, FrameworkOp)
                and value.op.parent is op.parent
                and value not in op.operands
            ):
                set_type(value, result.type)
            replacements.append(result if value is None else value)
        inherit_names(op, replacements)
        for result, value in zip(op.results, values, strict=True):
            if value is not None:
                result.replace_all_uses_with(value)
        erase(op)


def lower_to_onnx(model: ModelOp, version: int, *, matmul_nbits: bool = False) -> None:
    """Lower a model to the `onnx` dialect.

    Args:
        model: a model in opset dialects, which is changed in place.
        version: the version of ONNX's operator set.
        matmul_nbits: whether products by weights of 4 and 8 bits become com.microsoft.MatMulNBits.

    Raises UsageError for a version that cannot be written, and ConversionError, with the name of the operation, for one
    without a counterpart.
    """
    check_version(version)
    run = LoweringToOnnx(version)
    add_notes(model, expose_states(model))
    eliminate_dead(model.block)
    name_output_dimensions(model.block)
    settle_sizes(model.block, KnownValues())
    run.block(model.block)
    eliminate_unused(model.block)
    check_element_types(model.block, version)
    model.attributes[ModuleLevel.OPSET_IMPORT] = DictionaryAttr({ONNX_DOMAIN: integer_attribute(version)})
    if matmul_nbits:
        pack_products(model, version)
        eliminate_unused(model.block)
    add_notes(model, dict.fromkeys(run.notes))


def is_lowered(module: ModuleOp) -> bool:
    """Whether a module in the `onnx` dialect has no opset operations besides Parameters, Constants and Results."""
    operations = [op for block in all_blocks(module) for op in block.ops]
    return all(op.name in _KEPT or is_none(op) or isinstance(op, FrameworkOp) for op in operations) and any(
        isinstance(op, FrameworkOp) for op in operations
    )


def eliminate_unused(block: Block) -> None:
    """Erase the operations of a block, and of the bodies in it, whose results have no use."""
    for op in reversed(list(block.ops)):
        for region in op.regions:
            for body in region.blocks:
                eliminate_unused(body)
        if not is_used(op) and op.results and op.name != "opset1.Parameter":
            erase(op)


@dataclass(frozen=True)
class LowerToOnnxPass(ReportingPass):
    """Lowers opset operations to version `opset` of ONNX's operator set.

    Operations without a counterpart are composed of other operations; the pass refuses operations for which this is not
    possible. With `matmul_nbits`, products with weights of 4 and 8 bits become com.microsoft.MatMulNBits of ONNX
    Runtime.
    """

    name: ClassVar[str] = "lower-to-onnx"

    opset: int = PREFERRED
    matmul_nbits: bool = False

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        for model in models_of(module):
            lower_to_onnx(model, self.opset, matmul_nbits=self.matmul_nbits)
        return True
