"""Attention of windows that is computed with split windows: the runtime computes the same before and after."""

from __future__ import annotations

import numpy as np
import pytest

from tests.numerical.passes.module_lines import check, integer, ints, numbers


@pytest.mark.parametrize(("parts", "order"), [((0, 4, 3, 2, 8), (2, 0, 3, 1, 4)), ((0, 4, 2, 3, 8), (3, 0, 2, 1, 4))])
@pytest.mark.parametrize("separated", ["Gather", "Split"])
def test_masks_of_windows(parts: tuple[int, ...], order: tuple[int, ...], separated: str) -> None:
    """Packed queries, keys and values, in the orders in which networks have them, with a factor for each head."""
    if separated == "Gather":
        taken = "".join(f"    %{name} = opset8.Gather(%1, %i{index}, %i0)\n" for index, name in enumerate("qkv"))
    else:
        taken = "    %a, %b, %c = opset1.Split(%1, %i0) {num_splits = 3}\n" + "".join(
            f"    %{name} = opset1.Squeeze(%{part}, %first)\n" for name, part in zip("qkv", "abc", strict=True)
        )
    text = f"""    %x = opset1.Parameter() {{name = "x"}} : tensor<?x4x48xf32>
    {ints("parts", *parts)}{ints("order", *order)}{ints("split", -1, 3, 2, 4, 4)}{ints("merge", -1, 2, 4, 4)}{ints("heads", 0, 2, 1, 3)}
    {ints("flat", 0, 4, 16)}{ints("first", 0)}{integer("i0", 0)}{integer("i1", 1)}{integer("i2", 2)}
    %0 = opset1.Reshape(%x, %parts) {{special_zero = true}}
    %1 = opset1.Transpose(%0, %order)
{taken}
    %2 = opset1.MatMul(%q, %k) {{transpose_b = true}}
    %3 = opset1.Multiply(%2, %factors)
    %4 = opset1.Add(%3, %bias)
    %5 = opset1.Reshape(%4, %split) {{special_zero = false}}
    %6 = opset1.Add(%5, %mask)
    %7 = opset1.Reshape(%6, %merge) {{special_zero = false}}
    %8 = opset8.Softmax(%7) {{axis = -1}}
    %9 = opset1.MatMul(%8, %v)
    %10 = opset1.Transpose(%9, %heads)
    %11 = opset1.Reshape(%10, %flat) {{special_zero = true}}
    opset1.Result(%11) {{name = "out"}}"""
    mask = np.where(np.arange(48).reshape(1, 3, 1, 4, 4) % 5 == 2, -100, 0).astype(np.float32)
    left = {"Reshape": 2, "Transpose": 2, "MatMul": 2, "Multiply": 1, "Add": 2, "Softmax": 1}
    left |= {"Gather": 3} if separated == "Gather" else {"Split": 1, "Squeeze": 3}
    weights = {"factors": numbers(2, 1, 1), "bias": numbers(1, 2, 4, 4), "mask": mask}
    check("split-attention-batch deduplicate", text, left, ((3, 4, 48),), ((6, 4, 48),), tolerance=1e-5, **weights)
