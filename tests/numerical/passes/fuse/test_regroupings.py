"""Reshapes around a transposition that are one operation: the runtime computes the same before and after.

Each case says which kinds of operations are left, so that a pass that does nothing fails.
"""

from __future__ import annotations

import pytest

from tests.numerical.passes.module_lines import check, inputs, ints


def shuffle(first: str, order: tuple[int, ...], last: tuple[int, ...], source: str) -> str:
    """Reshape, Transpose, Reshape."""
    return f"""{inputs(source)}{ints("a", *map(int, first.split()))}{ints("order", *order)}{ints("b", *last)}
    %1 = opset1.Reshape(%x, %a) {{special_zero = true}}
    %2 = opset1.Transpose(%1, %order)
    %3 = opset1.Reshape(%2, %b) {{special_zero = true}}
    opset1.Result(%3) {{name = "out"}}"""


REGROUPINGS = {
    "fuse-shuffle-channels": ("0 3 2 5 7", (0, 2, 1, 3, 4), (0, 6, 5, 7), "?x6x5x7xf32", "ShuffleChannels"),
    "fuse-depth-to-space": ("-1 2 2 3 5 7", (0, 3, 4, 1, 5, 2), (-1, 3, 10, 14), "?x12x5x7xf32", "DepthToSpace"),
    "fuse-depth-to-space depth": ("0 3 2 2 5 7", (0, 1, 4, 2, 5, 3), (0, 3, 10, 14), "?x12x5x7xf32", "DepthToSpace"),
    "fuse-depth-to-space line": ("0 3 2 5", (0, 1, 3, 2), (0, 3, 10), "?x6x5xf32", "DepthToSpace"),
    "fuse-space-to-depth": ("0 3 4 2 5 2", (0, 3, 5, 1, 2, 4), (0, 12, 4, 5), "?x3x8x10xf32", "SpaceToDepth"),
    "fuse-space-to-depth depth": ("0 3 4 2 5 2", (0, 1, 3, 5, 2, 4), (0, 12, 4, 5), "?x3x8x10xf32", "SpaceToDepth"),
}


@pytest.mark.parametrize("case", REGROUPINGS)
def test_regrouped_elements(case: str) -> None:
    first, order, last, source, kind = REGROUPINGS[case]
    shape = tuple(int(size) for size in source.split("x")[1:-1])
    check(case.split()[0], shuffle(first, order, last, source), {kind: 1}, ((2, *shape),), ((1, *shape),))


@pytest.mark.parametrize(
    ("name", "first", "order", "last", "source"),
    [
        ("fuse-shuffle-channels", "0 3 2 5 7", (0, 2, 1, 3, 4), (0, 2, 15, 7), "?x6x5x7xf32"),
        ("fuse-depth-to-space", "0 2 2 3 5 7", (0, 3, 4, 2, 5, 1), (0, 3, 10, 14), "?x12x5x7xf32"),
        ("fuse-space-to-depth", "0 3 2 4 5 2", (0, 3, 5, 1, 2, 4), (0, 24, 2, 5), "?x3x8x10xf32"),
    ],
)
def test_elements_regrouped_in_another_way(name: str, first: str, order: tuple[int, ...], last: tuple[int, ...], source: str) -> None:
    shape = tuple(int(size) for size in source.split("x")[1:-1])
    check(name, shuffle(first, order, last, source), {"Reshape": 2, "Transpose": 1}, ((2, *shape),))
