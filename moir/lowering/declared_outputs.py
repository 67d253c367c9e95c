"""Notes about outputs whose inferred types contradict the types that the file declares.

    %1 = onnx.Relu(%0) : tensor<5x5xui16>        // the type that the file declares for the output
    opset1.Result(%1) {name = "y"}
->  %1 = opset1.Relu(%0) : tensor<1x1x9x9xf32>
    note: output 'y' is declared as tensor<5x5xui16>, but what the model computes is tensor<1x1x9x9xf32>

Frontends give the results of operations the types that the file declares. A lowering replaces these types by inferred
ones, which the IR gets. Exporters declare wrong sizes now and then, and new shapes of inputs change sizes, so that only
element types and ranks are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.ir import Attribute, Block

from moir.dialects.element_types import dynamic
from moir.dialects.framework import FrameworkOp
from moir.dialects.names import name_of
from moir.dialects.opset.infrastructure import Result
from moir.dialects.shapes import UNKNOWN, element_of, rank_of


def declared_outputs(block: Block) -> list[tuple[Result, Attribute]]:
    """The outputs of a model that have a declared type, with that type. The Results are last in its block."""
    outputs: list[tuple[Result, Attribute]] = []
    op = block.last_op
    while isinstance(op, Result):
        value = op.operands[0]
        if isinstance(value.owner, FrameworkOp) and value.type != UNKNOWN:
            outputs.append((op, value.type))
        op = op.prev_op
    return outputs[::-1]


def contradictions(declared: Iterable[tuple[Result, Attribute]]) -> Iterator[str]:
    """Yields a note for each output whose element type or rank differs from the declared one."""
    for result, type_ in declared:
        computed = result.operands[0].type
        if _differ(element_of(type_), element_of(computed), dynamic) or _differ(rank_of(type_), rank_of(computed), None):
            yield f"output {name_of(result)!r} is declared as {type_}, but what the model computes is {computed}"


def _differ(declared: object, computed: object, unknown: object) -> bool:
    """Whether a declared and a computed type or shape contradict each other; False if one of them is `unknown`."""
    return declared not in (computed, unknown) and computed != unknown
