"""The parameter that says which runtime and device the IR is written for."""

from __future__ import annotations

from typing import Any

from moir.arguments import TARGET as EXPECTED_TARGET
from moir.parameters.kinds import choice
from moir.parameters.parameter import Parameter
from moir.target_records import OPENVINO_CPU, TARGETS

TARGET = Parameter(
    "target",
    choice(TARGETS, EXPECTED_TARGET),
    OPENVINO_CPU,
    "openvino-cpu (default): write what the CPU plugin computes otherwise in forms that it computes right; none: leave "
    "operations as their definitions have them",
)

TARGET_PARAMETERS: tuple[Parameter[Any], ...] = (TARGET,)
