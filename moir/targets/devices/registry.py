"""The devices that `moir check` knows: a record for each, whose limits are documented. No limit is a guess.

Limits of ranks, and of integers, are not here: the documentation has none. What the CPU plugin refuses is in
`moir/targets/openvino_cpu/refusals`, which each conversion for it checks.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from moir.dialects.element_types import f16, f32
from moir.targets.devices.device import Device, Limit
from moir.targets.devices.limits import data_dependent_shapes, dynamic_inputs, floats_other_than, inputs_of_dynamic_rank

# Pages of docs/articles_en in openvinotoolkit/openvino, with the commit that was read; Supported Devices on the site.
_NPU_PAGE = "OpenVINO documentation, NPU Device (1158c499) and Supported Devices (2025)"
_GPU_PAGE = "OpenVINO documentation, GPU Device (04908d3f)"
_PRECISION_PAGE = "OpenVINO documentation, Precision Control (1a4802a2)"

_NPU = Device(
    "NPU",
    "f16",
    _NPU_PAGE,
    (
        Limit("dynamic-shapes", dynamic_inputs, "only models with static shapes are supported", _NPU_PAGE),
        Limit("data-dependent-shapes", data_dependent_shapes, "only models with static shapes are supported", _NPU_PAGE),
        Limit("element-types", floats_other_than(f16, f32), "the floating-point types are f16 and f32", _NPU_PAGE, refuses=False),
    ),
)

_GPU = Device(
    "GPU",
    "f16",
    _PRECISION_PAGE,
    (
        Limit("dynamic-rank", inputs_of_dynamic_rank, "dynamic ranks are not supported", _GPU_PAGE),
        Limit(
            "dynamic-shapes",
            dynamic_inputs,
            "not all operations support dynamic shapes; static ones, or upper bounds, are faster",
            _GPU_PAGE,
            refuses=False,
        ),
    ),
)

# On processors that have bf16; in f32 on others.
_CPU = Device("CPU", "bf16", _PRECISION_PAGE)

DEVICES: Mapping[str, Device] = MappingProxyType({each.name: each for each in (_NPU, _GPU, _CPU)})
"""The devices by name."""
