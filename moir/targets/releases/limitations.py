"""Operations that older releases read but compute wrongly, as samples of `python -m scripts.runtimes --lowered`
show.
"""

from __future__ import annotations

from moir.dialects.element_types import boolean
from moir.dialects.opset.control_flow import Loop
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.shapes import element_of
from moir.targets.releases.expansions.control_flow import states_without_iterations
from moir.targets.releases.expansions.detection import has_filled_rows
from moir.targets.releases.expansions.pooling import has_partial_windows
from moir.targets.releases.record import Limitation

_EXPANSIONS = "moir.targets.releases.expansions"


def _has_boolean_mask(op: OpsetOp) -> bool:
    mask = op.optional_operand(3)
    return mask is not None and element_of(mask) == boolean and not op.flag("causal")


def _may_have_no_iterations(op: OpsetOp) -> bool:
    return isinstance(op, Loop) and bool(states_without_iterations(op))


LIMITATIONS = (
    Limitation(
        "opset13.ScaledDotProductAttention",
        "2024.0",
        lambda _: True,
        "masks of fewer dimensions than the scores, and values of another size than the keys",
        f"{_EXPANSIONS}.attention:attention",
    ),
    Limitation(
        "opset13.ScaledDotProductAttention",
        "2026.0",
        lambda op: op.optional_operand(5) is not None,
        "scores of sinks",
        f"{_EXPANSIONS}.attention:attention",
    ),
    Limitation(
        "opset13.ScaledDotProductAttention",
        "2025.4",
        _has_boolean_mask,
        "boolean masks",
        f"{_EXPANSIONS}.attention:attention_of_scores",
    ),
    Limitation(
        "opset1.AvgPool",
        "2024.0",
        has_partial_windows,
        "means of windows that end behind the data",
        f"{_EXPANSIONS}.pooling:average_of_elements",
    ),
    *(
        Limitation(
            f"opset{version}.NonMaxSuppression",
            "2023.0",
            has_filled_rows,
            "the number of selected boxes, beyond which rows are filled up",
            f"{_EXPANSIONS}.detection:valid_boxes",
        )
        for version in (5, 9)
    ),
    Limitation(
        "opset5.Loop",
        "2026.4",
        _may_have_no_iterations,
        "states of a loop without iterations, which are those that it begins with",
        f"{_EXPANSIONS}.control_flow:initial_states",
    ),
)
"""The records of limitations. Of several for one operation, those without a condition come first."""
