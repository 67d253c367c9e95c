"""`simplify-shape-of`: shortens shape computations, and the model remains reshapable.

    %s = opset3.ShapeOf(%relu)                                   // the shape of the operand of %relu: ShapeOf(%x)
    %0 = opset8.Gather(%s, 0, 0)
    %1 = opset1.Unsqueeze(%0, 0)                               // opset8.Gather(%s, [0], 0)
    %2 = opset8.Gather(%s, [1], 0)                               // a constant if weights fix this dimension
    %3 = opset1.Select(opset1.Equal(%1, -1), 1, %1)              // %1: a dimension is not -1

Every value of a shape computation whose entries are known as `Dimensions` is replaced

 1. by a constant if weights and constants of the model fix all of it,
 2. else by the first value of the block that has the same entries,
 3. else by one Gather if all entries are dimensions of one ShapeOf, some of which weights may fix,
 4. else by one Concat of constants and of 1-D tensors of one element that the block has already. This removes what
    only rearranges a 1-D tensor, such as the Slice, Transpose and Split that reorder amounts of padding.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import groupby

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.dimensions import Dimensions
from moir.dialects.data import Array
from moir.dialects.element_types import INTEGER_TYPES, boolean, to_numpy
from moir.dialects.opset.indexing import Gather
from moir.dialects.opset.infrastructure import Constant, Parameter
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.movement import Concat, Split, VariadicSplit
from moir.dialects.opset.shape import ShapeOf
from moir.dialects.shapes import element_of, shape_of
from moir.dialects.symbols import Symbol, is_symbolic, same
from moir.rewriting.driver import Rewriter
from moir.rewriting.events import RECORDING
from moir.rewriting.reporting_pass import ReportingPass

_WHOLE = frozenset(map(id, (*INTEGER_TYPES, boolean)))
"""The `id`s of the element types of shape computations. The types are interned, and hashing an attribute is slow."""


def use_count(value: SSAValue) -> int:
    """The number of uses of a value."""
    return sum(1 for _ in value.uses)


class SimplifyShapeOfPass(ReportingPass):
    """Simplifies shape computations in one forward walk over each block."""

    name = "simplify-shape-of"

    KEEPS_DIMENSIONS = True

    ROOTS = (ShapeOf,)

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        if next(analyses.operations(ShapeOf), None) is None:
            return False
        known = analyses.dimensions()
        changed = [ShapeComputations(known).simplify(operations) for _, operations in analyses.contents]
        return any(changed)


def key_of(result: SSAValue, entries: Array) -> Hashable:
    """A key that values with the same elements share: the `id` of the element type, which is interned, the shape, and
    the elements.
    """
    numbers = tuple([id(entry) if isinstance(entry, Symbol) else int(entry) for entry in entries.ravel().tolist()])
    return id(element_of(result)), entries.shape, numbers


class ShapeComputations:
    """The shape computations of one block.

    `first` maps elements to the first value that has them, `shape_of_dimension` a symbolic dimension to the first
    ShapeOf that has it. `origins` maps a value to the earliest value with the same shape in the chain of operations
    that computes it; `shared` maps it to the earliest such value that has several users or is an input.
    """

    def __init__(self, known: Dimensions) -> None:
        self.known = known
        self.first: dict[Hashable, SSAValue] = {}
        self.shape_of_dimension: dict[Symbol, SSAValue] = {}
        self.origins: dict[SSAValue, SSAValue] = {}
        self.shared: dict[SSAValue, SSAValue | None] = {}

    def simplify(self, operations: Iterable[Operation]) -> bool:
        """Simplify the operations of a block in order; returns whether any has changed."""
        changed = False
        rewriter: Rewriter | None = None
        recording = RECORDING.get()
        for op in operations:
            if recording is not None and recording.is_exhausted:
                break
            if not isinstance(op, OpsetOp) or op.regions or not op.results or id(element_of(result := op.results[0])) not in _WHOLE:
                continue
            if not op.operands or not op.DETERMINISTIC or op.EFFECTS:
                continue
            if len(op.results) > 1 and not isinstance(op, Split | VariadicSplit):
                continue
            if isinstance(op, ShapeOf) and (origin := self.origin(op.operands[0])) is not op.operands[0]:
                op.operands[0] = origin
                changed = True
            known = [entries for each in op.results if (entries := self.entries(each)) is not None]
            if len(known) < len(op.results):
                continue
            if rewriter is None:
                rewriter = Rewriter(op, self.known, recording)
            rewriter.begin(op, SimplifyShapeOfPass.name)
            replacements = self.replacements(op, known, rewriter)
            if replacements is not None:
                rewriter.replace_with(op, replacements)
            elif len(known) == 1:
                self.first[key_of(result, known[0])] = result
                if isinstance(op, ShapeOf):
                    for entry in known[0].tolist():
                        if isinstance(entry, Symbol):
                            self.shape_of_dimension.setdefault(entry, result)
            if rewriter.has_done_action:
                changed = True
                rewriter.report(op)
        return changed

    def replacements(self, op: OpsetOp, known: Sequence[Array], rewriter: Rewriter) -> list[SSAValue] | None:
        """The values that replace the results of an operation with known elements; None if a result cannot be
        replaced.
        """
        replacements: list[SSAValue] = []
        for result, entries in zip(op.results, known, strict=True):
            key = key_of(result, entries)
            if not is_symbolic(entries):
                value = rewriter.op.constant(entries.astype(to_numpy(element_of(result))), element_of(result))
            elif (value := self.first.get(key)) is None:
                value = self.gathered(op, entries, rewriter)
                value = value if value is not None else self.joined(op, result, entries, rewriter)
                if value is None:
                    return None
                self.first[key] = value
            replacements.append(value)
        return replacements

    def joined(self, op: OpsetOp, result: SSAValue, entries: Array, rewriter: Rewriter) -> SSAValue | None:
        """A Concat of constants and of existing 1-D tensors of one element; None if one is missing, or if `op` is a
        Concat.
        """
        if entries.ndim != 1 or entries.size < 2 or isinstance(op, Concat):
            return None
        element = element_of(result)
        vectors = {entry: self.first.get((id(element), (1,), (id(entry),))) for entry in entries.tolist() if isinstance(entry, Symbol)}
        if None in vectors.values():
            return None
        parts: list[SSAValue] = []
        for is_known, run in groupby(entries.tolist(), lambda entry: not isinstance(entry, Symbol)):
            each = [*run]
            if is_known:
                parts.append(rewriter.op.constant(np.array(each, to_numpy(element)), element))
            else:
                parts += [value for entry in each if (value := vectors[entry]) is not None]
        return rewriter.op.Concat(*parts, axis=0)

    def entries(self, result: SSAValue) -> Array | None:
        """The known elements of an integer or boolean value; None if they are unknown."""
        entries = self.known.elements(result)
        return entries if entries is not None and entries.shape == shape_of(result) else None

    def origin(self, value: SSAValue) -> SSAValue:
        """The value whose shape a ShapeOf of `value` should read instead.

        `value` is computed by a chain of operations that keep the shape. A second use of a value inside the chain, such
        as a convolution before its batch normalization, would prevent fusions. So this is the earliest value of the
        chain that is a Parameter or has several uses already; without one, the earliest value.
        """
        chain: list[SSAValue] = []
        shared: SSAValue | None = None
        # The search stops at values whose origin is known, so a chain with a ShapeOf after each operation takes linear
        # time.
        while (earliest := self.origins.get(value)) is None:
            chain.append(value)
            if (source := self._source(value)) is None:
                earliest = value
                break
            value = source
        else:
            shared = self.shared[value]
        for each in reversed(chain):
            if shared is None and (isinstance(each.owner, Parameter) or use_count(each) > 1):
                shared = each
            self.origins[each], self.shared[each] = earliest, shared
        return shared or earliest

    def _source(self, value: SSAValue) -> SSAValue | None:
        """The operand of the operation that computes a value, if it has the value's shape; None if there is no such
        operand, or it is constant.
        """
        if not isinstance(value, OpResult) or not isinstance(value.op, OpsetOp) or value.op.regions:
            return None
        source = next((operand for operand in value.op.operands if self._same(operand, value)), None)
        return None if isinstance(source, OpResult) and isinstance(source.op, Constant) else source

    def _same(self, a: SSAValue, b: SSAValue) -> bool:
        left, right = self.known.tokens(a), self.known.tokens(b)
        return left is not None and right is not None and len(left) == len(right) and all(map(same, left, right))

    def gathered(self, op: OpsetOp, entries: Array, rewriter: Rewriter) -> SSAValue | None:
        """A Gather of these elements from one ShapeOf; None if no single ShapeOf has all of them, or if `op` is such a
        Gather.
        """
        numbers = entries.ravel().tolist()
        if entries.ndim > 1 or any(isinstance(entry, Symbol) and entry not in self.shape_of_dimension for entry in numbers):
            return None
        dimensions: list[Hashable] = []
        sources = dict.fromkeys(self.shape_of_dimension[entry] for entry in numbers if isinstance(entry, Symbol))
        for source in sources:
            # A ShapeOf also has dimensions that weights fix, and dimensions that an earlier ShapeOf has.
            elements = self.known.elements(source)
            dimensions = [] if elements is None else elements.tolist()
            if element_of(source) == element_of(op.results[0]) and all(entry in dimensions for entry in numbers):
                break
        else:
            return None
        if isinstance(op, Gather) and op.operands[0] in sources:
            return None
        is_mixed = len(sources) > 1 or any(not isinstance(entry, Symbol) for entry in numbers)
        # The indices are a new constant, so the Gather pays off only if it makes at least one operand dead.
        if is_mixed and not any(use_count(operand) == 1 for operand in op.operands):
            return None
        axes = np.array([dimensions.index(entry) for entry in numbers], np.int64).reshape(entries.shape)
        return rewriter.op.Gather(source, rewriter.op.constant(axes), rewriter.op.constant(np.array(0, np.int64)))
