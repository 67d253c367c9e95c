"""`raise-while-frames`: the loops of TensorFlow 1 become While.

Such a loop is a frame: nodes Enter, Merge, Switch, NextIteration and Exit among the other nodes of the graph.

    %e = tf.Enter(%x) {frame_name = "while"}                          %y = tf.While(%x)
    %m = tf.Merge(%e, %none) {name = "while/Merge"}                       {graph_attributes = ["cond", "body"]} ({
    %c = tf.LoopCond(tf.Less(%m, %ten))                                   %p = opset1.Parameter()
    %s:2 = tf.Switch(%m, %c)                                      ->      opset1.Result(tf.Less(%p, %ten))
    tf.NextIteration(tf.Add(%s#1, %one)) {merge = "while/Merge"}      }, {
    %y = tf.Exit(%s#0)                                                    %q = opset1.Parameter()
                                                                          opset1.Result(tf.Add(%q, %one))
                                                                      })

Loops that are not connected are different ones, although their nodes may have one frame name: a graph that is imported
twice has all of its frames twice.

A value that enters a loop as a constant of the loop (an Enter without a Merge) becomes a loop-invariant variable.
Values computed only from constants may be used inside without an Enter; their computation is cloned into the regions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue

from moir.analysis.analyses import Analyses
from moir.analysis.order import sort_block, sorted_operations
from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.tensorflow import BACK_EDGES, MERGES, add_results, erase, kind_of, new_node, new_parameter, unsupported
from moir.dialects.locations import located, merged
from moir.dialects.moir import all_blocks, is_none
from moir.dialects.names import inherit_names, name_of
from moir.dialects.opset.infrastructure import Parameter
from moir.dialects.properties import value_of
from moir.raising.tensorflow.connected_loops import ENTERS, EXITS, connected_loops
from moir.rewriting.reporting_pass import ReportingPass

SWITCHES = ("Switch", "RefSwitch")

DEEPEST_NESTING = 100
"""Largest number of loops nested within one another."""


class RaiseWhileFramesPass(ReportingPass):
    """Raises the loops of TensorFlow 1 to While, inner ones first."""

    name = "raise-while-frames"

    ROOTS = tuple(f"tf.{kind}" for kind in ENTERS)

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        changed = False
        for block in all_blocks(module):
            if any(kind_of(each) in ENTERS for each in block.ops):
                Frames(block).raise_all()
                sort_block(block)
                changed = True
        return changed


@dataclass(eq=False)
class Frame:
    """The nodes of one loop, in the order of the block, and the loop around it."""

    name: str
    parent: Frame | None = None
    enters: list[FrameworkOp] = field(default_factory=list[FrameworkOp])
    exits: list[FrameworkOp] = field(default_factory=list[FrameworkOp])
    operations: list[Operation] = field(default_factory=list[Operation])

    @property
    def depth(self) -> int:
        """Number of loops around this one."""
        depth, outer = 0, self.parent
        while outer is not None:
            depth, outer = depth + 1, outer.parent
        return depth


def _entering(merge: Operation) -> SSAValue:
    """The initial value of a loop variable: the operand of the Enter that feeds its Merge."""
    enter = next(operand.owner for operand in merge.operands if kind_of(operand.owner) in ENTERS)
    assert isinstance(enter, Operation)
    return enter.operands[0]


class Frames:
    """Assigns the operations of a block to its loops, and raises them."""

    def __init__(self, block: Block) -> None:
        self.block = block
        self.loops = connected_loops(block)
        self.frames: dict[Operation, Frame] = {}
        self.frame_of: dict[Operation, Frame | None] = {}
        """The loop of each operation; None for those outside of loops."""
        self.fixed: set[Operation] = set()
        """Operations outside of loops that depend on constants only."""
        self.back_edges: dict[tuple[str, int], FrameworkOp] = {}
        # The parent of a loop is known once a value that is not constant has entered the loop. Each round finds at
        # least the parents of one more level.
        while self._assign():
            pass

    def _assign(self) -> bool:
        """Assign operations to loops; returns whether a loop got a parent, which changes the assignment."""
        changed = False
        for frame in self.frames.values():
            frame.enters, frame.exits, frame.operations = [], [], []
        for op in self.block.ops:
            kind, frame = kind_of(op), self._frame_of_operands(op)
            if kind in ENTERS:
                assert isinstance(op, FrameworkOp)
                changed |= self._enter(op, frame)
                continue
            self.frame_of[op] = frame
            if frame is None:
                if not isinstance(op, Parameter) and all(operand.owner in self.fixed for operand in op.operands):
                    self.fixed.add(op)
                continue
            if isinstance(op, FrameworkOp) and kind in EXITS:
                frame.exits.append(op)
                self.frame_of[op] = frame.parent
            else:
                frame.operations.append(op)
            if isinstance(op, FrameworkOp) and kind in BACK_EDGES:
                self.back_edges[value_of(op.properties["merge"]), op.integer("index")] = op
        return changed

    def _enter(self, op: FrameworkOp, outer: Frame | None) -> bool:
        name = op.text("frame_name")
        frame = self.frames.setdefault(self.loops[op], Frame(name))
        frame.enters.append(op)
        self.frame_of[op] = frame
        if outer is frame:
            raise unsupported(op, f"a value of the loop {name} enters it again")
        if outer is None or outer is frame.parent:
            return False
        if frame.parent is not None:
            raise unsupported(op, f"the loop {name} takes values of two loops, {outer.name} and {frame.parent.name}")
        frame.parent = outer
        around: Frame | None = outer
        for _ in range(DEEPEST_NESTING):
            if around is frame:
                raise unsupported(op, f"the loop {name} is inside itself")
            if around is None:
                return True
            around = around.parent
        raise unsupported(op, f"it is in more than {DEEPEST_NESTING} loops one in the other")

    def _frame_of_operands(self, op: Operation) -> Frame | None:
        operand_frame: Frame | None = None
        for operand in op.operands:
            frame = self.frame_of.get(operand.owner) if isinstance(operand.owner, Operation) else None
            if frame is None or frame is operand_frame:
                continue
            if operand_frame is not None:
                raise unsupported(op, f"it takes values of two loops, {operand_frame.name} and {frame.name}")
            operand_frame = frame
        return operand_frame

    def raise_all(self) -> None:
        """Raise all loops, inner ones first."""
        for frame in sorted(self.frames.values(), key=lambda frame: -frame.depth):
            loop = FrameRaising(self, frame).loop
            self.frame_of[loop] = frame.parent
            if frame.parent is not None:
                frame.parent.operations.append(loop)


class FrameRaising:
    """Replaces one loop by a While.

    The variables of the While are the Merges with a back edge, then the loop-invariant values.
    """

    def __init__(self, frames: Frames, frame: Frame) -> None:
        self.frames, self.frame = frames, frame
        # The While of an inner loop was appended after its users.
        frame.operations = sorted_operations(frame.operations)
        self.members = set(frame.operations)
        conditions = [op for op in frame.operations if kind_of(op) == "LoopCond"]
        if len(conditions) != 1:
            raise unsupported(frame.enters[0], f"the loop {frame.name} has {len(conditions)} nodes LoopCond where it should have one")
        self.condition = conditions[0]
        entering = set(frame.enters)
        self.merges = [op for op in frame.operations if kind_of(op) in MERGES and any(operand.owner in entering for operand in op.operands)]
        merged: set[object] = {operand.owner for merge in self.merges for operand in merge.operands}
        constant = [op for op in frame.enters if op not in merged]
        self.invariants: list[SSAValue] = [op.results[0] for op in constant]
        self.initial = [_entering(merge) for merge in self.merges] + [op.operands[0] for op in constant]
        self._let_in(frame.operations)
        self.loop = self._raise()

    def _let_in(self, operations: Sequence[Operation]) -> None:
        """Turn values from outside the loop that `operations` use without an Enter into invariants of the loop, except
        constants.
        """
        for op in operations:
            for operand in op.operands:
                owner = operand.owner
                inside = owner in self.members or owner in self.frames.fixed or kind_of(owner) in ENTERS or is_none(owner)
                if not inside and operand not in self.invariants:
                    self.invariants.append(operand)
                    self.initial.append(operand)

    def _raise(self) -> FrameworkOp:
        variables = [merge.results[0] for merge in self.merges] + self.invariants
        cond = self._cond(variables)
        back_edges = [self._back_edge(merge) for merge in self.merges]
        block = Block()
        parameters = [new_parameter(value) for value in self.initial]
        block.add_ops(parameters)
        switches = [self._switch(merge) for merge in self.merges]
        for switch, parameter in zip(switches, parameters, strict=False):
            if switch is not None and len(switch.results) > 1:
                switch.results[1].replace_all_uses_with(parameter.results[0])
        inside = self._needed([op.operands[0] for op in back_edges])
        for variable, parameter in zip(variables, parameters, strict=True):
            for use in list(variable.uses):
                if use.operation in inside or use.operation in back_edges:
                    use.operation.operands[use.index] = parameter.results[0]
        values = [op.operands[0] for op in back_edges] + [parameter.results[0] for parameter in parameters[len(back_edges) :]]
        clones: dict[SSAValue, SSAValue] = {}
        for op in self.frame.operations:
            if op in inside:
                self._bring_in(op.operands, block, clones)
                op.operands = [clones.get(operand, operand) for operand in op.operands]
                op.detach()
                block.add_op(op)
        self._bring_in(values, block, clones)
        add_results(block, [clones.get(value, value) for value in values])
        sort_block(block)
        loop = new_node(
            "While",
            self.initial,
            {"graph_attributes": ["cond", "body"]},
            results=len(values),
            name=self.frame.name.removesuffix("/while_context"),
            regions=[cond, Region(block)],
        )
        loop.location = merged([located(op) for op in (*self.merges, self.condition, *self.frame.enters, *self.frame.exits)])
        self.frames.block.insert_op_after(loop, self.frame.enters[-1])
        self._replace_exits(loop, {switch: index for index, switch in enumerate(switches) if switch is not None})
        self._erase(inside)
        return loop

    def _cond(self, variables: Sequence[SSAValue]) -> Region:
        """The region that computes the condition, built from clones."""
        block = Block()
        parameters = [new_parameter(value) for value in self.initial]
        block.add_ops(parameters)
        clones: dict[SSAValue, SSAValue] = {
            variable: parameter.results[0] for variable, parameter in zip(variables, parameters, strict=True)
        }
        inside = self._needed([self.condition.operands[0]])
        for op in self.frame.operations:
            if op in inside:
                self._bring_in(op.operands, block, clones)
                block.add_op(op.clone(clones))
        self._bring_in(self.condition.operands, block, clones)
        add_results(block, [clones.get(self.condition.operands[0], self.condition.operands[0])])
        return Region(block)

    def _needed(self, values: Sequence[SSAValue]) -> set[Operation]:
        """The operations of the loop that values depend on, up to the variables of the loop."""
        merges = set(self.merges)
        operations: set[Operation] = set()
        pending = [value.owner for value in values]
        while pending:
            op = pending.pop()
            if isinstance(op, Operation) and op in self.members and op not in merges and op not in operations:
                operations.add(op)
                pending.extend(operand.owner for operand in op.operands)
        return operations

    def _bring_in(self, values: Sequence[SSAValue], block: Block, clones: dict[SSAValue, SSAValue]) -> None:
        """Clone into a block the constant computations outside of the loop that `values` depend on.

        The clones are added to `clones`, which maps values outside to values inside.
        """
        pending = list(values)
        while pending:
            value = pending[-1]
            op = value.owner
            if value in clones or not isinstance(op, Operation) or op not in self.frames.fixed:
                pending.pop()
                continue
            missing = [operand for operand in op.operands if operand.owner in self.frames.fixed and operand not in clones]
            if missing:
                pending.extend(missing)
                continue
            block.add_op(op.clone(clones))

    def _back_edge(self, merge: Operation) -> FrameworkOp:
        name = name_of(merge) or ""
        for index in range(len(merge.operands)):
            edge = self.frames.back_edges.get((name, index))
            if edge is not None:
                return edge
        raise unsupported(merge, f"no NextIteration feeds this variable of the loop {self.frame.name}")

    def _switch(self, merge: Operation) -> Operation | None:
        """The Switch of the variable of a Merge by the condition of the loop; None if only the condition uses the
        variable.
        """
        for use in merge.results[0].uses:
            if kind_of(use.operation) in SWITCHES and use.index == 0 and use.operation.operands[1].owner is self.condition:
                return use.operation
        return None

    def _replace_exits(self, loop: FrameworkOp, numbers: dict[Operation, int]) -> None:
        for op in self.frame.exits:
            switch = op.operands[0].owner
            if not isinstance(switch, Operation) or switch not in numbers:
                raise unsupported(op, f"the value that leaves the loop {self.frame.name} here is not a variable of the loop")
            result = loop.results[numbers[switch]]
            inherit_names(op, [result])
            op.results[0].replace_all_uses_with(result)
            erase(op)

    def _erase(self, inside: set[Operation]) -> None:
        """Erase the remaining nodes of the loop. Raises ConversionError for a value that is used without an Exit."""
        rest = [op for op in self.frame.operations if op not in inside]
        left = [*reversed(rest), *self.frame.enters]
        erased = set(left)
        for op in left:
            user = next((use.operation for result in op.results for use in result.uses if use.operation not in erased), None)
            if user is not None:
                reason = f"{user.name} {name_of(user) or ''!r} uses a value of the loop {self.frame.name} that does not leave it"
                raise unsupported(op, reason)
        for op in left:
            op.detach()
            op.drop_all_references()
        for op in left:
            op.erase(safe_erase=False)
