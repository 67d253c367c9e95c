"""Where the CPU plugin of OpenVINO Runtime deviates from the operation sets: one record per fault."""

from __future__ import annotations

from moir.targets.openvino_cpu.faults import elements, empty, factors, indexing, levels, neighbours, numbers, shapes, special_values

FAULTS = (
    *numbers.FAULTS,
    *special_values.FAULTS,
    *empty.FAULTS,
    *shapes.FAULTS,
    *neighbours.FAULTS,
    *levels.FAULTS,
    *factors.FAULTS,
    *elements.FAULTS,
    *indexing.FAULTS,
)
"""All faults, including those that a form avoids."""
