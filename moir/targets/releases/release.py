"""The record of a release of OpenVINO Runtime."""

from __future__ import annotations

from moir.support.records import Record


class Release(Record):
    """A release of OpenVINO Runtime: what its reader and its CPU plugin accept, in addition to earlier releases.

    `python -m scripts.runtimes --operations` measures this with samples of all operations and element types.

    Args:
        name: year and number of the release, such as `2024.6`.
        opset: the newest operation set that is complete.
        also: operations of newer operation sets, besides those of earlier releases.
        lacks: operations of complete operation sets that are not accepted nevertheless.
        elements: the element types, by their names in the IR, that earlier releases do not accept.
        ir_version: the version of the IR.
        has_dynamic_dimensions: whether sizes of tensors may be unknown when the model is loaded.
        measured: the version of the runtime that was measured; empty if none could be had, so that the operations
            are those of the documented operation set.
    """

    name: str
    opset: int
    also: str = ""
    lacks: str = ""
    elements: str = ""
    ir_version: int = 11
    has_dynamic_dimensions: bool = True
    measured: str = ""
