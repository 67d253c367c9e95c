"""The tables of overloads that write."""

from __future__ import annotations

import pytest

from moir.lowering.pytorch.index import INDEX
from moir.raising.pytorch import overloads
from moir.raising.pytorch.written_operands import OUT, WRITERS
from moir.support.tables import by_member


def test_what_overloads_write_is_lowered() -> None:
    lowered = {*by_member(INDEX), "zeros_like.default"}
    assert [kind for kind in (*WRITERS.values(), *OUT.values()) if kind not in lowered] == []


@pytest.mark.parametrize(
    ("kind", "plain"),
    [("gt.Tensor_out", "gt.Tensor"), ("max.dim_max", "max.dim"), ("all.out", "all.dim"), ("all.all_out", "all.default")],
)
def test_an_overload_has_the_arguments_of_what_it_writes(kind: str, plain: str) -> None:
    """`all.out` has a dimension, as `all.dim`: the result of `all.default` would have another shape."""
    assert OUT[kind] == plain


def test_the_tables_are_current() -> None:
    pytest.importorskip("torch")
    from scripts.torch_overloads import groups

    in_place, out = groups()
    for table, current in ((overloads.IN_PLACE, in_place), (overloads.OUT, out)):
        expected = {f"{overload} {plain}": " ".join(operators) for (overload, plain), operators in current.items()}
        assert table == expected, "run `python -m scripts.torch_overloads`"
