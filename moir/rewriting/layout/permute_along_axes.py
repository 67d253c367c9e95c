"""Operations that work along named dimensions, on permuted tensors: the names change, the rank does not.

Softmax(Transpose(x, [0, 2, 3, 1]), axis = 3)  ->  Transpose(Softmax(x, axis = 1), [0, 2, 3, 1])
"""

from __future__ import annotations

from dataclasses import dataclass

from moir.rewriting.layout.permuted import LayoutRule, Offer, Permuted, moved_axis, permute_vector, replace_axes, together


@dataclass(frozen=True)
class AlongAxes:
    """A rule: results and the operands `data` (all if None) share any order.

    Args:
        data: operands in that order.
        properties: properties that are the number of a dimension.
        operand: operand that lists dimensions.
    """

    data: tuple[int, ...] | None = (0,)
    properties: tuple[str, ...] = ()
    operand: int | None = None

    def __call__(self, offer: Offer) -> Permuted | None:
        op, order = offer.op, offer.order
        data = tuple(range(len(op.operands))) if self.data is None else self.data
        if not offer.is_of(*data):
            return None
        found = together(op, order, data)
        if found is None:
            return None
        for name in self.properties:
            found.properties[name] = moved_axis(op.integer(name), order)
        if self.operand is not None:
            replace_axes(found, self.operand, op.operands[self.operand], order)
        return found


def reverse(offer: Offer) -> Permuted | None:
    """Reversed dimensions are listed, or have a flag each."""
    op, order = offer.op, offer.order
    if op.text("mode") == "index":
        return AlongAxes(operand=1)(offer)
    found = AlongAxes()(offer)
    if found is not None:
        permute_vector(found, 1, op.operands[1], order)
    return found


RULES: dict[str, LayoutRule] = {
    **dict.fromkeys(("Softmax", "LogSoftmax", "TopK", "ShuffleChannels"), AlongAxes(properties=("axis",))),
    "Concat": AlongAxes(data=None, properties=("axis",)),
    "GatherElements": AlongAxes(data=(0, 1), properties=("axis",)),
    "ReverseSequence": AlongAxes(properties=("batch_axis", "seq_axis")),
    **dict.fromkeys(("Split", "VariadicSplit", "CumSum", "NormalizeL2", "MVN"), AlongAxes(operand=1)),
    "Roll": AlongAxes(operand=2),
    "ScatterElementsUpdate": AlongAxes(data=(0, 1, 2), operand=3),
    "Reverse": reverse,
}
