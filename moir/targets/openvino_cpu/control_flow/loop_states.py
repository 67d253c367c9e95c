"""States of loops that the CPU plugin overwrites before it reads them, or loses."""

from __future__ import annotations

from xdsl.ir import Operation

from moir.dialects.opset.control_flow import Loop, RepeatingOp, parameters_of
from moir.dialects.opset.infrastructure import Parameter, Result
from moir.rewriting.builder import OpBuilder
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form


class StatePassedOn(Pattern):
    """Copies a state that becomes the next value of another one.

        ^body:
          %a = opset1.Parameter()                          // a state, with a back edge from result 0
          %b = opset1.Parameter()                          // a state, with a back edge from result 1
          opset1.Result(%b)
          opset1.Result(%a)
    ->    opset1.Result(opset16.Identity(%b))
          opset1.Result(opset16.Identity(%a))

    Otherwise the runtime overwrites a state with the next value of the other state before it has read the old value.
    """

    roots = (RepeatingOp,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, RepeatingOp)
        results = [each for each in op.block.ops if isinstance(each, Result)]
        for port, parameter in zip(op.ports("inputs"), parameters_of(op.block), strict=True):
            if port.back_edge is None:
                continue
            result = results[port.back_edge]
            value = result.operands[0]
            if isinstance(value.owner, Parameter) and value.owner is not parameter:
                result.operands[0] = OpBuilder(rewriter.known.of_body(), op.block, result).Identity(value)
                rewriter.has_done_action = True


class StateWithoutUses(Pattern):
    """Adds a Result for a state that the body does not read, of a Loop that may have no iterations.

        %y = opset5.Loop(%n, true, %x) ({
          %0 = opset1.Parameter()                          // without uses
          opset1.Result(true)
          opset1.Result(…)                                 // the next value
        })
    ->    opset1.Result(%0)

    The runtime drops such a Parameter, but needs its value as the result of a Loop without iterations.
    """

    roots = (Loop,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, Loop)
        limits = [rewriter.known.constant(each) for each in op.operands[:2]]
        if all(each is not None and bool(each.all()) for each in limits):
            return
        for port, parameter in zip(op.ports("inputs"), parameters_of(op.block), strict=True):
            if port.back_edge is not None and not parameter.results[0].uses:
                op.block.add_op(Result.create(operands=[parameter.results[0]]))
                rewriter.has_done_action = True


FORMS = (
    Form(
        "copy-passed-states",
        (StatePassedOn,),
        after=("compute-gates", "step-through-sequences"),
        faults=(Fault("states-passed-on", "a loop of which a state becomes the next value of another one", "both are the same"),),
    ),
    Form(
        "keep-unread-states",
        (StateWithoutUses,),
        faults=(
            Fault(
                "states-without-uses",
                "a Loop without iterations, of which the body does not use a state",
                "the state is what the body computes",
            ),
        ),
    ),
)
