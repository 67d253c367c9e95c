"""`raise-tensor-lists`: the variables of a While are classified by how an iteration uses them.

A variable is a state, a list read element by element (sliced), a list written element by element (joined), a value of
the last iteration only, or loop-invariant. Counters that only bound the loop become a trip count.

    %y:3 = tf.While(%zero, %list, %reserved) ({           %e = tf.While(%list, %n)
        Less(%i, %n)                                          {sliced = [0], joined = 1, bounds = [0]} ({
    }, {                                                      %x = opset1.Parameter()
        %x = tf.TensorListGetItem(%xs, %i)            ->      opset1.Result(tf.Exp(%x))
        %r = tf.TensorListSetItem(%ys, %i, Exp(%x))       })
        opset1.Result(tf.AddV2(%i, 1)) …                  %ys = tf.TensorListSetRange(%reserved, %e) {start = 0}
    })

The raised While has these operands, each group possibly empty: states, sliced lists, invariants, bounds. The Parameters
of its body stand for the first three groups. The Results of its body, and likewise the results of the While, are the
states, the elements of joined lists, and the values of the last iteration. `cond` has Parameters for states and
invariants.

    sliced      for each sliced list, the index of the element that the first iteration reads
    joined      number of results that are lists
    last        number of results that are values of the last iteration
    invariants  number of operands that are invariants
    bounds      for each bound b, the start s of the counter that stays below it: the body runs min(b - s) times, and
        there is no `cond`

Variables that neither the condition nor a live result depends on are removed. A list of one element that every
iteration overwrites is replaced by a state with the same value, if there is one; that differs from TensorFlow only for
a loop that runs no iteration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, Region, SSAValue

from moir.analysis.analyses import Analyses
from moir.dialects.framework import FrameworkOp
from moir.dialects.frameworks.tensorflow import (
    add_results,
    erase,
    integer_of,
    is_set,
    kind_of,
    new_integers,
    new_node,
    origin,
)
from moir.dialects.inference import set_type
from moir.dialects.locations import located
from moir.dialects.moir import all_blocks, models_of
from moir.dialects.names import add_tensor_names, name_of, tensor_names_of
from moir.dialects.opset.control_flow import parameters_of, results_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.dialects.properties import value_of
from moir.dialects.shapes import tensor
from moir.errors import UnsupportedOperationError
from moir.raising.tensorflow.list_uses import (
    LISTS,
    are_lengths_for,
    declare_read_shapes,
    drop_unwritten_results,
    is_length,
    is_single,
    uses_of,
)
from moir.raising.tensorflow.loop_counters import Counters
from moir.rewriting.dead_code import eliminate_dead
from moir.rewriting.reporting_pass import ReportingPass

WHILES = ("While", "StatelessWhile", "XlaWhile")


class RaiseTensorListsPass(ReportingPass):
    """Classifies the variables of every While: states, counters, invariants, and lists of slices and results."""

    name = "raise-tensor-lists"

    ROOTS = tuple(f"tf.{kind}" for kind in (*WHILES, *LISTS))

    def run(self, module: ModuleOp, analyses: Analyses) -> bool:
        for model in models_of(module):
            drop_unwritten_results(model.block)
        for block in all_blocks(module):
            declare_read_shapes(block)
        for block in list(all_blocks(module)):
            for each in list(block.ops):
                if kind_of(each) in WHILES and "invariants" not in each.properties:
                    assert isinstance(each, FrameworkOp)
                    WhileRaising(each).raise_lists()
        return True


@dataclass
class Variable:
    """A variable of a While.

    Args:
        number: its index among the operands of the While.
        initial: the operand of the While.
        condition: its Parameter in the condition.
        parameter: its Parameter in the body.
        value: the value that the body yields for the next iteration.
        role: `state`, `invariant`, `sliced`, `joined`, `pushed` (a list that each iteration appends to) or `last`.
        start: index of the first element that the loop reads or writes.
        grows: whether a list gets longer where the loop writes beyond its end.
        reads: the operations that read an element of a sliced list.
    """

    number: int
    initial: SSAValue
    condition: SSAValue
    parameter: SSAValue
    value: SSAValue
    role: str = "state"
    start: int = 0
    grows: bool = False
    reads: tuple[Operation, ...] = ()

    @property
    def is_invariant(self) -> bool:
        """Whether the body yields it unchanged."""
        return origin(self.value) is self.parameter


class WhileRaising:
    """Raises one While."""

    def __init__(self, op: FrameworkOp) -> None:
        self.op = op
        names = value_of(op.properties["graph_attributes"]) if "graph_attributes" in op.properties else ()
        if sorted(names) != ["body", "cond"]:
            self._fail("it does not have a body and a condition")
        self.cond, self.body = (op.regions[names.index(name)] for name in ("cond", "body"))
        groups = (
            list(op.operands),
            [parameter.results[0] for parameter in parameters_of(self.cond.block)],
            [parameter.results[0] for parameter in parameters_of(self.body.block)],
            results_of(self.body.block),
        )
        if len({len(group) for group in groups}) > 1 or len(op.results) > len(groups[0]) or len(results_of(self.cond.block)) != 1:
            self._fail("its operands do not fit its body and its condition")
        self.variables = [Variable(index, *values) for index, values in enumerate(zip(*groups, strict=True))]
        self.counters = Counters(op, self.cond.block, [(v.initial, v.condition, v.parameter, v.value) for v in self.variables])
        self.bounds = self.counters.bounds()

    def _fail(self, reason: str) -> NoReturn:
        raise UnsupportedOperationError(reason, operation=self.op.name, node=name_of(self.op))

    def raise_lists(self) -> None:
        """Replace the While by the raised one."""
        for variable in self.variables:
            self._classify(variable)
        for variable in self.variables:
            if variable.role == "sliced":
                self._take_elements(variable)
        for variable in self.variables:
            if variable.role in ("joined", "pushed", "last"):
                written = origin(variable.value).owner
                assert isinstance(written, Operation)
                variable.value = written.operands[-1]
        replacing = {
            variable.number: state for variable in self.variables if variable.role == "last" and (state := self._same_state(variable))
        }
        needed = self._needed(replacing)
        groups = {role: [v for v in self.variables if v.role == role and v.number in needed] for role in ("state", "sliced", "invariant")}
        joined = [v for v in self.variables if v.role in ("joined", "pushed") and v.number in needed]
        last = [v for v in self.variables if v.role == "last" and v.number in needed and v.number not in replacing]
        inputs = [*groups["state"], *groups["sliced"], *groups["invariant"]]
        outputs = [*groups["state"], *joined, *last]
        node = new_node(
            "While",
            [*(variable.initial for variable in inputs), *(value for _, value in self.bounds)],
            {
                "graph_attributes": ["body"] if self.bounds else ["cond", "body"],
                "sliced": [variable.start for variable in groups["sliced"]],
                "joined": len(joined),
                "last": len(last),
                "invariants": len(groups["invariant"]),
                "bounds": [start for start, _ in self.bounds],
            },
            results=len(outputs),
            name=name_of(self.op),
            regions=self._regions(inputs, outputs, [*groups["state"], *groups["invariant"]]),
        )
        self._insert(node)
        self._replace({variable.number: result for variable, result in zip(outputs, node.results, strict=True)}, replacing)
        erase(self.op)

    def _insert(self, op: Operation) -> None:
        assert self.op.parent is not None
        op.location = located(self.op)
        self.op.parent.insert_op_before(op, self.op)

    def _classify(self, variable: Variable) -> None:
        """Set the role of a variable by its uses in the body, and the fields that the role needs: `start`, `grows` or
        `reads`.
        """
        uses = [use for use in uses_of(variable.parameter) if not isinstance(use.operation, Result)]
        if variable.is_invariant:
            variable.role = "invariant"
            starts = {self._start(use.operation.operands[1]) for use in uses if kind_of(use.operation) == "TensorListGetItem"}
            reads_only = bool(uses) and all(kind_of(use.operation) == "TensorListGetItem" and use.index == 0 for use in uses)
            if reads_only and self.bounds and len(starts) == 1 and None not in starts and not variable.condition.uses:
                variable.role, variable.start = "sliced", starts.pop() or 0
                variable.reads = tuple(use.operation for use in uses)
            return
        written = origin(variable.value).owner
        kind = kind_of(written)
        if kind not in ("TensorListSetItem", "TensorListPushBack") or variable.condition.uses:
            return
        assert isinstance(written, FrameworkOp)
        variable.grows = is_set(written, "resize_if_index_out_of_bounds")
        appends = kind == "TensorListPushBack" or (variable.grows and is_length(written.operands[1], variable.parameter))
        others = [use for use in uses if use.operation is not written or use.index != 0]
        alone = len(others) == len(uses) - 1 and (not others or (appends and are_lengths_for(others, written)))
        if not alone or len(list(uses_of(written.results[0]))) != 1:
            return
        if appends:
            variable.role = "pushed"
        elif (start := self._start(written.operands[1])) is not None:
            variable.role, variable.start = "joined", start
        elif integer_of(written.operands[1]) == 0 and is_single(variable.initial):
            variable.role = "last"

    def _start(self, index: SSAValue) -> int | None:
        """The value, in the first iteration, of an index that is a counter plus or minus a constant.

        None if the index is computed in another way, or the value is negative.
        """
        start = self.counters.start(index)
        return None if start is None or start < 0 else start

    def _take_elements(self, variable: Variable) -> None:
        """Replace the Parameter for a sliced list by the element that the iteration reads."""
        variable.value = variable.parameter
        for read in variable.reads:
            if (element := read.properties.get("element_dtype")) is not None:
                set_type(variable.parameter, tensor(None, element))
            read.results[0].replace_all_uses_with(variable.parameter)
            for other in self.variables:
                if other.value is read.results[0]:
                    other.value = variable.parameter

    def _same_state(self, variable: Variable) -> Variable | None:
        """The loop-carried state for which the body yields the same value as for a variable; None if there is none."""
        value = origin(variable.value)
        return next((other for other in self.variables if other.role == "state" and origin(other.value) is value), None)

    def _is_result_used(self, variable: Variable) -> bool:
        return variable.number < len(self.op.results) and bool(self.op.results[variable.number].uses)

    def _needed(self, replacing: dict[int, Variable]) -> set[int]:
        """The indices of the loop variables that live results and the condition depend on.

        `replacing` has the index of a variable of the last iteration -> the state with the same value, which replaces
        it.
        """
        by_parameter = {variable.parameter: variable for variable in self.variables}
        numbers: set[int] = set()
        pending: list[SSAValue] = []

        def add(variable: Variable) -> None:
            if variable.number not in numbers:
                numbers.add(variable.number)
                pending.append(variable.value)

        for variable in self.variables:
            if self._is_result_used(variable) and variable.role not in ("sliced", "invariant"):
                add(replacing.get(variable.number, variable))
        if not self.bounds:
            used = _cone(results_of(self.cond.block))
            for variable in self.variables:
                if variable.condition in used:
                    add(variable)
        seen: set[SSAValue] = set()
        while pending:
            for value in _cone([pending.pop()], seen):
                if value in by_parameter:
                    add(by_parameter[value])
        return numbers

    def _regions(self, inputs: list[Variable], outputs: list[Variable], of_cond: list[Variable]) -> list[Region]:
        regions: list[Region] = []
        if not self.bounds:
            conditions = results_of(self.cond.block)
            regions.append(_reformed(self.op, self.cond, [variable.condition for variable in of_cond], conditions))
        regions.append(_reformed(self.op, self.body, [variable.parameter for variable in inputs], [variable.value for variable in outputs]))
        return regions

    def _replace(self, results: dict[int, SSAValue], replacing: dict[int, Variable]) -> None:
        names = tensor_names_of(self.op)
        for variable in self.variables:
            if not self._is_result_used(variable):
                continue
            old = self.op.results[variable.number]
            if variable.role in ("sliced", "invariant"):
                new = variable.initial
            elif variable.number in replacing:
                new = self._as_tensor_list(variable, results[replacing[variable.number].number])
            else:
                new = self._as_tensor_list(variable, results[variable.number])
            is_output = any(isinstance(use.operation, Result) for use in old.uses)
            add_tensor_names(new, names[variable.number], required=is_output)
            old.replace_all_uses_with(new)

    def _is_complete(self, variable: Variable) -> bool:
        """Whether the loop writes a list up to its end, so that the list's length is the bound of the loop."""
        made = origin(variable.initial).owner
        while kind_of(made) == "TensorListSetItem" and isinstance(made, Operation):
            made = origin(made.operands[0]).owner
        if kind_of(made) != "TensorListReserve" or not isinstance(made, Operation) or len(self.bounds) != 1:
            return False
        start, bound = self.bounds[0]
        return start == variable.start and origin(made.operands[1]) is origin(bound)

    def _as_tensor_list(self, variable: Variable, value: SSAValue) -> SSAValue:
        """The value of a variable after the loop, from a result of the raised While; a list is built from the
        elements.
        """
        match variable.role:
            case "joined":
                grows = {"resize_if_index_out_of_bounds": True} if variable.grows else {}
                properties = {"start": variable.start, "complete": self._is_complete(variable), **grows}
                node = new_node("TensorListSetRange", [variable.initial, value], properties)
            case "pushed":
                node = new_node("TensorListConcatLists", [variable.initial, value])
            case "last":
                zero, shape = new_integers(0), new_integers(-1)
                element = new_node("ExpandDims", [value, zero.results[0]])
                node = new_node("TensorListFromTensor", [element.results[0], shape.results[0]])
                for op in (zero, shape, element):
                    self._insert(op)
            case _:
                return value
        self._insert(node)
        return node.results[0]


def _cone(values: list[SSAValue], seen: set[SSAValue] | None = None) -> set[SSAValue]:
    """The values and all values they are computed from, except those in `seen`, to which they are added."""
    seen = set() if seen is None else seen
    cone: set[SSAValue] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if value in seen:
            continue
        seen.add(value)
        cone.add(value)
        if isinstance(value, OpResult):
            pending.extend(value.op.operands)
    return cone


def _reformed(op: FrameworkOp, region: Region, parameters: list[SSAValue], results: list[SSAValue]) -> Region:
    """Detach a region, with `parameters` in place of its Parameters and `results` as operands of its Results, in
    order.
    """
    block = region.block
    op.detach_region(region)
    for each in list(block.ops):
        if isinstance(each, Result):
            erase(each)
    add_results(block, results)
    eliminate_dead(block)
    kept = set(parameters)
    for parameter in parameters_of(block):
        parameter.detach()
        if parameter.results[0] not in kept:
            parameter.drop_all_references()
            parameter.erase()
    first = block.first_op
    for value in parameters:
        parameter = value.owner
        assert isinstance(parameter, Parameter)
        assert first is not None
        block.insert_op_before(parameter, first)
    return region
