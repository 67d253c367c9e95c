"""Transformations."""

from moir.rewriting.driver import Pattern


class MultiplyToHalf(Pattern):
    """x * 0.5 -> Half(x), outside of bodies."""

    roots = ("opset1.Multiply",)
    run_not_recursively = True

    def match_and_rewrite(self, op, rewriter):
        if rewriter.known.constant(op.operands[1]) == 0.5:
            rewriter.replace_with(op, rewriter.op.Half(op.operands[0]))


class HalfToMultiply(Pattern):
    """Half(x) -> x * 0.5."""

    roots = ("extension.Half",)
    enabled = False

    def match_and_rewrite(self, op, rewriter):
        rewriter.replace_with(op, rewriter.op.Multiply(op.operands[0], 0.5))
