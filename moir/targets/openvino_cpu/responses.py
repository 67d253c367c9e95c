"""Local response normalizations that the CPU plugin computes with another bias, or has no kernel for."""

from __future__ import annotations

from xdsl.ir import Operation

from moir.dialects.opset.normalization import LRN
from moir.dialects.shapes import are_same_axes, shape_of
from moir.rewriting.driver import Pattern, Rewriter
from moir.targets.record import Fault, Form

CHANNELS = (1,)


class FractionalBias(Pattern):
    """Factors a fractional bias out of an LRN.

        %y = opset1.LRN(%x, [1]) {alpha = 1.0, beta = 0.75, bias = 0.5}
    ->  %0 = opset1.LRN(%x, [1]) {alpha = 2.0, beta = 0.75, bias = 1.0}
        %y = opset1.Multiply(%0, 0.5 ** -0.75)

    The plugin truncates the bias to an integer.
    """

    roots = (LRN,)

    def may_match(self, op: Operation) -> bool:
        assert isinstance(op, LRN)
        bias = op.number("bias")
        return bias > 0 and not bias.is_integer()

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        assert isinstance(op, LRN)
        (alpha, beta, bias), build = (op.number(name) for name in ("alpha", "beta", "bias")), rewriter.op
        scaled = build.LRN(*op.operands, alpha=alpha / bias, beta=beta, bias=1.0, size=op.integer("size"))
        rewriter.replace_with(op, build.Multiply(scaled, bias**-beta))


class DynamicChannels(Pattern):
    """Adds the squares of neighbouring channels one by one where the number of channels is dynamic.

        %y = opset1.LRN(%x, [1]) {alpha = 3.0, beta = 0.75, bias = 1.0, size = 3}        // %x: [?, ?, ?, ?]
    ->  %0 = opset1.Add(the sums of three neighbours of opset1.Multiply(%x, %x), 1.0)
        %y = opset1.Divide(%x, opset1.Power(%0, 0.75))

    The plugin has no kernel for a dynamic number of channels.
    """

    roots = (LRN,)

    def match_and_rewrite(self, op: Operation, rewriter: Rewriter) -> None:
        from moir.expansions.response_normalization import normalized_by_sums

        assert isinstance(op, LRN)
        x, shape = op.operands[0], shape_of(op.operands[0])
        axes = rewriter.known.integers(op.operands[1]) or ()
        if (axes != CHANNELS and not are_same_axes(axes, CHANNELS, op.rank(0))) or op.integer("size") == 1:
            return
        if shape is None or (len(shape) > 1 and shape[1] < 0):
            alpha, beta, bias = (op.number(name) for name in ("alpha", "beta", "bias"))
            rewriter.replace_with(op, normalized_by_sums(rewriter.op, x, size=op.integer("size"), alpha=alpha, beta=beta, bias=bias))


FORMS = (
    Form(
        "normalize-responses",
        (DynamicChannels, FractionalBias),
        "Factors a fractional bias out of local response normalizations, and adds dynamic numbers of channels one by one.",
        faults=(
            Fault("fractional-bias", "LRN with a fractional bias", "is computed with an integer"),
            Fault("responses-of-unknown-channels", "LRN of five neighbours in a dynamic number of channels", "does not run"),
        ),
    ),
)
