"""The models of forms on the CPU plugin against the definitions of their operations, each in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from moir.analysis.analyses import Analyses
from moir.dialects.moir import models_of
from moir.dialects.opset.control_flow import results_of
from moir.dialects.opset.convolution import ConvolutionBackpropData
from moir.dialects.opset.quantization import FakeQuantize
from moir.errors import ConversionError, EmissionError, ExecutionError, InferenceError
from moir.execution.evaluation import evaluate_block
from moir.execution.openvino_runtime import run_module
from moir.pipeline import load_pass
from moir.rewriting.driver import rewrite
from moir.targets.openvino_cpu.convolutions.convolution import FiltersOfDynamicShape
from moir.targets.registry import OPENVINO_CPU
from tests.fuzz.forms.models import model
from tests.numerical.forks import forked
from tests.numerical.workers import Died

FORMS = (*OPENVINO_CPU.preferred_forms, *OPENVINO_CPU.forms)
"""The forms in their order; those of states have tests of their own."""
SECONDS = 60.0


class AnyFilters(FiltersOfDynamicShape):
    """Writes every convolution as products, which numpy computes."""

    def may_match(self, op: Operation) -> bool:
        return not isinstance(op, ConvolutionBackpropData)


@dataclass(frozen=True)
class Outcome:
    """What became of a model.

    Args:
        verdict: "right", "skipped" (it makes no sense, or is refused), "wrong", "ends the process" or "fails".
        message: how much is wrong, or why it fails.
    """

    verdict: str
    message: str = ""


def meaning(module: ModuleOp, inputs: list[Any]) -> list[Any]:
    """The results of a module by the definitions of its operations."""
    rewrite(module, [AnyFilters()], analyses=Analyses(module))
    block = models_of(module)[0].block
    wanted = results_of(block)
    known = evaluate_block(block, inputs, wanted)
    return [known[each] for each in wanted]


def judged(form: str, seed: int, number: int) -> Outcome:
    """Compare a model in the forms of the target with its meaning."""
    try:
        with np.errstate(all="ignore"):
            module, inputs = model(form, seed, number)
            wanted = meaning(module.clone(), inputs)
    except (ConversionError, ExecutionError, InferenceError, ValueError) as error:
        return Outcome("skipped", str(error)[:200])
    try:
        for name in (*FORMS, "deduplicate", "eliminate-dead"):
            load_pass(name)().apply(Context(), module)
        module.verify()
    except ConversionError as error:
        return Outcome("skipped", str(error)[:200])
    try:
        actual = run_module(module, inputs)[0]
    except ExecutionError as error:
        return Outcome("fails", str(error).strip()[-200:])
    except EmissionError as error:
        return Outcome("skipped", str(error)[:200])
    levels = [_levels(each) for each in results_of(models_of(module)[0].block)]
    differences = [_difference(a, b, level) for a, b, level in zip(actual, wanted, levels, strict=True)]
    wrong = [each for each in differences if each]
    return Outcome("wrong", "; ".join(wrong)) if wrong else Outcome("right")


def _levels(value: SSAValue) -> int:
    """The number of levels to which a value is rounded; 0 if it is not."""
    return value.owner.integer("levels") if isinstance(value.owner, FakeQuantize) else 0


def _difference(actual: Any, wanted: Any, levels: int) -> str:
    """How a result differs from what it should be; empty if it does not. Of levels, a tenth may be the next one."""
    if actual.shape != np.shape(wanted):
        return f"shape {actual.shape} instead of {np.shape(wanted)}"
    a, b = (np.asarray(each).astype(np.float64) for each in (actual, wanted))
    finite = np.abs(b[np.isfinite(b)])
    largest = float(finite.max()) if finite.size else 1.0
    tolerance = 2e-2 if np.asarray(wanted).dtype.itemsize < 4 and np.asarray(wanted).dtype.kind in "fV" else 1e-3
    # What is not finite is compared by tests of its own.
    compared = np.isfinite(b)
    close = np.isclose(a, b, rtol=tolerance, atol=tolerance * max(largest, 1e-3))
    if close[compared].all():
        return ""
    if levels and np.mean(close[compared]) > 0.9 and np.abs(a - b)[compared].max() < 3 * largest / (levels - 1):
        return ""
    return f"{(~close & compared).sum()} of {close.size} elements by up to {np.nanmax(np.abs(a - b)[compared]):.3g} of {largest:.3g}"


def run(form: str, seed: int, numbers: range) -> Iterator[tuple[int, Outcome]]:
    """The outcome of each model of a form."""
    for name in FORMS:
        load_pass(name)  # once for all processes
    for number in numbers:
        try:
            answer = forked(partial(judged, form, seed, number), SECONDS)
        except RuntimeError as error:
            answer = Outcome("fails", str(error)[:200])
        yield number, Outcome("ends the process", answer.reason) if isinstance(answer, Died) else answer
