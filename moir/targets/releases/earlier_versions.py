"""Operations that can be replaced by an older version with the same operands, and the property values for which they
can.

    %y = opset15.Squeeze(%x, [0]) {allow_axis_skip = false}
->  %y = opset1.Squeeze(%x, [0])

What needs other operands, or several operations, is an expansion (`moir/targets/releases/expansions`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import cast

from xdsl.ir import Attribute, Operation

from moir.dialects import opset
from moir.dialects.names import tensor_names_of
from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.dialects.opset.interfaces.properties import property_table
from moir.dialects.properties import strings_attribute, value_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.releases.record import EarlierVersion


def equals(*values: object) -> Callable[[object], bool]:
    """A condition on a property: true if it equals one of the values."""
    return lambda value: value in values


def differs(*values: object) -> Callable[[object], bool]:
    """A condition on a property: true if it equals none of the values."""
    return lambda value: value not in values


def is_ones(value: object) -> bool:
    """Whether all elements of a list property are 1, as dilations are by default."""
    return all(each == 1 for each in cast("Iterable[object]", value))


def is_from_front(value: object) -> bool:
    """Whether an axis is nonnegative."""
    return cast("int", value) >= 0


EARLIER_VERSIONS = (
    EarlierVersion("opset16.AvgPool", "opset14.AvgPool", {"dilations": is_ones}),
    EarlierVersion("opset14.AvgPool", "opset1.AvgPool", {"rounding_type": equals("floor")}),
    EarlierVersion("opset14.MaxPool", "opset8.MaxPool", {"rounding_type": differs("ceil_torch")}),
    EarlierVersion("opset8.MaxPool", "opset1.MaxPool", {"dilations": is_ones}, unused_results=1),
    EarlierVersion("opset16.OneHot", "opset1.OneHot", {"negative_indices_mode": equals("ignore_negative")}),
    EarlierVersion("opset15.Squeeze", "opset1.Squeeze", {"allow_axis_skip": equals(False)}),
    EarlierVersion("opset15.ScatterNDUpdate", "opset4.ScatterNDUpdate", {"reduction": equals("none")}),
    EarlierVersion("opset12.ScatterElementsUpdate", "opset3.ScatterElementsUpdate", {"reduction": equals("none")}),
    EarlierVersion("opset15.EmbeddingBagOffsets", "opset3.EmbeddingBagOffsetsSum", {"reduction": equals("sum")}),
    EarlierVersion("opset15.EmbeddingBagPacked", "opset3.EmbeddingBagPackedSum", {"reduction": equals("sum")}),
    EarlierVersion("opset11.TopK", "opset3.TopK", {"stable": equals(False)}),
    EarlierVersion("opset9.NonMaxSuppression", "opset5.NonMaxSuppression"),
    EarlierVersion("opset9.ROIAlign", "opset3.ROIAlign", {"aligned_mode": equals("asymmetric")}),
    EarlierVersion("opset8.Softmax", "opset1.Softmax", {"axis": is_from_front}),
    EarlierVersion("opset8.PriorBox", "opset1.PriorBox", {"min_max_aspect_ratios_order": equals(True)}),
    EarlierVersion("opset7.Gather", "opset1.Gather", {"batch_dims": equals(0)}),
    EarlierVersion("opset7.Gelu", "opset2.Gelu", {"approximation_mode": equals("ERF")}),
    EarlierVersion("opset6.ReadValue", "opset3.ReadValue"),
    EarlierVersion("opset6.Assign", "opset3.Assign"),
)
"""The records of older versions. Of several for one operation, the newest older version comes first."""


class EarlierVersionPattern(Pattern):
    """Replaces an operation by an older version of it.

    Args:
        record: the versions, and under which conditions they compute the same.
    """

    def __init__(self, record: EarlierVersion) -> None:
        self.record = record
        self.roots = (record.newer,)

    def __str__(self) -> str:
        return f"{self.record.newer} -> {self.record.older}"

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        count = len(op.results) - self.record.unused_results
        if any(result.first_use is not None for result in op.results[count:]):
            return
        for name, holds in self.record.only.items():
            value = op.properties.get(name) or property_table(type(op)).defaults.get(name)
            if value is not None and not holds(value_of(value)):
                rewriter.decline(f"its {name} is {value_of(value)}")
                return
        older = opset.operation(self.record.older)
        known = property_table(older).specs
        properties: dict[str, Attribute] = {name: value for name, value in op.properties.items() if name in known}
        built = rewriter.op.create(older, list(op.operands), dict(properties))
        if self.record.unused_results:
            _forget_tensor_names(op, count)
        rewriter.replace_with(op, [*built.results, *[built.results[0]] * self.record.unused_results])


def _forget_tensor_names(op: Operation, count: int) -> None:
    """Erase the tensor names of the results from index `count` on, which the replacement does not have."""
    names = tensor_names_of(op)[:count]
    if names:
        op.attributes["tensor_names"] = strings_attribute([*names, *[""] * (len(op.results) - len(names))])
