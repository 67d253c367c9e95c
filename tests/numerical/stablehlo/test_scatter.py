"""Slices that are written in forms that have no starts, or by functions that the runtime's scatter does not have."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import moir
from moir.errors import UnsupportedOperationError
from tests.numerical.stablehlo.test_operations import computed

X = np.arange(1, 13, dtype=np.float32).reshape(3, 4)
SQUARES = """
      %p = stablehlo.multiply %a, %b : tensor<f32>
      %q = stablehlo.add %p, %a : tensor<f32>
      stablehlo.return %q : tensor<f32>"""


def written(function: str, indices: str, numbers: str, shape: str, dense: str = "dense<>") -> str:
    """A scatter of updates of a shape into a tensor of 3 x 4."""
    return f"""
    %i = stablehlo.constant {dense} : tensor<{indices}xi32>
    %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<{numbers}>}}> ({{
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):{function}
    }}) : (tensor<3x4xf32>, tensor<{indices}xi32>, tensor<{shape}xf32>) -> tensor<3x4xf32>
    return %0 : tensor<3x4xf32>"""


def combined(kind: str) -> str:
    return f"\n      %p = stablehlo.{kind} %a, %b : tensor<f32>\n      stablehlo.return %p : tensor<f32>"


def result_of(body: str, updates: np.ndarray, folder: Path) -> np.ndarray:
    shape = "".join(f"{size}x" for size in updates.shape)
    return computed(body, folder, [X, updates], f"%x: tensor<3x4xf32>, %u: tensor<{shape}f32>", "tensor<3x4xf32>")


@pytest.mark.parametrize(("kind", "function"), [("add", np.add), ("multiply", np.multiply), ("maximum", np.maximum)])
def test_the_whole_tensor(kind: str, function: np.ufunc, tmp_path: Path) -> None:
    updates = X[::-1] / 2
    actual = result_of(written(combined(kind), "0", "update_window_dims = [0, 1]", "3x4"), updates, tmp_path)
    np.testing.assert_array_equal(actual, function(X, updates))


def test_a_whole_tensor_by_a_function(tmp_path: Path) -> None:
    actual = result_of(written(SQUARES, "0", "update_window_dims = [0, 1]", "3x4"), X / 2, tmp_path)
    np.testing.assert_array_equal(actual, X * X / 2 + X)


def test_the_beginning_of_a_tensor(tmp_path: Path) -> None:
    actual = result_of(written(combined("add"), "0", "update_window_dims = [0, 1]", "2x3"), np.ones((2, 3), np.float32), tmp_path)
    wanted = X.copy()
    wanted[:2, :3] += 1
    np.testing.assert_array_equal(actual, wanted)


def test_one_slice_by_a_function(tmp_path: Path) -> None:
    """With a single index no two updates overlap: the present elements are read, combined and written back."""
    numbers = "update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]"
    actual = result_of(written(SQUARES, "1", numbers, "4", "dense<[2]>"), np.full(4, 3, np.float32), tmp_path)
    wanted = X.copy()
    wanted[2] *= 4
    np.testing.assert_array_equal(actual, wanted)


def test_several_slices_by_a_function(tmp_path: Path) -> None:
    """Two slices may have one position; their order would matter."""
    numbers = "update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1"
    body = written(SQUARES, "2x1", numbers, "2x4", "dense<[[2], [2]]>")
    with pytest.raises(UnsupportedOperationError, match="its function is not a sum"):
        result_of(body, np.ones((2, 4), np.float32), tmp_path)


@pytest.mark.parametrize("kind", ["add", "multiply"])
def test_complex_numbers(kind: str, tmp_path: Path) -> None:
    body = f"""
    %i = stablehlo.constant dense<[1]> : tensor<1xi32>
    %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [0], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}}> ({{
    ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
      %p = stablehlo.{kind} %a, %b : tensor<complex<f32>>
      stablehlo.return %p : tensor<complex<f32>>
    }}) : (tensor<3x4xcomplex<f32>>, tensor<1xi32>, tensor<4xcomplex<f32>>) -> tensor<3x4xcomplex<f32>>
    return %0 : tensor<3x4xcomplex<f32>>"""
    data, updates = np.stack([X, X[::-1]], -1), np.stack([X[0], X[1]], -1)
    arguments = "%x: tensor<3x4xcomplex<f32>>, %u: tensor<4xcomplex<f32>>"
    actual = computed(body, tmp_path, [data, updates], arguments, "tensor<3x4xcomplex<f32>>")
    wanted = data[..., 0] + 1j * data[..., 1]
    other = updates[:, 0] + 1j * updates[:, 1]
    wanted[1] = wanted[1] + other if kind == "add" else wanted[1] * other
    np.testing.assert_array_equal(actual[..., 0] + 1j * actual[..., 1], wanted)


def test_a_window_of_too_few_dimensions(tmp_path: Path) -> None:
    """The window has to have all dimensions that are not inserted."""
    path = tmp_path / "model.mlir"
    body = written(combined("add"), "0", "update_window_dims = [0]", "4")
    path.write_text(f"func.func @main(%x: tensor<3x4xf32>, %u: tensor<4xf32>) -> tensor<3x4xf32> {{{body}\n}}")
    with pytest.raises(UnsupportedOperationError, match=r"update_window_dims \[0\] do not fit"):
        moir.convert_model(path)
