"""Indices as JAX writes them: counted from the end, limited, and checked; numpy says what is read."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from moir.dialects.moir import models_of
from tests.numerical.stablehlo.test_operations import computed, converted

GENERATOR = np.random.default_rng(5)


def taken(rows: int, axis: int, fill: str, constant: bool) -> tuple[str, str, str, np.ndarray]:
    """`jnp.take` along a dimension of `rows` with two dimensions before or after it: body, arguments, result, data."""
    shape = [2, 5]
    shape.insert(axis, rows)
    data = GENERATOR.normal(size=shape).astype(np.float32)
    table, result = f"tensor<{'x'.join(map(str, shape))}xf32>", f"tensor<{'x'.join(map(str, [*shape[:axis], 8, *shape[axis + 1 :]]))}xf32>"
    sizes = [1 if number == axis else size for number, size in enumerate(shape)]
    body = f"""
    %x = {f'stablehlo.constant dense<"0x{data.tobytes().hex()}"> : {table}' if constant else f"stablehlo.negate %n : {table}"}
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %size = stablehlo.constant dense<{rows}> : tensor<i32>
    %last = stablehlo.constant dense<{rows - 1}> : tensor<1xi32>
    %fill = stablehlo.constant dense<{fill}> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %1 = stablehlo.compare LT, %i, %0, SIGNED : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi1>
    %2 = stablehlo.broadcast_in_dim %size, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %3 = stablehlo.add %i, %2 : tensor<8xi32>
    %4 = stablehlo.select %1, %3, %i : tensor<8xi1>, tensor<8xi32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<8xi32>) -> tensor<8x1xi32>
    %6 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<i32>) -> tensor<8x1xi32>
    %7 = stablehlo.compare GE, %5, %6, SIGNED : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x1xi1>
    %8 = stablehlo.broadcast_in_dim %last, dims = [1] : (tensor<1xi32>) -> tensor<8x1xi32>
    %9 = stablehlo.compare LE, %5, %8, SIGNED : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x1xi1>
    %10 = stablehlo.and %7, %9 : tensor<8x1xi1>
    %true = stablehlo.constant dense<true> : tensor<i1>
    %11 = stablehlo.reduce(%10 init: %true) applies stablehlo.and across dimensions = [1] : (tensor<8x1xi1>, tensor<i1>) -> tensor<8xi1>
    %12 = "stablehlo.gather"(%x, %5) <{{dimension_numbers = #stablehlo.gather<
      offset_dims = {[place for place in range(3) if place != axis]}, collapsed_slice_dims = [{axis}], start_index_map = [{axis}],
      index_vector_dim = 1>, slice_sizes = array<i64: {", ".join(map(str, sizes))}>}}> : ({table}, tensor<8x1xi32>) -> {result}
    %13 = stablehlo.broadcast_in_dim %11, dims = [{axis}] : (tensor<8xi1>) -> {result.replace("f32", "i1")}
    %14 = stablehlo.broadcast_in_dim %fill, dims = [] : (tensor<f32>) -> {result}
    %15 = stablehlo.select %13, %12, %14 : {result.replace("f32", "i1")}, {result}
    return %15 : {result}"""
    return body, "%i: tensor<8xi32>" + ("" if constant else f", %n: {table}"), result, data


@pytest.mark.parametrize("fill", ["0x7FC00000", "0.0", "2.5"])
@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize(("rows", "axis"), [(1, 0), (3, 0), (3, 1), (3, 2), (64, 0), (65, 1), (3000, 0)])
def test_filled_gather(rows: int, axis: int, constant: bool, fill: str, tmp_path: Path) -> None:
    """Numbers out of range are read as rows of the table, or chosen by a table of what is in range."""
    body, arguments, result, data = taken(rows, axis, fill, constant)
    index = np.array([0, -1, rows - 1, -rows, rows, -rows - 1, 2**31 - 1, -(2**31)], np.int32)
    (model,) = models_of(converted(body, tmp_path, arguments, result))
    kinds = Counter(op.name.partition(".")[2] for op in model.block.ops)
    expected = {"Gather": 1} if fill == "0.0" else {"Gather": 2} if constant else {"Gather": 2, "Select": 1}
    expected = expected if constant else {**expected, "Negative": 1}
    assert {kind: count for kind, count in kinds.items() if kind not in ("Constant", "Parameter", "Result")} == expected
    inside = (index >= -rows) & (index < rows)
    wanted = np.take(data, np.where(inside, index, 0), axis)
    number = np.float32(np.nan if fill.startswith("0x") else float(fill))
    wanted = np.where(inside.reshape([-1 if place == axis else 1 for place in range(3)]), wanted, number)
    actual = computed(body, tmp_path, [index] if constant else [index, -data], arguments, result)
    np.testing.assert_array_equal(actual, wanted)


def test_remainders_are_in_range(tmp_path: Path) -> None:
    """`x[i % 6]`: a remainder of floored division needs no limits."""
    body = """
    %zero = stablehlo.constant dense<0> : tensor<5xi32>
    %six = stablehlo.constant dense<6> : tensor<5xi32>
    %0 = stablehlo.remainder %i, %six : tensor<5xi32>
    %1 = stablehlo.compare NE, %0, %zero, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %2 = stablehlo.compare LT, %0, %zero, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %false = stablehlo.constant dense<false> : tensor<5xi1>
    %3 = stablehlo.compare NE, %2, %false, UNSIGNED : (tensor<5xi1>, tensor<5xi1>) -> tensor<5xi1>
    %4 = stablehlo.and %3, %1 : tensor<5xi1>
    %5 = stablehlo.add %0, %six : tensor<5xi32>
    %6 = stablehlo.select %4, %5, %0 : tensor<5xi1>, tensor<5xi32>
    %7 = stablehlo.compare LT, %6, %zero, SIGNED : (tensor<5xi32>, tensor<5xi32>) -> tensor<5xi1>
    %8 = stablehlo.add %6, %six : tensor<5xi32>
    %9 = stablehlo.select %7, %8, %6 : tensor<5xi1>, tensor<5xi32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0] : (tensor<5xi32>) -> tensor<5x1xi32>
    %11 = "stablehlo.gather"(%x, %10) <{dimension_numbers = #stablehlo.gather<
      offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      slice_sizes = array<i64: 1, 2>}> : (tensor<6x2xf32>, tensor<5x1xi32>) -> tensor<5x2xf32>
    return %11 : tensor<5x2xf32>"""
    arguments, result = "%x: tensor<6x2xf32>, %i: tensor<5xi32>", "tensor<5x2xf32>"
    (model,) = models_of(converted(body, tmp_path, arguments, result))
    kinds = {op.name.partition(".")[2] for op in model.block.ops}
    assert kinds == {"Constant", "Parameter", "Result", "FloorMod", "Gather"}
    data, index = GENERATOR.normal(size=(6, 2)).astype(np.float32), np.array([-1, -6, -7, 5, 6], np.int32)
    np.testing.assert_array_equal(computed(body, tmp_path, [data, index], arguments, result), data[index % 6])


@pytest.mark.parametrize("rows", [6, 100])
def test_gather_of_batches(rows: int, tmp_path: Path) -> None:
    """`jnp.take_along_axis` of rows: batch dimensions are those of Gather; a start beyond the data is the last one."""
    body = f"""
    %0 = "stablehlo.gather"(%x, %i) <{{dimension_numbers = #stablehlo.gather<
      offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0],
      start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 2>}}>
      : (tensor<3x{rows}x2xf32>, tensor<3x4x1xi32>) -> tensor<3x4x2xf32>
    return %0 : tensor<3x4x2xf32>"""
    arguments, result = f"%x: tensor<3x{rows}x2xf32>, %i: tensor<3x4x1xi32>", "tensor<3x4x2xf32>"
    data, index = GENERATOR.normal(size=(3, rows, 2)).astype(np.float32), GENERATOR.integers(-3, rows + 3, (3, 4, 1)).astype(np.int32)
    actual = computed(body, tmp_path, [data, index], arguments, result)
    np.testing.assert_array_equal(actual, np.take_along_axis(data, np.clip(index, 0, rows - 1), 1))


def sliced(sizes: str, numbers: str, indices: str, result: str) -> str:
    """A gather whose slices have computed sizes, `%sizes`."""
    return f"""
    %i0 = stablehlo.get_dimension_size %y, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %i1 = stablehlo.get_dimension_size %y, dim = 1 : (tensor<?x?xf32>) -> tensor<i32>
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x?xf32>) -> tensor<i32>
    %a = stablehlo.reshape %i0 : (tensor<i32>) -> tensor<1xi32>
    %b = stablehlo.reshape %i1 : (tensor<i32>) -> tensor<1xi32>
    %c = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>
    %one = stablehlo.constant dense<1> : tensor<1xi32>
    %sizes = stablehlo.concatenate {sizes}, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %0 = "stablehlo.dynamic_gather"(%x, %i, %sizes) <{{dimension_numbers = #stablehlo.gather<{numbers}>}}>
      : (tensor<?x?xf32>, tensor<{indices}xi32>, tensor<2xi32>) -> {result}
    return %0 : {result}"""


@pytest.mark.parametrize("start", [0, 2, 9, -3])
def test_slice_of_computed_sizes(start: int, tmp_path: Path) -> None:
    """A start is limited so that the slice is within the tensor."""
    x, y = GENERATOR.normal(size=(4, 7)).astype(np.float32), np.zeros((2, 3), np.float32)
    arguments = "%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %i: tensor<1xi32>"
    inputs = [x, y, np.array([start], np.int32)]
    first = min(max(start, 0), 4)
    numbers = "offset_dims = [0, 1], start_index_map = [1]"
    body = sliced("%a, %b", numbers, "1", "tensor<?x?xf32>")
    np.testing.assert_array_equal(computed(body, tmp_path, inputs, arguments, "tensor<?x?xf32>"), x[:2, first : first + 3])
    body = sliced("%c, %b", numbers, "1", "tensor<?x?xf32>")
    np.testing.assert_array_equal(computed(body, tmp_path, inputs, arguments, "tensor<?x?xf32>"), x[:, first : first + 3])
    numbers = "offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1]"
    body = sliced("%a, %one", numbers, "1", "tensor<?xf32>")
    np.testing.assert_array_equal(computed(body, tmp_path, inputs, arguments, "tensor<?xf32>"), x[:2, min(max(start, 0), 6)])


def test_several_slices_of_computed_sizes(tmp_path: Path) -> None:
    x, y = GENERATOR.normal(size=(4, 7)).astype(np.float32), np.zeros((2, 3), np.float32)
    arguments = "%x: tensor<?x?xf32>, %y: tensor<?x?xf32>, %i: tensor<3x1xi32>"
    body = sliced("%a, %b", "offset_dims = [1, 2], start_index_map = [1], index_vector_dim = 1", "3x1", "tensor<3x?x?xf32>")
    actual = computed(body, tmp_path, [x, y, np.array([[0], [3], [99]], np.int32)], arguments, "tensor<3x?x?xf32>")
    np.testing.assert_array_equal(actual, np.stack([x[:2, first : first + 3] for first in (0, 3, 4)]))


@pytest.mark.parametrize(("start", "is_written"), [(0, True), (4, True), (5, False), (-1, False)])
@pytest.mark.parametrize("function", ["add", "second"])
def test_scatter_of_computed_sizes(function: str, start: int, is_written: bool, tmp_path: Path) -> None:
    """An update that is not within the tensor is left out."""
    body = f"""
    %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [0, 1], scatter_dims_to_operand_dims = [1]>}}> ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      {"%s = stablehlo.add %a, %b : tensor<f32>" if function == "add" else ""}
      stablehlo.return {"%s" if function == "add" else "%b"} : tensor<f32>
    }}) : (tensor<?x?xf32>, tensor<1xi32>, tensor<?x?xf32>) -> tensor<?x?xf32>
    return %0 : tensor<?x?xf32>"""
    x, u = GENERATOR.normal(size=(2, 7)).astype(np.float32), GENERATOR.normal(size=(2, 3)).astype(np.float32)
    expected = x.copy()
    if is_written:
        expected[:, start : start + 3] = u + (x[:, start : start + 3] if function == "add" else 0)
    arguments = "%x: tensor<?x?xf32>, %i: tensor<1xi32>, %u: tensor<?x?xf32>"
    actual = computed(body, tmp_path, [x, np.array([start], np.int32), u], arguments, "tensor<?x?xf32>")
    np.testing.assert_allclose(actual, expected, rtol=1e-6)
