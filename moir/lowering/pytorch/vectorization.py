"""Marks of torch.vmap, which programs have that are not decomposed."""

from __future__ import annotations

from typing import NoReturn

from moir.lowering.binder import LoweringNode
from moir.lowering.pytorch.table import aten
from moir.lowering.table import Replacement

_PREFIX = "torch._functorch.predispatch."


@aten.lowers(f"{_PREFIX}_add_batch_dim", f"{_PREFIX}_remove_batch_dim")
def batch_dimension(node: LoweringNode) -> NoReturn:
    """aten.torch._functorch.predispatch._add_batch_dim(x) -> refused: the operations after it lack a dimension"""
    node.fail(
        "it is a mark of torch.vmap, as `associative_scan` and masks of `flex_attention` have it, around operations that lack a dimension",
        hint="export the program decomposed: program.run_decompositions()",
    )


@aten.lowers(
    *(f"{_PREFIX}{name}" for name in ("lazy_load_decompositions", "_vmap_increment_nesting", "_vmap_decrement_nesting")),
)
def nesting(node: LoweringNode) -> Replacement:
    """aten.torch._functorch.predispatch._vmap_increment_nesting() -> nothing: it has no tensors"""
    return [None] * node.result_count
