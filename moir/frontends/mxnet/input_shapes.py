"""The shape of an input whose shape a symbol does not declare, as the weights of the convolutions that use it imply.

    {"op": "_minus_scalar", "inputs": [data]}, {"op": "Convolution", "inputs": [minus, weight]}, weight [O, C, h, w]
->  data: [?, C, ?, ?]
"""

from __future__ import annotations

from collections.abc import Mapping

from moir.dialects.data import DataAttr
from moir.frontends.mxnet.symbol import Node, Symbol
from moir.support.tables import words

_CONVOLUTIONS = {"Convolution": 1, "Convolution_v1": 1, "Deconvolution": 0}
"""Kinds of convolutions -> the axis of the weights that has one element for each input channel (of one group)."""

_KEEPING_SHAPE = words(
    "_plus_scalar _PlusScalar _minus_scalar _MinusScalar _rminus_scalar _RMinusScalar _mul_scalar _MulScalar _div_scalar _DivScalar "
    "_rdiv_scalar _RDivScalar _power_scalar _PowerScalar _maximum_scalar _minimum_scalar _copy identity BlockGrad stop_gradient Cast cast "
    "amp_cast clip Activation LeakyReLU sigmoid relu tanh exp log sqrt square abs negative Dropout LRN _image_normalize "
    "BatchNorm BatchNorm_v1 CuDNNBatchNorm _contrib_SyncBatchNorm InstanceNorm L2Normalization SoftmaxActivation"
)
"""Kinds whose result has the shape of their first operand."""

_KEEPING_CHANNELS = words("Pooling Pooling_v1 Pad pad UpSampling _contrib_BilinearResize2D _contrib_AdaptiveAvgPooling2D Crop")
"""Kinds whose result has the rank and the channels of their first operand; the other sizes may differ."""

_BROADCASTING = words(
    "elemwise_add elemwise_sub elemwise_mul elemwise_div _plus _minus _mul _div _Plus _Minus _Mul _Div "
    "broadcast_add broadcast_plus broadcast_sub broadcast_minus broadcast_mul broadcast_div"
)
"""Kinds of two operands of one rank; either may have a size of 1 where the other has more."""

_MAXIMUM_NODES = 1000
"""The largest number of nodes that the search from an input to a convolution visits."""


class InputShapes:
    """The shapes of inputs that convolutions imply.

    Args:
        symbol: the symbol.
        values: the values of variables, by name without prefix.
    """

    def __init__(self, symbol: Symbol, values: Mapping[str, DataAttr]) -> None:
        self.symbol = symbol
        self.values = values
        self._users: dict[int, list[Node]] = {}
        self._numbers = {id(node): number for number, node in enumerate(symbol.nodes)}
        for node in symbol.nodes:
            for number in {source for source, index in node.inputs if index == 0}:
                self._users.setdefault(number, []).append(node)

    def shape(self, node_index: int) -> tuple[int, ...] | None:
        """The shape [N, C, …] of input `node_index` (its node's index), with -1 for dynamic dimensions; None if nothing
        implies the rank.
        """
        pending, seen = [(node_index, True)], {node_index}
        for current, has_channels in pending:
            for node in self._users.get(current, ()):
                is_first = bool(node.inputs) and node.inputs[0] == (current, 0)
                if is_first and node.kind in _CONVOLUTIONS and (shape := self._convolved(node)) is not None:
                    return shape if has_channels else (-1, -1, *shape[2:])
                is_broadcasting = node.kind in _BROADCASTING
                is_followed = is_broadcasting or (is_first and (node.kind in _KEEPING_SHAPE or node.kind in _KEEPING_CHANNELS))
                following = self._numbers[id(node)]
                if is_followed and following not in seen and len(seen) < _MAXIMUM_NODES:
                    seen.add(following)
                    pending.append((following, has_channels and not is_broadcasting))
        return None

    def _convolved(self, node: Node) -> tuple[int, ...] | None:
        """The shape of the data of a convolution, from its weights; None if they have no value, or channels come
        last.
        """
        if len(node.inputs) < 2:
            return None
        weight = self.values.get(self.symbol.nodes[node.inputs[1][0]].name)
        group = node.attributes.get("num_group", 1)
        layout = node.attributes.get("layout") or "NC"
        if weight is None or len(weight.shape) < 3 or not isinstance(group, int) or not str(layout).startswith(("NC", "None")):
            return None
        axis = _CONVOLUTIONS[node.kind]
        channels = weight.shape[axis] * (group if axis else 1)
        return (-1, channels, *[-1] * (len(weight.shape) - 2))
