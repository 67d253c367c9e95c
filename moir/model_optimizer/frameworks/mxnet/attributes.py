"""The attributes of MXNet's nodes by the names that Model Optimizer's extractors gave them.

    mxnet.Pooling {kernel = [2, 2], pool_type = "avg"}  ->  window [1, 1, 2, 2], pool_method avg

Source: the attributes that Model Optimizer's nodes have in the front phase, 2019 to 2024.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from moir.dialects.properties import value_of
from moir.model_optimizer.frameworks.extracted import Extracted, by_kind, computed, flag
from moir.model_optimizer.frameworks.spatial_windows import integers_of, spatial_window


def mxnet_entries(op: Operation, name: str) -> Sequence[int] | None:
    """The spatial entries of `name` of an MXNet convolution or pooling (`kernel`, `stride`, …); None if it is
    absent.
    """
    return integers_of(op.properties.get("dilate" if name == "dilation" else name)) or None


_MXNET_WINDOW = {name: computed(function) for name, function in spatial_window(mxnet_entries).items()}


def _mxnet_rounding(op: Operation) -> str:
    given = op.properties.get("pooling_convention")
    return "ceil" if given is not None and value_of(given) == "full" else "floor"


ATTRIBUTES = by_kind(
    {
        "Convolution Deconvolution": {**_MXNET_WINDOW, "group": Extracted("num_group", 1), "output": Extracted("num_filter")},
        "Pooling": {
            **_MXNET_WINDOW,
            "pool_method": Extracted("pool_type", "max"),
            "global_pool": flag("global_pool", False),
            "rounding_type": computed(_mxnet_rounding),
        },
    }
)
"""Kind -> the records of its attributes, by Model Optimizer's names."""
