"""Pooling with the properties that the CPU plugin computes fastest."""

from __future__ import annotations

from xdsl.ir import Operation

from moir.dialects.opset.interfaces.operation import OpsetOp
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Form
from moir.targets.stages import PREFERRED


class WindowsRoundedUp(Pattern):
    """Replaces a MaxPool by the older version if its number of windows is the same for all sizes.

        %y, %i = opset14.MaxPool(%x) {kernel = [3, 3], strides = [2, 2], rounding_type = "ceil_torch"}    // no padding
    ->  %y, %i = opset8.MaxPool(%x) {kernel = [3, 3], strides = [2, 2], rounding_type = "ceil"}

    PyTorch does not count a last window that would start in the padding. There is no such window if the stride plus
    the padding at the end is not longer than a window. For the newer version the plugin also computes indices that
    nothing uses, and changes the layout for them.
    """

    roots = ("opset14.MaxPool",)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, OpsetOp)
        if op.text("rounding_type") != "ceil_torch" or op.text("auto_pad") != "explicit" or op.results[1].uses:
            return
        kernel, strides, ends = (op.integers(name) for name in ("kernel", "strides", "pads_end"))
        dilations = op.integers("dilations") or (1,) * len(kernel)
        windows = [(size - 1) * dilation + 1 for size, dilation in zip(kernel, dilations, strict=True)]
        if any(stride + end > window for stride, end, window in zip(strides, ends, windows, strict=True)):
            return
        older = rewriter.op["opset8.MaxPool"].results(
            op.operands[0],
            kernel=kernel,
            strides=strides,
            dilations=dilations,
            pads_begin=op.integers("pads_begin"),
            pads_end=ends,
            rounding_type="ceil",
        )
        rewriter.replace_with(op, older)


FORMS = (Form("round-windows-up", (WindowsRoundedUp,), stage=PREFERRED),)
