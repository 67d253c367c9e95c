"""What the CPU plugin of OpenVINO Runtime computes otherwise than the operation sets say: a record for each fault."""

from __future__ import annotations

from moir.targets.openvino_cpu.faults import elements, empty, indexing, numbers, shapes, special_values

FAULTS = (*numbers.FAULTS, *special_values.FAULTS, *empty.FAULTS, *shapes.FAULTS, *elements.FAULTS, *indexing.FAULTS)
"""All faults, those that a form avoids among them."""
