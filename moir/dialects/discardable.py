"""The discardable attributes that an operation of any dialect may carry."""

from __future__ import annotations

LAYER_VERSION = "layer_version"
"""The discardable attribute with the version of the layer of an `extension` operation, if not `extension`."""

PORT_INFORMATION = "port_runtime_info"
"""The discardable attribute with the runtime information of the ports of a layer.

It is a dictionary of dictionaries like `runtime_info`, whose keys are `in0`, `in1`, … and `out0`, `out1`, ….
"""

BODY_INFORMATION = "body_runtime_info"
"""The discardable attribute with the runtime information of bodies: a list, with a dictionary like that of a model for
each."""

DIMENSION_NAMES = "dimension_names"
"""The discardable attribute with names of dynamic dimensions of an input, as a framework gives them: a list of strings,
one for each axis, empty without a name.

In the `<rt_info>` of the layer, the attribute of this name has the name of axis 2 as `d2`."""

UNKNOWN_ATTRIBUTES = "unknown_attributes"
"""The discardable attribute with attributes of the `<data>` of a layer that its operation does not have, as strings."""

PREFERS_CHANNELS_FIRST = "prefers_channels_first"
"""The discardable attribute that marks an operation that prefers the channels in dimension 1 and has them in the last
one.
"""

DISCARDABLE = frozenset(
    (
        "name",
        "tensor_names",
        "runtime_info",
        DIMENSION_NAMES,
        "node_attributes",
        "framework_operation",
        LAYER_VERSION,
        PORT_INFORMATION,
        BODY_INFORMATION,
        UNKNOWN_ATTRIBUTES,
    )
)
"""Discardable attributes that any operation may carry.

These are the node name of the framework; the names of the result tensors (one string per result, names separated by
commas as in the IR); entries for the `<rt_info>` of the layer; names that a framework gives to dynamic dimensions of an
input; Python attributes that an extension set; the source operation from which an extension made this one; the version
of the layer; entries for the `<rt_info>` of its ports and bodies; and attributes of an IR that was read which no
operation has.
"""
