"""Operations that describe how a program runs on several devices: on one device they are identities.

    %2 = sdy.sharding_constraint %1 <@mesh, [{"x"}, {}]> : tensor<2x8xf32>                                  ->  %1
    %2 = "stablehlo.all_reduce"(%1) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({sum})                 ->  %1

Shardy's operations do not change tensors, which have their global shapes; a `manual_computation` applies its region
to the part of each device. A collective operation combines the tensors of the devices of a group; a group of one
device has nothing to combine.

Sources: StableHLO's specification; https://openxla.org/shardy/sdy_dialect.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from moir.dialects.data import Array
from moir.frontends.stablehlo.program import Dense, Operation

IDENTITIES = frozenset(
    (
        *("sdy.all_gather", "sdy.all_reduce", "sdy.all_slice", "sdy.all_to_all", "sdy.collective_permute", "sdy.data_flow_edge"),
        *("sdy.propagation_barrier", "sdy.reduce_scatter", "sdy.reshard", "sdy.sharding_constraint", "sdy.sharding_group"),
        *("annotate_device_placement", "optimization_barrier", "unrealized_conversion_cast"),
    )
)
"""Operations whose results are their operands, except for a group of shardings, which has no result."""

IDENTITY_CALLS = frozenset(
    (
        *("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"),
        *("FuncResultSharding", "GlobalToLocalShape", "LocalToGlobalShape", "PropagationBarrier", "ShardingGroup"),
    )
)
"""Custom calls whose result is their operand.

The names of Shardy's own are without their prefix, as in `xla.sdy.GlobalToLocalShape`.
"""

APPLIED_REGIONS = frozenset(("sdy.manual_computation", "sdy.named_computation"))
"""Operations that on one device apply their region to their operands."""

GROUPED: Mapping[str, str] = {
    "all_gather": "replica_groups",
    "all_reduce": "replica_groups",
    "all_to_all": "replica_groups",
    "collective_broadcast": "replica_groups",
    "collective_permute": "source_target_pairs",
    "collective_reduce": "replica_groups",
    "reduce_scatter": "replica_groups",
}
"""Collective operations -> their attribute that is a matrix with a row for each group (or pair) of devices."""

DEVICE_NUMBERS = frozenset(("partition_id", "replica_id"))
"""Operations whose result is the number of the device, 0 on one device."""


def is_identity(operation: Operation) -> bool:
    """Whether the results of an operation are its operands, whatever the devices."""
    if operation.kind != "custom_call":
        return operation.kind in IDENTITIES
    target = str(operation.attributes.get("call_target_name"))
    return target.removeprefix("local_").removeprefix("xla.sdy.") in IDENTITY_CALLS


def several_devices(operation: Operation) -> str:
    """Why a collective operation needs several devices, as a sentence; empty if it is the identity on one device."""
    rows = _rows(operation.attributes.get(GROUPED[operation.kind]))
    if operation.kind == "collective_permute":
        if rows is None or not rows.size or not (rows == 0).all():
            return "it sends tensors between several devices, or to none"
        return ""
    if rows is None or not rows.size:
        return "it combines the tensors of all devices"
    return f"it combines the tensors of {rows.shape[-1]} devices" if rows.shape[-1] != 1 else ""


def _rows(attribute: Any) -> Array | None:
    """An attribute of device groups or pairs as an array [rows, devices]; None if it is absent, or no 2-D constant."""
    rows = attribute.listed() if isinstance(attribute, Dense) else attribute
    return cast("Array", rows) if isinstance(rows, np.ndarray) and rows.ndim == 2 else None
