"""`raise-vmap`: operations between the marks of torch.vmap, which are written without the mapped dimension, become
operations that have it.

    %a = aten.…._add_batch_dim(%x) {input1 = 1, input2 = 1}      %a = aten.movedim.int(%x) {source = 1, destination = 0}
    %b = aten.mul.Tensor(%a, %w)                             ->  %c, %d = aten.moir.aligned(%a, %w) {levels = [[1], []]}
    %y = aten.…._remove_batch_dim(%b) {input1 = 1, input3 = 0}   %y = aten.mul.Tensor(%c, %d)

A tensor inside has the dimensions of its levels first, those of outer calls before those of inner ones, then its own.
An elementwise operation is applied to all elements at once, to operands whose own dimensions are aligned at the end.
Any other operation is mapped over the dimensions that it lacks, as `higher_order.map_impl` does it.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from moir.analysis.analyses import Analyses
from moir.dialects.framework import FrameworkOp, operation_class
from moir.dialects.locations import located
from moir.dialects.moir import all_blocks
from moir.dialects.names import inherit_names, name_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.properties import attribute_of, strings_attribute, value_of
from moir.dialects.shapes import element_of, tensor
from moir.errors import UnsupportedOperationError
from moir.frameworks.traits import ELEMENTWISE, kinds_with
from moir.raising.pytorch.views import DIALECT, new_operation
from moir.rewriting.reporting_pass import ReportingPass

PREFIX = "torch._functorch.predispatch."
ADD, REMOVE = f"{PREFIX}_add_batch_dim", f"{PREFIX}_remove_batch_dim"

INDEXING = frozenset(("index.Tensor", "_unsafe_index.Tensor"))
"""Operations whose indices are broadcast and whose result has their dimensions first, if every index is a tensor."""

Levels = tuple[int, ...]


class RaiseVmapPass(ReportingPass):
    """Replaces torch.vmap's marks and the operations between them by operations that have the mapped dimensions."""

    name = "raise-vmap"

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = False
        for block in list(all_blocks(module)):
            if any(isinstance(op, FrameworkOp) and op.KIND.startswith(PREFIX) for op in block.ops):
                _Marks(block).run()
                changed = True
        return changed


class _Marks:
    """Walks over the operations of a block, and records for each value the levels of torch.vmap at which it is
    mapped.
    """

    def __init__(self, block: Block) -> None:
        self.block = block
        self.levels: dict[SSAValue, Levels] = {}

    def run(self) -> None:
        """Replace the marks in the block, and the operations between them by operations with the mapped dimensions."""
        for op in list(self.block.ops):
            if isinstance(op, FrameworkOp):
                levels = self._levels_after(op)
                self.levels |= {result: levels for result in op.results if levels}
        self._erase_unused()
        for op in list(self.block.ops):
            if not isinstance(op, FrameworkOp) or op.dialect_name() != DIALECT:
                continue
            if op.KIND == ADD:
                self._add(op)
            elif op.KIND == REMOVE:
                self._remove(op)
            elif op.KIND.startswith(PREFIX):
                op.detach()
                op.erase()
            elif any(self._of(each) for each in op.operands):
                self._batch(op)

    def _of(self, value: SSAValue) -> Levels:
        return self.levels.get(value, ())

    def _levels_after(self, op: FrameworkOp) -> Levels:
        """The levels of the results of an operation."""
        levels = {level for operand in op.operands for level in self._of(operand)}
        if op.KIND == ADD:
            levels.add(_number(op, 2))
        elif op.KIND == REMOVE:
            levels.discard(_number(op, 1))
        return tuple(sorted(levels))

    def _erase_unused(self) -> None:
        """Erase operations on mapped tensors whose results are unused; torch.vmap leaves such operations behind."""
        for op in reversed(list(self.block.ops)):
            marked = any(self._of(each) for each in (*op.operands, *op.results))
            if marked and op.results and not any(result.uses for result in op.results):
                op.detach()
                op.erase()

    def _add(self, op: FrameworkOp) -> None:
        """Replace the mark that begins a level of torch.vmap: move the mapped dimension to the front, after those of
        outer levels.
        """
        x = op.operands[0]
        index = self._of(op.results[0]).index(_number(op, 2))
        self._replace(op, self._moved(op, x, len(self._of(x)) + _number(op, 1), index), op.results[0])

    def _remove(self, op: FrameworkOp) -> None:
        """Replace the mark that ends a level of torch.vmap: move the mapped dimension to its axis in the result.

        A tensor without that dimension is repeated along it.
        """
        x = op.operands[0]
        outer, new_axis = len(self._of(op.results[0])), _number(op, 3)
        if _number(op, 1) in self._of(x):
            return self._replace(op, self._moved(op, x, self._of(x).index(_number(op, 1)), outer + new_axis), op.results[0])
        axis = outer + new_axis
        column = self._insert("unsqueeze.default", {"self": x}, op, dim=axis)
        size = op.operands[1:2]
        operands = {"self": column, **({"repeats": size[0]} if size else {})}
        repeats = {} if size else {"repeats": _number(op, 2)}
        return self._replace(op, self._insert("repeat_interleave.self_int", operands, op, dim=axis, **repeats), op.results[0])

    def _moved(self, op: FrameworkOp, x: SSAValue, source: int, destination: int) -> SSAValue:
        if source == destination:
            return self._insert("alias.default", {"self": x}, op)
        return self._insert("movedim.int", {"self": x}, op, source=source, destination=destination)

    def _insert(self, kind: str, operands: dict[str, SSAValue], like: Operation, **properties: object) -> SSAValue:
        attributes = {name: attribute_of(value) for name, value in properties.items()}
        new = new_operation(kind, operands, attributes, [element_of(operands["self"])], like)
        self.block.insert_op_before(new, like)
        return new.results[0]

    def _replace(self, op: FrameworkOp, value: SSAValue, result: SSAValue) -> None:
        self.levels[value] = self._of(result)
        inherit_names(op, [value])
        result.replace_all_uses_with(value)
        op.detach()
        op.erase()

    def _batch(self, op: FrameworkOp) -> None:
        """Give an operation the dimensions of the levels of its operands."""
        names: list[str] = list(value_of(op.properties["arguments"])) if "arguments" in op.properties else []
        if op.KIND in kinds_with(DIALECT, ELEMENTWISE):
            return self._align(op, range(len(op.operands)))
        is_gathering = op.KIND in INDEXING and "indices" not in op.properties and all(name for name in names)
        if is_gathering and not self._of(op.operands[0]):
            return self._align(op, range(1, len(op.operands)))
        return self._map(op)

    def _align(self, op: FrameworkOp, which: Sequence[int]) -> None:
        """Replace the operands of an operation at the indices `which` by tensors whose own dimensions are aligned at
        the end.
        """
        operands = [op.operands[index] for index in which]
        levels = [list(self._of(each)) for each in operands]
        aligned = operation_class(DIALECT, "moir.aligned").create(
            operands=operands,
            properties={
                "arguments": strings_attribute([f"tensors.{index}" for index in range(len(operands))]),
                "levels": attribute_of([",".join(map(str, each)) for each in levels]),
            },
            result_types=[tensor(None, element_of(each)) for each in operands],
        )
        aligned.location = located(op)
        self.block.insert_op_before(aligned, op)
        for index, value in zip(which, aligned.results, strict=True):
            op.operands[index] = value

    def _map(self, op: FrameworkOp) -> None:
        """Map an operation over its levels, the outer ones first."""
        levels = tuple(sorted({level for each in op.operands for level in self._of(each)}))
        if not op.results:
            op.detach()
            op.erase()
            return
        results = self._mapped(op, list(op.operands), [self._of(each) for each in op.operands], levels, self.block, op)
        for old, new in zip(op.results, results, strict=True):
            self.levels[new] = levels
            old.replace_all_uses_with(new)
        inherit_names(op, results)
        op.detach()
        op.erase()

    def _mapped(
        self, op: FrameworkOp, operands: list[SSAValue], levels: list[Levels], remaining: Levels, block: Block, before: Operation | None
    ) -> Sequence[SSAValue]:
        """Map an operation over dimensions that it lacks; return its results.

        Args:
            op: the operation, which is cloned.
            operands: its operands.
            levels: the levels of each operand.
            remaining: the levels to map over, the outermost first; if empty, the operation is only cloned.
            block: the block in which the result is built.
            before: the operation before which it is built; None for the end of the block.
        """
        if not remaining:
            new = op.clone()
            for index, operand in enumerate(operands):
                new.operands[index] = operand
        else:
            level, *inner = remaining
            scanned = [index for index, each in enumerate(levels) if level in each]
            fixed = [index for index in range(len(operands)) if index not in scanned]
            body = Block()
            held: list[SSAValue] = list(operands)
            for index in (*scanned, *fixed):
                parameter = Parameter.create(result_types=[tensor(None, element_of(operands[index]))])
                body.add_op(parameter)
                held[index] = parameter.results[0]
            left = [tuple(other for other in each if other != level) for each in levels]
            for result in self._mapped(op, held, left, tuple(inner), body, None):
                body.add_op(Result.create(operands=[result]))
            names = [f"input1.{number}" for number in range(len(scanned))] + [f"input2.{number}" for number in range(len(fixed))]
            properties: dict[str, Attribute] = {"arguments": strings_attribute(names)}
            new = operation_class(DIALECT, "higher_order.map_impl").create(
                operands=[operands[index] for index in (*scanned, *fixed)],
                properties=properties,
                result_types=[tensor(None, element_of(each)) for each in op.results],
                regions=[Region(body)],
            )
            new.location = located(op)
        if before is None:
            block.add_op(new)
        else:
            block.insert_op_before(new, before)
        return new.results


def _number(op: FrameworkOp, index: int) -> int:
    """The integer argument at an index of a mark. Raises UnsupportedOperationError if it is not a known integer."""
    argument = value_of(op.properties[f"input{index}"]) if f"input{index}" in op.properties else None
    if not isinstance(argument, int):
        raise UnsupportedOperationError(
            f"its argument {index} is not a number that is known",
            operation=op.name,
            node=name_of(op),
            hint="export the program decomposed: program.run_decompositions()",
        )
    return argument
