"""The content of a page that shows two models beside each other, with their differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from moir.dialects.interface import computations, count_kinds, inputs_of, outputs_of
from moir.dialects.moir import ModelOp, models_of
from moir.difference.comparison import Comparison, compared
from moir.report_page.snapshots import Snapshots

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp


def content_of_difference(first: ModuleOp, second: ModuleOp, names: tuple[str, str]) -> dict[str, Any]:
    """The content of the page for two modules, as values of JSON.

    Args:
        first: a module, which is shown on the left.
        second: the other one.
        names: the names of the two models.

    The content is that of `ReportRecorder.content` with a state for each module. Corresponding operations have one
    number; `differences` has their differences by this number: a name, and both values.
    """
    comparison = compared(first, second)
    snapshots = Snapshots()
    stages: list[dict[str, Any]] = []
    for index, (module, name) in enumerate(zip((first, second), names, strict=True)):
        if index:
            snapshots.identify({b: a for a, b in comparison.pairs.items()})
        snapshots.add(module, even_if_equal=True)
        stages.append(
            {
                "number": index,
                "name": name,
                "seconds": 0,
                "state": index,
                "changed": True,
                "kinds": dict(count_kinds(module).most_common()),
            }
        )
    return {
        "difference": True,
        "stages": stages,
        "states": snapshots.states,
        "records": snapshots.records,
        "rewrites": [],
        "origins": {},
        "unsupported": [],
        "inputs": [str(port) for model in models_of(second)[:1] for port in inputs_of(model)],
        "outputs": [str(port) for model in models_of(second)[:1] for port in outputs_of(model)],
        "error": None,
        "differences": {
            snapshots.number(op): [[each.what, each.before, each.after] for each in changes] for op, changes in comparison.differing.items()
        },
        "summary": _summary(comparison),
    }


def _summary(comparison: Comparison) -> str:
    """The number of differences of each sort, in words.

    Constants of one model alone are not counted, because the page hides constants.
    """
    numbers_of_kinds = comparison.result()
    if numbers_of_kinds.is_empty:
        return "The models do not differ."
    is_computation = computations()
    first, second = (
        sum(is_computation(each.operation) or each.operation == ModelOp.name for each in only)
        for only in (numbers_of_kinds.removed, numbers_of_kinds.added)
    )
    counts = ((first, "only in the first"), (second, "only in the second"), (len(comparison.differing), "changed"))
    parts = [f"{count} operation{'' if count == 1 else 's'} {what}" for count, what in counts if count]
    if numbers_of_kinds.interfaces:
        parts.append(f"{len(numbers_of_kinds.interfaces)} input{'' if len(numbers_of_kinds.interfaces) == 1 else 's'} or outputs differ")
    return ", ".join(parts) or "Only constants differ."
