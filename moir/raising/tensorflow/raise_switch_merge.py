"""`raise-switch-merge`: the conditionals of TensorFlow 1, values sent one way by Switch and joined by Merge, become If.

    %s:2 = tf.Switch(%x, %p)              %y = tf.If(%p, %x) {graph_attributes = ["then_branch", "else_branch"]} ({
    %a = tf.Abs(%s#1)                         %q = opset1.Parameter()
    %n = tf.Neg(%s#0)                 ->      opset1.Result(tf.Abs(%q))
    %y = tf.Merge(%n, %a)                 }, { … })

The path of a node is the list of the (predicate, branch) pairs that its operands depend on, from the outermost
conditional to the innermost. The operands of a Merge are on different branches of one predicate. One operand may be on
no branch: a constant, which only a control edge tied to its branch. Merges of one predicate on the same path become
one If, unless one of them depends on another. `_SwitchN` makes a Case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.order import sort_block
from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.tensorflow import (
    MERGES,
    add_results,
    erase,
    kind_of,
    new_integers,
    new_node,
    new_parameter,
    origin,
    unsupported,
)
from moir.dialects.locations import located, merged
from moir.dialects.moir import all_blocks
from moir.dialects.names import add_tensor_names, name_of, tensor_names_of
from moir.dialects.opset.infrastructure import Constant, Result
from moir.rewriting.dead_code import eliminate_dead
from moir.rewriting.reporting_pass import ReportingPass

SWITCHES = ("Switch", "RefSwitch", "_SwitchN")

Path: TypeAlias = "tuple[tuple[SSAValue, int], ...]"
"""The predicates that decide whether a node runs, outermost first, each with the branch the node is on."""


class Nesting(NamedTuple):
    """The position of a node in the tree of conditionals: its path, and for each level the number of Merges it depends
    on.

    Level 0 is the model itself. Merges with different numbers belong to different conditionals.
    """

    path: Path
    merges: tuple[int, ...]


DEEPEST_PATH = 200
"""Largest number of conditionals nested within one another."""

OUTSIDE = Nesting((), (0,))


class RaiseSwitchMergePass(ReportingPass):
    """Raises the conditionals of TensorFlow 1 to If and Case, inner ones first."""

    name = "raise-switch-merge"

    ROOTS = tuple(f"tf.{kind}" for kind in MERGES)

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = False
        for block in list(all_blocks(module)):
            if any(kind_of(each) in MERGES for each in block.ops):
                Conditionals(block).raise_all()
                sort_block(block)
                eliminate_dead(block)
                changed = True
        return changed


@dataclass(eq=False)
class Conditional:
    """Merges that become the results of one If or Case.

    `arms` gives for each Merge the index of its operand for each branch.
    """

    predicate: SSAValue
    path: Path
    branches: int
    merges: list[FrameworkOp] = field(default_factory=list[FrameworkOp])
    arms: list[list[int]] = field(default_factory=list[list[int]])

    @property
    def with_index(self) -> list[int]:
        """The indices of the Merges whose second result, the index of the operand that was taken, has uses."""
        return [index for index, merge in enumerate(self.merges) if len(merge.results) > 1 and merge.results[1].uses]


class Conditionals:
    """Collects the conditionals of a block, and raises them."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.nestings: dict[Operation, Nesting] = {}
        self.position: dict[Operation, int] = {}
        self.branch_counts: dict[SSAValue, int] = {}
        self.conditionals: dict[tuple[SSAValue, Path, tuple[int, ...]], Conditional] = {}
        for position, op in enumerate(block.ops):
            self.position[op] = position
            nesting = self._joined(op)
            if len(nesting.path) > DEEPEST_PATH:
                raise unsupported(op, f"it is in more than {DEEPEST_PATH} conditionals one in the other")
            if kind_of(op) in SWITCHES:
                predicate = origin(op.operands[1])
                count = len(op.results) if kind_of(op) == "_SwitchN" else 2
                self.branch_counts[predicate] = max(count, self.branch_counts.get(predicate, 0))
            elif kind_of(op) in MERGES:
                assert isinstance(op, FrameworkOp)
                nesting = self._add(op)
            self.nestings[op] = nesting

    def nesting_of(self, value: SSAValue) -> Nesting:
        """The path on which a value is computed; a result of a Switch is on the branch of its index."""
        op = value.owner
        if not isinstance(op, Operation) or op not in self.nestings:
            return OUTSIDE
        nesting = self.nestings[op]
        if kind_of(op) in SWITCHES and isinstance(value, OpResult):
            return Nesting((*nesting.path, (origin(op.operands[1]), value.index)), (*nesting.merges, 0))
        return nesting

    def _joined(self, op: Operation) -> Nesting:
        """The nesting of an operation: the deepest path among its operands, with the largest number of Merges at each
        level.
        """
        deepest = OUTSIDE
        for operand in op.operands:
            nesting = self.nesting_of(operand)
            if nesting is OUTSIDE:
                continue
            longer, shorter = (nesting, deepest) if len(nesting.path) >= len(deepest.path) else (deepest, nesting)
            merges = tuple(map(max, longer.merges, shorter.merges)) + longer.merges[len(shorter.merges) :]
            deepest = Nesting(longer.path, merges)
        return deepest

    def _add(self, merge: FrameworkOp) -> Nesting:
        """Add a Merge to the conditional whose branches it joins; returns the nesting of its result.

        Raises UnsupportedOperationError if no predicate decides between the operands.
        """
        nestings = [self.nesting_of(operand) for operand in merge.operands]
        longest = max(nestings, key=lambda nesting: len(nesting.path))
        level = self._level(nestings)
        if level < 0:
            raise unsupported(
                merge,
                "none of the branches it joins depends on a Switch, so what decides between them is not known",
                hint="save the model with control flow in functions (If), or freeze it with the predicate as a constant",
            )
        predicate = longest.path[level][0]
        count = self.branch_counts[predicate]
        branches = [
            nesting.path[level][1] if len(nesting.path) > level and nesting.path[level][0] is predicate else -1 for nesting in nestings
        ]
        free = [branch for branch in range(count) if branch not in branches]
        if len(nestings) != count or len(free) != branches.count(-1) or len(free) > 1:
            raise unsupported(merge, "it does not join the branches of one conditional")
        branches = [free[0] if branch < 0 else branch for branch in branches]
        path = longest.path[:level]
        merges = tuple(
            max(nesting.merges[index] if index < len(nesting.merges) else 0 for nesting in nestings) for index in range(level + 1)
        )
        conditional = self.conditionals.setdefault((predicate, path, merges), Conditional(predicate, path, count))
        conditional.merges.append(merge)
        conditional.arms.append([branches.index(branch) for branch in range(count)])
        return Nesting(path, (*merges[:-1], merges[-1] + 1))

    @staticmethod
    def _level(nestings: Sequence[Nesting]) -> int:
        """The innermost nesting level at which two of the paths take different branches of one predicate.

        If there is none, the innermost level of the longest path; -1 if all paths are empty.
        """
        longest = max(nestings, key=lambda nesting: len(nesting.path))
        for level in reversed(range(len(longest.path))):
            predicate, branch = longest.path[level]
            for nesting in nestings:
                if len(nesting.path) > level and nesting.path[level][0] is predicate and nesting.path[level][1] != branch:
                    return level
        return len(longest.path) - 1

    def raise_all(self) -> None:
        """Raise all conditionals, inner ones first."""
        self._drop_partial_results()
        for conditional in sorted(self.conditionals.values(), key=lambda each: -len(each.path)):
            self._raise(conditional)

    def _drop_partial_results(self) -> None:
        """Erase the Results on a branch, unless all Results are on branches.

        A frontend adds a Result for every value without uses, but a value on a branch is not an output of the model.
        """
        results = [op for op in self.block.ops if isinstance(op, Result)]
        partial = [op for op in results if self.nestings[op].path]
        if len(partial) < len(results):
            for op in partial:
                erase(op)

    def _raise(self, conditional: Conditional) -> None:
        captured: dict[SSAValue, int] = {}
        slices: list[list[Operation]] = []
        for branch in range(conditional.branches):
            slices.append(self._slice(conditional, branch, captured))
        regions = [self._region(conditional, branch, slices[branch], list(captured)) for branch in range(conditional.branches)]
        is_if = conditional.branches == 2 and not any(
            kind_of(use.operation) == "_SwitchN" for use in conditional.predicate.uses if use.index == 1
        )
        names = ["then_branch", "else_branch"] if is_if else ["branches"] * len(regions)
        first = conditional.merges[0]
        node = new_node(
            "If" if is_if else "Case",
            [conditional.predicate, *captured],
            {"graph_attributes": names},
            results=len(conditional.merges) + len(conditional.with_index),
            name=name_of(first),
            regions=regions[::-1] if is_if else regions,
        )
        node.location = merged([located(merge) for merge in conditional.merges])
        last = max(conditional.merges, key=lambda merge: self.position[merge])
        self.block.insert_op_before(node, last)
        self.nestings[node], self.position[node] = Nesting(conditional.path, self.nestings[last].merges), self.position[last]
        for index, merge in enumerate(conditional.merges):
            values = [node.results[index]]
            if index in conditional.with_index:
                values.append(node.results[len(conditional.merges) + conditional.with_index.index(index)])
            for result, value, names in zip(merge.results, values, tensor_names_of(merge), strict=False):
                add_tensor_names(value, names, required=any(isinstance(use.operation, Result) for use in result.uses))
                result.replace_all_uses_with(value)
            erase(merge)

    def _slice(self, conditional: Conditional, branch: int, captured: dict[SSAValue, int]) -> list[Operation]:
        """The operations on a branch of a conditional, in the order of the block.

        Adds the values that they use from outside to `captured`, each with its index.
        """
        depth = len(conditional.path)
        entry = (conditional.predicate, branch)
        operations: set[Operation] = set()
        pending = [merge.operands[arms[branch]] for merge, arms in zip(conditional.merges, conditional.arms, strict=True)]
        while pending:
            value = pending.pop()
            op = value.owner
            assert isinstance(op, Operation)
            if op in operations:
                continue
            if self._enters(value, conditional):
                captured.setdefault(origin(op.operands[0]), len(captured))
            elif isinstance(op, Constant) or (len(path := self.nestings[op].path) > depth and path[depth] == entry):
                operations.add(op)
                pending.extend(op.operands)
            else:
                captured.setdefault(value, len(captured))
        return sorted(operations, key=lambda op: self.position[op])

    def _enters(self, value: SSAValue, conditional: Conditional) -> bool:
        """Whether a value is a result of a Switch by the predicate of this conditional, at its level or further out."""
        op = value.owner
        return (
            kind_of(op) in SWITCHES
            and isinstance(op, Operation)
            and origin(op.operands[1]) is conditional.predicate
            and len(self.nestings[op].path) <= len(conditional.path)
        )

    def _region(self, conditional: Conditional, branch: int, inside: Sequence[Operation], captured: Sequence[SSAValue]) -> Region:
        """The region of a branch, with a Parameter for each captured value.

        The operations `inside` that only this branch uses are moved into it, all others cloned.
        """
        block = Block()
        values: dict[SSAValue, SSAValue] = {}
        for value in captured:
            parameter = new_parameter(value)
            block.add_op(parameter)
            values[value] = parameter.results[0]

        def value_inside(value: SSAValue) -> SSAValue:
            if self._enters(value, conditional):
                assert isinstance(value.owner, Operation)
                value = origin(value.owner.operands[0])
            return values.get(value, value)

        ends = [merge.operands[arms[branch]] for merge, arms in zip(conditional.merges, conditional.arms, strict=True)]
        users = {*inside, *conditional.merges}
        for op in inside:
            operands = [value_inside(operand) for operand in op.operands]
            if all(use.operation in users for result in op.results for use in result.uses) and not isinstance(op, Constant):
                op.detach()
                block.add_op(op)
                op.operands = operands
            else:
                mapped = dict(zip(op.operands, operands, strict=True))
                clone = op.clone(mapped)
                block.add_op(clone)
                values.update(zip(op.results, clone.results, strict=True))
        results = [value_inside(value) for value in ends]
        for number in conditional.with_index:
            index = new_integers(conditional.arms[number][branch])
            block.add_op(index)
            results.append(index.results[0])
        add_results(block, results)
        return Region(block)
