"""Operations of the domain com.microsoft that cannot be converted, with advice on what to do instead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NoReturn

from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.table import onnx
from moir.rewriting.builder import OpBuilder
from moir.support.tables import by_member

COMPILED = "compiled"
SEARCH = "search"
PAGES = "pages"

KINDS: Mapping[str, str] = by_member(
    {
        COMPILED: "EPContext Snpe",
        SEARCH: "BeamSearch GreedySearch Sampling WhisperBeamSearch",
        PAGES: "DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention PagedAttention SparsePagedAttention",
    }
)

REASONS: Mapping[str, tuple[str, str]] = {
    COMPILED: ("it holds a model that was compiled for one device", "convert the model that it was compiled from"),
    SEARCH: (
        "it generates a text with other models, which are its attributes",
        "convert the decoder and the encoder as models of their own, and search outside of them",
    ),
    PAGES: (
        "it writes to a cache that its caller owns",
        "export the model without this fusion: with Attention, MultiHeadAttention or GroupQueryAttention",
    ),
}
"""For each kind, why it is refused, and what to do instead."""


@onnx.lowers(*(f"com.microsoft.{kind}" for kind in KINDS))
def refused(node: LoweringNode, _: OpBuilder) -> NoReturn:
    """onnx.com.microsoft.EPContext and the other kinds of `KINDS`: refused, with what to do instead."""
    reason, hint = REASONS[KINDS[node.op.KIND.removeprefix("com.microsoft.")]]
    node.fail(reason, hint=hint)
