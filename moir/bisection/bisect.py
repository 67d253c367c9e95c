"""`bisect`: which step of a conversion changes the results of a model.

1. The passes run once; each state of the module after a pass that changed it is kept.
2. The outputs of the last state are compared with those of a reference.
3. If they are wrong, and those of the first state are not, binary search finds the first wrong state, and so the pass;
   running the pass again with its rewrites limited finds the rewrite, and comparing inner tensors the tensor.
4. If the first state is wrong, too, inner tensors of the lowered model are compared with those of the framework, which
   finds the node whose lowering is wrong.
5. In both cases the operations are computed by their definitions: if these agree with the reference, the plugin of the
   runtime is at fault.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from moir.bisection.examination import Examination
from moir.bisection.examined_conversion import opened
from moir.bisection.reference import reference_of
from moir.bisection.state_execution import StateExecution
from moir.bisection.verdict import Verdict
from moir.dialects.memory_map import Array
from moir.execution.comparison import QUANTIZED
from moir.execution.inputs import checked_ranges, explained_sizes, random_inputs
from moir.execution.integer_ranges import Ranges, ranges_by_use
from moir.execution.ports import interface_of
from moir.options import ConversionOptions
from moir.support.turns import in_turn


@in_turn
def bisect(
    model: str | Path | ModuleOp,
    *,
    inputs: Mapping[str, Array] | None = None,
    reference: Mapping[str, Array] | None = None,
    seed: int = 0,
    ranges: Ranges | None = None,
    tolerance: float | None = None,
    passes: str | Iterable[str | ModulePass] | None = None,
    reduce: bool = True,
    **options: Any,
) -> Verdict:
    """Find the step of a conversion that changes the results of a model.

    Args:
        model: a model file; or a module, which is converted by the passes that follow.
        inputs: arrays by the names of inputs; None for random ones.
        reference: arrays by the names of outputs, and of inner tensors; None for the results of the framework's own
            runtime if it is installed, else for those of the first state that can be run.
        seed: the seed of random inputs.
        ranges: the lowest and the highest value of random inputs, by name, in place of ranges inferred from their use.
        tolerance: the relative tolerance for floats, in place of those of `moir.execution.comparison`.
        passes: a pipeline in place of the default one.
        reduce: whether to look for a small model that fails in the same way.
        options: further options of the conversion, as in `moir.convert_model`.

    Raises UsageError for a mistake in the arguments, ConversionError if the model cannot be converted, and
    ExecutionError if it cannot be run.
    """
    return examined(
        model if isinstance(model, ModuleOp) else Path(model),
        ConversionOptions(**options),
        inputs=inputs,
        reference=reference,
        seed=seed,
        ranges=ranges,
        tolerance=tolerance,
        passes=passes,
        reduce=reduce,
    )


def examined(
    model: Path | ModuleOp,
    options: ConversionOptions,
    *,
    inputs: Mapping[str, Array] | None = None,
    reference: Mapping[str, Array] | None = None,
    seed: int = 0,
    ranges: Ranges | None = None,
    tolerance: float | None = None,
    passes: str | Iterable[str | ModulePass] | None = None,
    reduce: bool = True,
) -> Verdict:
    """`bisect` with the options of a conversion as one object."""
    start = time.perf_counter()
    with opened(model, options, passes) as conversion:
        states = conversion.states()
        ports = interface_of(states[-1].module).inputs
        arrays = inputs if inputs is not None else _random_inputs(states[-1].module, seed, ranges or {})
        if tolerance is None and any(op.name == "opset1.FakeQuantize" for op in states[-1].module.walk()):
            tolerance = QUANTIZED
        execution = StateExecution(conversion, arrays, tolerance)
        with explained_sizes(ports, arrays) if inputs is None else nullcontext():
            expected = reference_of(conversion, states, execution, reference)
        verdict = Examination(conversion, states, execution, expected, reduce=reduce).verdict()
    return verdict.with_fields(states=len(states), runs=execution.runs, seconds=time.perf_counter() - start)


def _random_inputs(module: ModuleOp, seed: int, ranges: Ranges) -> dict[str, Array]:
    """Random inputs of a module, in the given ranges, or in ranges inferred from how the model uses them.

    `seed` determines them.
    """
    ports = interface_of(module).inputs
    return random_inputs(ports, seed, ranges={**ranges_by_use(module), **checked_ranges(ports, ranges)})
