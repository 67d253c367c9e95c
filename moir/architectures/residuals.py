"""The order of the blocks of a layer: residual sums, and where values are normalized.

PRE_NORM            x += attention(attention_norm(x)); x += feed_forward(feed_forward_norm(x))
"""

from __future__ import annotations

from moir.support.records import Record


class Branch(Record):
    """A block of a layer, with the normalizations before and after it: after(block(before(x))).

    Args:
        block: `attention` (the block that takes its place in the layer, if layers differ), `feed_forward`, or one of
            `Configuration.blocks`.
        before: the operand of the normalization before it; None if there is none.
        after: the operand of the normalization after it; None if there is none.
    """

    block: str
    before: str | None = None
    after: str | None = None


class Residual(Record):
    """A sum of the value of a layer and of blocks of it: x + branch(x) + …

    Args:
        branches: the blocks.
        after: the operand of the normalization of the sum; None if there is none.
        adds_normed: whether the blocks are added to their normalized operand instead of x.
    """

    branches: tuple[Branch, ...]
    after: str | None = None
    adds_normed: bool = False


ATTENTION, FEED_FORWARD = "attention", "feed_forward"

PRE_NORM = (
    Residual((Branch(ATTENTION, "attention_norm"),)),
    Residual((Branch(FEED_FORWARD, "feed_forward_norm"),)),
)
"""Normalizations before the blocks, as in Llama."""

POST_NORM = (
    Residual((Branch(ATTENTION),), "attention_norm"),
    Residual((Branch(FEED_FORWARD),), "feed_forward_norm"),
)
"""Normalizations of the sums (Vaswani et al., "Attention Is All You Need", 2017), as in BERT."""

OUTPUT_NORM = (
    Residual((Branch(ATTENTION, None, "attention_output_norm"),)),
    Residual((Branch(FEED_FORWARD, None, "feed_forward_output_norm"),)),
)
"""Normalizations of the results of the blocks alone, as in OLMo 2."""

SANDWICH_NORM = (
    Residual((Branch(ATTENTION, "attention_norm", "attention_output_norm"),)),
    Residual((Branch(FEED_FORWARD, "feed_forward_norm", "feed_forward_output_norm"),)),
)
"""Normalizations before and after the blocks, as in Gemma 2."""

PARALLEL = (Residual((Branch(ATTENTION, "attention_norm"), Branch(FEED_FORWARD, "attention_norm"))),)
"""Both blocks of one normalized value, as in GPT-J."""

PARALLEL_TWO_NORMS = (Residual((Branch(ATTENTION, "attention_norm"), Branch(FEED_FORWARD, "feed_forward_norm"))),)
"""Both blocks of the value of the layer, each with a normalization of its own, as in GPT-NeoX."""
