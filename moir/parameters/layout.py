"""The parameters that say how dimensions are ordered."""

from __future__ import annotations

from moir.arguments import LAYOUT_CHANGE as EXPECTED_LAYOUT_CHANGE
from moir.parameters.kinds import choice
from moir.parameters.parameter import Parameter

LAYOUT_CHANGE = Parameter(
    "layout_change",
    choice({"auto": True, "none": False}, EXPECTED_LAYOUT_CHANGE),
    True,
    "auto (default): move transpositions around channel-last operations until they cancel; none: leave them there",
)

LAYOUT_PARAMETERS = (LAYOUT_CHANGE,)
