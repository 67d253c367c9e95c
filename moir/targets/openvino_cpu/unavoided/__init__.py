"""Faults of the CPU plugin that no form avoids, since another form would make every model with the operation slower."""

from __future__ import annotations

from moir.targets.openvino_cpu.unavoided import empty, numbers, shapes, special_values

FAULTS = (*numbers.FAULTS, *special_values.FAULTS, *empty.FAULTS, *shapes.FAULTS)
