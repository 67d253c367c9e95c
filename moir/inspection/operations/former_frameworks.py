"""The kinds of nodes of Caffe and MXNet, frameworks that are not developed any more, so that the lists are complete."""

from __future__ import annotations

from moir.frontends.caffe.graph import DATA, INFERENCE_TYPES, TRAINING
from moir.frontends.mxnet.graph import VARIABLE
from moir.inspection.operations.operation import IMPORTED, LEFT_OUT, Operation, all_lowered, treated
from moir.lowering.caffe.table import caffe
from moir.lowering.mxnet.table import mxnet


def operations_of_caffe() -> list[Operation]:
    """The layers of Caffe."""
    unlowered = [*treated(("Input", *DATA, *INFERENCE_TYPES), IMPORTED), *treated(TRAINING, LEFT_OUT)]
    return list({each.kind: each for each in (*unlowered, *all_lowered(caffe))}.values())


def operations_of_mxnet() -> list[Operation]:
    """The operations of MXNet, by their names in a symbol."""
    return list({each.kind: each for each in (*treated((VARIABLE,), IMPORTED), *all_lowered(mxnet))}.values())
