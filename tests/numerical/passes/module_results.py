"""What the runtime computes for modules of an opset."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp

from moir.emit.in_memory import to_openvino
from tests.numerical.runtime import Array, run_together


def results_of_modules(modules: Sequence[ModuleOp], arrays: Sequence[Array]) -> list[list[Array]]:
    """Results of each module on the CPU, for the same inputs."""
    return run_together([to_openvino(module) for module in modules], [arrays] * len(modules))
