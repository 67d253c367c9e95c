"""Slices, padding, gather and scatter of XLA; conditions and loops of XLA."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.runtime import Array
from tests.numerical.tensorflow.conversion import check
from tests.numerical.tensorflow.xla_functions import body, check_compiled, messages, operations, xla

RANDOM = np.random.default_rng(33)


def floats(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32)


PADS = {
    "edges": ([1, 0], [0, 2], [0, 0]),
    "interior": ([0, 0], [0, 0], [1, 2]),
    "both": ([2, 1], [1, 0], [2, 0]),
    "cropped": ([-1, 1], [0, -2], [0, 0]),
    "cropped interior": ([-1, -2], [1, -1], [1, 1]),
    "nothing": ([0, 0], [0, 0], [0, 0]),
}


@pytest.mark.parametrize("name", PADS)
def test_pad(name: str) -> None:
    low, high, interior = PADS[name]
    check_compiled(lambda x: xla.pad(x, np.float32(1.5), low, high, interior), {"x": floats(3, 4)})


def test_broadcast_helper() -> None:
    inputs = {"x": floats(2, 3, 4), "y": floats(3)}
    check_compiled(lambda x, y: operations.xla_broadcast_helper(lhs=x, rhs=y, broadcast_dims=[1]), inputs)
    check_compiled(lambda x, y: operations.xla_broadcast_helper(lhs=y, rhs=x, broadcast_dims=[1]), inputs)


def test_identities() -> None:
    x = floats(2, 3)
    check_compiled(lambda x: xla.optimization_barrier([x, x + 1]), {"x": x})
    check_compiled(lambda x: operations.xla_sharding(input=x), {"x": x})
    check_compiled(lambda x: operations.xla_remove_dynamic_dimension_size(input=x, dim_index=0), {"x": x})


@pytest.mark.parametrize("start", [(0, 1), (2, 5), (-1, 2), (1, 0)])
def test_dynamic_slice(start: tuple[int, int]) -> None:
    x, starts = floats(4, 6), np.array(start, np.int32)
    for sizes in ([2, 3], [4, 2], [4, 6], [1, 1]):
        check_compiled(lambda x, start, sizes=sizes: xla.dynamic_slice(x, start, sizes), {"x": x, "start": starts})
        check_compiled(lambda x, sizes=sizes: xla.dynamic_slice(x, starts, sizes), {"x": x})


@pytest.mark.parametrize("start", [(0, 1), (2, 5), (-1, 2)])
def test_dynamic_update_slice(start: tuple[int, int]) -> None:
    x, update, starts = floats(4, 6), floats(2, 3), np.array(start, np.int64)
    check_compiled(lambda x, u, start: xla.dynamic_update_slice(x, u, start), {"x": x, "u": update, "start": starts})
    check_compiled(lambda x, u: xla.dynamic_update_slice(x, u, starts), {"x": x, "u": update}, forms=("static",))


def gather_numbers(
    offset: Sequence[int],
    collapsed: Sequence[int],
    starts: Sequence[int],
    place: int,
    batching: tuple[Sequence[int], Sequence[int]] = ((), ()),
) -> Any:
    """GatherDimensionNumbers: offset_dims, collapsed_slice_dims, start_index_map, index_vector_dim, batching dimensions."""
    return messages.GatherDimensionNumbers(
        offset_dims=offset,
        collapsed_slice_dims=collapsed,
        start_index_map=starts,
        index_vector_dim=place,
        operand_batching_dims=batching[0],
        start_indices_batching_dims=batching[1],
    )


GATHERS: dict[str, Any] = {
    "rows": ((5, 4), [[1], [4], [0]], [1, 4], gather_numbers([1], [0], [0], 1)),
    "rows by numbers": ((5, 4), [1, 4, 0], [1, 4], gather_numbers([1], [0], [0], 1)),
    "columns": ((5, 4), [[[1], [3]]], [5, 1], gather_numbers([0], [1], [1], 2)),
    "part of columns": ((5, 4), [[1], [3]], [3, 1], gather_numbers([0], [1], [1], 1)),
    "kept row": ((5, 4), [[1], [4]], [1, 4], gather_numbers([0, 2], [], [0], 1)),
    "beyond": ((5, 4), [[7], [-3]], [1, 4], gather_numbers([1], [0], [0], 1)),
    "elements": ((5, 4), [[1, 2], [4, 0]], [1, 1], gather_numbers([], [0, 1], [0, 1], 1)),
    "swapped": ((4, 5), [[1, 2], [4, 0]], [1, 1], gather_numbers([], [0, 1], [1, 0], 1)),
    "windows": ((5, 4, 3), [[1, 2], [3, 0]], [2, 2, 3], gather_numbers([1, 2, 3], [], [0, 1], 1)),
    "windows first": ((5, 4, 3), [[1, 2], [3, 9]], [2, 1, 3], gather_numbers([0, 1], [1], [0, 1], 1)),
    "one slice": ((5, 4), [1, 2], [2, 2], gather_numbers([0, 1], [], [0, 1], 0)),
    "starts first": ((5, 4, 3), [[1, 3, 0], [2, 0, 1]], [1, 2, 3], gather_numbers([1, 2], [0], [0, 1], 0)),
    "batches": ((2, 5, 4), [[[1], [2]], [[0], [4]]], [1, 1, 4], gather_numbers([2], [1], [1], 2, ([0], [0]))),
    "batches of windows": ((2, 5, 4), [[[1], [2]], [[0], [4]]], [1, 2, 4], gather_numbers([1, 2], [], [1], 2, ([0], [1]))),
}


@pytest.mark.parametrize("name", GATHERS)
def test_gather(name: str) -> None:
    shape, starts, sizes, numbers = GATHERS[name]
    indices = np.array(starts, np.int32)
    inputs = {"x": floats(*shape), "i": indices}
    forms = ("static",) if sizes[0] == shape[0] else ("static", "dynamic")
    check_compiled(lambda x, i: xla.gather(x, i, numbers, sizes), inputs, forms=forms)
    check_compiled(lambda x: xla.gather(x, indices, numbers, sizes), {"x": inputs["x"]}, forms=("static",))


@pytest.mark.parametrize("name", ["rows", "part of columns", "windows", "one slice"])
def test_gather_of_computed_sizes(name: str) -> None:
    """The sizes of slices follow from the size of another input."""
    shape, starts, sizes, numbers = GATHERS[name]
    inputs = {"x": floats(*shape), "i": np.array(starts, np.int32), "s": floats(*sizes)}
    check_compiled(lambda x, i, s: xla.gather(x, i, numbers, tf.shape(s)), inputs, forms=("static", "dynamic"))


def scatter_numbers(
    windows: Sequence[int],
    inserted: Sequence[int],
    starts: Sequence[int],
    place: int,
    batching: tuple[Sequence[int], Sequence[int]] = ((), ()),
) -> Any:
    """ScatterDimensionNumbers: update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims, others as of a gather."""
    return messages.ScatterDimensionNumbers(
        update_window_dims=windows,
        inserted_window_dims=inserted,
        scatter_dims_to_operand_dims=starts,
        index_vector_dim=place,
        input_batching_dims=batching[0],
        scatter_indices_batching_dims=batching[1],
    )


SCATTERS: dict[str, Any] = {
    "rows": ((5, 4), [[1], [4], [0]], (3, 4), scatter_numbers([1], [0], [0], 1)),
    "beyond": ((5, 4), [[1], [5], [-1]], (3, 4), scatter_numbers([1], [0], [0], 1)),
    "columns": ((5, 4), [[1], [3]], (5, 2), scatter_numbers([0], [1], [1], 1)),
    "elements": ((5, 4), [[1, 2], [4, 0], [1, 4]], (3,), scatter_numbers([], [0, 1], [0, 1], 1)),
    "windows": ((5, 4, 3), [[1, 2], [3, 0]], (2, 2, 2, 3), scatter_numbers([1, 2, 3], [], [0, 1], 1)),
    "windows beyond": ((5, 4, 3), [[1, 2], [4, 0]], (2, 2, 2, 3), scatter_numbers([1, 2, 3], [], [0, 1], 1)),
    "kept row": ((5, 4), [[1], [4]], (2, 1, 4), scatter_numbers([1, 2], [], [0], 1)),
    "one window": ((5, 4), [1, 2], (2, 2), scatter_numbers([0, 1], [], [0, 1], 0)),
    "batches": ((2, 5, 4), [[[1], [2]], [[0], [4]]], (2, 2, 4), scatter_numbers([2], [1], [1], 2, ([0], [0]))),
}


def update(_: Any, new: Any) -> Any:
    """The update in place of the present element."""
    return new


UPDATES: dict[str, Any] = {
    "update": update, "add": tf.math.add, "multiply": tf.math.multiply, "max": tf.math.maximum, "min": tf.math.minimum
}  # fmt: skip


@pytest.mark.parametrize("kind", UPDATES)
@pytest.mark.parametrize("name", SCATTERS)
def test_scatter(name: str, kind: str) -> None:
    shape, starts, written, numbers = SCATTERS[name]
    indices = np.array(starts, np.int32)
    function = body(UPDATES[kind], tf.float32, tf.float32)
    inputs = {"x": floats(*shape), "u": floats(*written), "i": indices}
    check_compiled(lambda x, u, i: xla.scatter(x, i, u, function, numbers), inputs, forms=("static",))
    check_compiled(lambda x, u: xla.scatter(x, indices, u, function, numbers), {name: inputs[name] for name in "xu"}, forms=("static",))


def test_scatter_of_truth_values() -> None:
    shape, starts, written, numbers = SCATTERS["rows"]
    function = body(update, tf.bool, tf.bool)
    inputs = {"x": RANDOM.random(shape) > 0.5, "u": RANDOM.random(written) > 0.5, "i": np.array(starts, np.int32)}
    check_compiled(lambda x, u, i: xla.scatter(x, i, u, function, numbers), inputs, forms=("static",))


def test_scatter_with_another_function_is_refused() -> None:
    shape, starts, written, numbers = SCATTERS["rows"]
    function = body(lambda a, b: a * a + b, tf.float32, tf.float32)
    with pytest.raises(ConversionError, match="is not a sum"):
        check_compiled(
            lambda x, u: xla.scatter(x, np.array(starts, np.int32), u, function, numbers),
            {"x": floats(*shape), "u": floats(*written)},
            forms=("static",),
        )


@pytest.mark.parametrize("truth", [True, False])
def test_condition(truth: bool) -> None:
    spec = tf.TensorSpec((3,), tf.float32)
    branches = [tf.function(each, autograph=False).get_concrete_function(spec) for each in (lambda x: x + 1, lambda x: x * 2)]

    def function(c: Any, x: Any) -> Any:
        return operations.xla_if(cond=c, inputs=[x], then_branch=branches[0], else_branch=branches[1], Tout=[tf.float32])

    # The attribute that says the shapes of the results is there in no graph outside of a device for XLA.
    x = floats(3)
    check(function, {"c": np.array(truth), "x": x}, expected=[x + 1 if truth else x * 2], forms=("static", "dynamic"))


def test_loop() -> None:
    specs = tf.TensorSpec((), tf.int32), tf.TensorSpec((3,), tf.float32)
    cond = tf.function(lambda i, _: i < 4, autograph=False).get_concrete_function(*specs)
    inner = tf.function(lambda i, x: (i + 1, x * 2), autograph=False).get_concrete_function(*specs)

    def function(i: Any, x: Any) -> Any:
        return operations.xla_while(input=[i, x], cond=cond, body=inner)

    check_compiled(function, {"i": np.array(0, np.int32), "x": floats(3)})


REFUSED: dict[str, Any] = {
    "XlaSelfAdjointEig": (
        lambda x: operations.xla_self_adjoint_eig(a=x, lower=True, max_iter=5, epsilon=0.1)[0], "iterates until it is exact"
    ),
    "XlaRngBitGenerator": (
        lambda x: operations.xla_rng_bit_generator(algorithm=1, initial_state=tf.cast(x[0], tf.uint64), shape=[3], dtype=tf.uint32)[1],
        "generator of the bits",
    ),
    "XlaReplicaId": (lambda x: operations.xla_replica_id() + tf.cast(x[0, 0], tf.int32), "between devices"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_what_cannot_be_expressed_is_refused(kind: str) -> None:
    function, reason = REFUSED[kind]
    with pytest.raises(ConversionError, match=reason):
        check(function, {"x": floats(2, 2)}, expected=[floats(1)], forms=("static",))
