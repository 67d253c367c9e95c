"""The operations that `--keep-precision auto` marks: those that a check of the model in f16, with random inputs,
reports.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from moir.checking.input_ranges import ranges_by_name
from moir.checking.precision import examine_precision
from moir.execution.inputs import explained_sizes, random_inputs
from moir.execution.integer_ranges import ranges_by_use
from moir.execution.ports import interface_of

PRECISION = "f16"


def operations_to_keep(module: ModuleOp) -> tuple[list[Operation], str]:
    """The operations that have to be in f32 where the others are in f16, and a note for the user.

    Args:
        module: a module in opset dialects, ready to be written. Its inputs are random, with the ranges of indices;
            masks mask nothing.

    Raises UsageError if an input is of dynamic rank, ExecutionError if the module cannot be run.
    """
    ports = interface_of(module).inputs
    inputs = random_inputs(ports, 0, ranges={**ranges_by_use(module), **ranges_by_name(ports)})
    with explained_sizes(ports, inputs):
        examination = examine_precision(module, [inputs], PRECISION)
    check, count = examination.check, len(examination.kept)
    before = f"--keep-precision: in {PRECISION} the outputs {_distance(check.error)} for random inputs"
    if check.agrees:
        return [], f"{before}, nothing is kept in f32"
    if not count:
        return [], f"{before}, and no operation alone is at fault"
    return list(examination.kept), f"{before}; with {count} operations in f32 they {_distance(check.kept_error)}"


def _distance(error: float | None) -> str:
    return "are not finite" if error is None else f"differ by {error:.2g}"
