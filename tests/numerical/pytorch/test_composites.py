"""Attention, quantization and arithmetic on sizes against numpy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.pytorch.programs import NAMES, Program, Type
from tests.numerical.runtime import Array, compare, run

RANDOM = np.random.default_rng(3)
QUERY, KEY, VALUE = (RANDOM.standard_normal((2, heads, length, 4)).astype(np.float32) for heads, length in ((4, 3), (2, 5), (2, 5)))
MASK = np.array([[True, True, False, True, False], [False] * 5, [True] * 5])


def attended(mask: Array | None, scale: float, causal: bool = False) -> Array:
    """Attention of four heads of queries on two of keys."""
    key, value = (np.repeat(each, 2, 1) for each in (KEY, VALUE))
    scores = QUERY @ key.swapaxes(-1, -2) * np.float32(scale)
    if causal:
        mask = np.tril(np.ones((3, 5), bool))
    if mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    powers = np.exp(scores - np.max(scores, -1, keepdims=True, initial=-1e30))
    return powers / np.maximum(powers.sum(-1, keepdims=True), np.float32(1e-30)) @ value


@pytest.mark.parametrize("sizes", [(2, 4, 3, 4), ("Symbol('s0')", 4, "Symbol('s1')", 4)])
def test_attention(tmp_path: Path, sizes: Any) -> None:
    program = Program()
    added = RANDOM.standard_normal((3, 5)).astype(np.float32)
    query = program.input("q", "f32", sizes)
    key, value = (program.input(name, "f32", [sizes[0], 2, 5, 4]) for name in "kv")
    masks = {name: program.input(name, NAMES[mask.dtype.name], mask.shape) for name, mask in (("mask", MASK), ("added", added))}
    for more in (
        [],
        [("attn_mask", masks["mask"])],
        [("attn_mask", masks["added"]), ("scale", 0.25)],
        [("attn_mask", None), ("is_causal", True)],
    ):
        arguments = [("query", query), ("key", key), ("value", value), *more, ("enable_gqa", True)]
        program.output(program.node("aten.scaled_dot_product_attention.default", arguments, "f32"))
    program.save(tmp_path / "m.pt2")
    results = run(
        moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), {"q": QUERY, "k": KEY, "v": VALUE, "mask": MASK, "added": added}
    )
    compare(results, [attended(None, 0.5), attended(MASK, 0.5), attended(added, 0.25), attended(None, 0.5, causal=True)])


def test_sizes_are_computed(tmp_path: Path) -> None:
    program = Program()
    x = program.input("x", "f32", ["Symbol('s0')", 6])
    rows = program.number("aten.sym_size.int", [("self", x), ("dim", 0)])
    double = program.number("_operator.mul", [("a", rows), ("b", 2)])
    half = program.number("_operator.floordiv", [("a", rows), ("b", 2)])
    program.output(program.node("aten.view.default", [("self", x), ("size", [double, -1])], "f32"))
    program.output(program.node("aten.slice.Tensor", [("self", x), ("dim", 0), ("start", half), ("end", 2**63 - 1)], "f32"))
    program.output(program.node("aten.full.default", [("size", [half]), ("fill_value", rows)], "i64"))
    program.save(tmp_path / "m.pt2")
    data = RANDOM.standard_normal((5, 6)).astype(np.float32)
    results = run(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), {"x": data})
    compare(results, [data.reshape(10, 3), data[2:], np.array([5, 5])])


def test_quantization_rounds_to_quantized_values(tmp_path: Path) -> None:
    program = Program()
    how = [("scale", 0.1), ("zero_point", 3), ("quant_min", -128), ("quant_max", 127), ("dtype", Type("i8"))]
    x = program.input("x", "f32", [2, 6])
    level = program.node("quantized_decomposed.quantize_per_tensor.default", [("input", x), *how], "i8")
    program.output(program.node("quantized_decomposed.dequantize_per_tensor.default", [("input", level), *how], "f32"))
    program.save(tmp_path / "m.pt2")
    data = (RANDOM.standard_normal((2, 6)) * 9).astype(np.float32)
    levels = np.clip(np.round(data / np.float32(0.1)) + 3, -128, 127)
    results = run(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), {"x": data})
    compare(results, [((levels - 3) * np.float32(0.1)).astype(np.float32)])


@pytest.mark.parametrize("unknown", [False, True])
@pytest.mark.parametrize("shapes", [((7, 4), (3, 4, 5)), ((3, 2, 4), (4, 7)), ((2, 7), (7, 5)), ((3, 2, 4), (3, 4, 5))])
def test_products_of_groups(tmp_path: Path, shapes: tuple[tuple[int, ...], tuple[int, ...]], unknown: bool) -> None:
    first, second = (RANDOM.standard_normal(shape).astype(np.float32) for shape in shapes)
    ends = np.array([2, 2, 7], np.int32)
    program = Program()
    inputs = {"x": first, "w": second, "e": ends}
    sizes = {name: [f"Symbol('{name}{axis}')" for axis in range(each.ndim)] if unknown else each.shape for name, each in inputs.items()}
    operands = [program.input(name, NAMES[each.dtype.name], sizes[name]) for name, each in inputs.items()]
    ranks = (first.ndim, second.ndim)
    arguments = dict(zip(("self", "mat2", "offs"), operands, strict=True)) | ({"offs": None} if ranks == (3, 3) else {})
    program.output(program.node("aten._grouped_mm.default", list(arguments.items()), "f32"))
    if ranks == (2, 3):
        named = list(zip(("input", "weight", "offs"), operands, strict=True))
        program.output(program.node("transformers.grouped_mm_fallback.default", named, "f32"))
    program.save(tmp_path / "m.pt2")
    results = run(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), inputs)
    groups = [slice(0, 2), slice(2, 2), slice(2, 7)]
    wanted = {
        (2, 3): lambda: np.concatenate([first[group] @ matrix for group, matrix in zip(groups, second, strict=True)]),
        (3, 2): lambda: np.concatenate([matrix @ second[:, group] for group, matrix in zip(groups, first, strict=True)], axis=1),
        (2, 2): lambda: np.stack([first[:, group] @ second[group] for group in groups]),
        (3, 3): lambda: first @ second,
    }
    compare(results, [wanted[ranks]()] * len(results))


@pytest.mark.parametrize("columns", [4, "Symbol('s0')"])
def test_operations_between_marks_of_vmap(tmp_path: Path, columns: Any) -> None:
    """One that is elementwise, one that is mapped, and a result that does not have the dimension; torch.vmap over columns."""
    prefix = "torch._functorch.predispatch."
    program = Program()
    x, w = program.input("x", "f32", [3, columns]), program.input("w", "f32", [2, 3])
    inner = program.node(f"{prefix}_add_batch_dim", [("", x), ("", 1), ("", 1)], "f32", [3])
    product = program.node("aten.mul.Tensor", [("self", w), ("other", inner)], "f32", [2, 3])
    summed = program.node("aten.cumsum.default", [("self", product), ("dim", 0)], "f32", [2, 3])
    size = program.number("aten.sym_size.int", [("self", x), ("dim", 1)])
    program.output(program.node(f"{prefix}_remove_batch_dim", [("", summed), ("", 1), ("", size), ("", 2)], "f32", [2, 3, columns]))
    program.output(program.node(f"{prefix}_remove_batch_dim", [("", w), ("", 1), ("", size), ("", 0)], "f32", [columns, 2, 3]))
    program.save(tmp_path / "m.pt2")
    inputs = {"x": np.arange(12, dtype=np.float32).reshape(3, 4), "w": np.arange(6, dtype=np.float32).reshape(2, 3)}
    results = run(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), inputs)
    wanted = np.cumsum(inputs["w"][:, :, None] * inputs["x"][None], 0)
    compare(results, [wanted, np.broadcast_to(inputs["w"], (4, 2, 3))])


def test_an_operation_that_is_mapped_over_two_dimensions(tmp_path: Path) -> None:
    """torch.vmap in torch.vmap: rows of x plus rows of y, summed up; the runtime has no nested TensorIterators."""
    prefix = "torch._functorch.predispatch."
    program = Program()
    x, y = program.input("x", "f32", [2, 4]), program.input("y", "f32", [3, 4])
    outer = program.node(f"{prefix}_add_batch_dim", [("", x), ("", 0), ("", 1)], "f32", [4])
    inner = program.node(f"{prefix}_add_batch_dim", [("", y), ("", 0), ("", 2)], "f32", [4])
    added = program.node("aten.add.Tensor", [("self", outer), ("other", inner)], "f32", [4])
    summed = program.node("aten.cumsum.default", [("self", added), ("dim", 0)], "f32", [4])
    rows = program.node(f"{prefix}_remove_batch_dim", [("", summed), ("", 2), ("", 3), ("", 0)], "f32", [3, 4])
    program.output(program.node(f"{prefix}_remove_batch_dim", [("", rows), ("", 1), ("", 2), ("", 0)], "f32", [2, 3, 4]))
    program.save(tmp_path / "m.pt2")
    inputs = {"x": np.arange(8, dtype=np.float32).reshape(2, 4), "y": np.arange(12, dtype=np.float32).reshape(3, 4) ** 2}
    results = run(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), inputs)
    compare(results, [np.cumsum(inputs["x"][:, None] + inputs["y"], -1)])
    with pytest.raises(ConversionError, match="No nested TensorIterator"):
        moir.to_openvino(moir.convert_model(tmp_path / "m.pt2", target="none"))


@pytest.mark.parametrize("length", [20, "Symbol('s0')"])
def test_spectrogram_of_any_length(tmp_path: Path, length: Any) -> None:
    program = Program()
    x = program.input("x", "f32", [2, length])
    how = [("n_fft", 8), ("hop_length", 3), ("win_length", 6), ("normalized", False), ("onesided", True), ("return_complex", True)]
    spectrum = program.node("aten.stft.default", [("self", x), *how], "c64")
    program.output(program.node("aten.view_as_real.default", [("self", spectrum)], "f32"))
    program.save(tmp_path / "m.pt2")
    data = RANDOM.standard_normal((2, 20)).astype(np.float32)
    results = run(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), {"x": data})
    window = np.array([0, 1, 1, 1, 1, 1, 1, 0], np.float32)
    frames = np.stack([data[:, start : start + 8] * window for start in range(0, 13, 3)], 1)
    frequencies = np.fft.rfft(frames).swapaxes(1, 2)
    compare(results, [np.stack([frequencies.real, frequencies.imag], -1).astype(np.float32)])


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def _projected(x: Array, weights: list[Array], h: Array, c: Array) -> tuple[Array, Array, Array]:
    """An LSTM of one direction with a projection, of x [T, N, I]."""
    own, recurrent, first, second, projection = weights
    outputs: list[Array] = []
    for each in x:
        i, f, g, o = np.split(each @ own.T + h @ recurrent.T + first + second, 4, -1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        h = (_sigmoid(o) * np.tanh(c)) @ projection.T
        outputs.append(h)
    return np.stack(outputs), h, c


@pytest.mark.parametrize("length", [5, "Symbol('s0')"])
def test_lstm_with_projections(tmp_path: Path, length: Any) -> None:
    """Two layers of two directions: 3 inputs, cells of 4, hidden states of 2."""
    program = Program()
    x = program.input("x", "f32", [length, 2, 3])
    states = [RANDOM.standard_normal((4, 2, size)).astype(np.float32) for size in (2, 4)]
    weights = [
        [RANDOM.standard_normal(shape).astype(np.float32) / 2 for shape in ((16, width), (16, 2), (16,), (16,), (2, 4))]
        for width in (3, 3, 4, 4)
    ]
    arguments = [
        ("input", x),
        ("hx", [program.weight(f"state{index}", each) for index, each in enumerate(states)]),
        ("params", [program.weight(f"w{index}_{number}", each) for index, one in enumerate(weights) for number, each in enumerate(one)]),
        *(("has_biases", True), ("num_layers", 2), ("dropout", 0.0), ("train", False), ("bidirectional", True), ("batch_first", False)),
    ]
    for each in program.node_of_several("aten.lstm.input", arguments, ["f32"] * 3):
        program.output(each)
    program.save(tmp_path / "m.pt2")
    data = RANDOM.standard_normal((5, 2, 3)).astype(np.float32)
    results = run(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), {"x": data})
    value, finals = data, list[tuple[Array, Array]]()
    for layer in (0, 2):
        forward, *last = _projected(value, weights[layer], states[0][layer], states[1][layer])
        backward, *first = _projected(value[::-1], weights[layer + 1], states[0][layer + 1], states[1][layer + 1])
        finals += [(last[0], last[1]), (first[0], first[1])]
        value = np.concatenate([forward, backward[::-1]], -1)
    compare(results, [value, np.stack([h for h, _ in finals]), np.stack([c for _, c in finals])])


@pytest.mark.parametrize(
    ("a", "b"), [((5, 3), (5, 2)), ((3, 5), (3, 2)), ((5, 3), (5,)), ((2, 5, 3), (2, 5)), ((2, 4, 4), (2, 4, 1)), ((5, 3), (2, 5, 4))]
)
def test_least_squares(tmp_path: Path, a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """`linalg_lstsq`, which torch 2.13 does not export, by its documentation."""
    left, right = (RANDOM.standard_normal(shape).astype(np.float32) for shape in (a, b))
    program = Program()
    operands = [("self", program.input("a", "f32", a)), ("b", program.input("b", "f32", b)), ("driver", "gelsd")]
    for value in program.node_of_several("aten.linalg_lstsq.default", operands, ["f32", "f32", "i64", "f32"]):
        program.output(value)
    program.save(tmp_path / "m.pt2")
    is_vector = len(b) == 1 or (len(b) == len(a) - 1 and b == a[:-1])
    wanted = right[..., None] if is_vector else right
    solution = np.linalg.pinv(left) @ wanted
    rest = ((wanted - left @ solution) ** 2).sum(-2) if a[-2] > a[-1] else np.zeros(0, np.float32)
    expected = [solution[..., 0] if is_vector else solution, rest, np.linalg.matrix_rank(left), np.linalg.svd(left)[1]]
    results = run(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), {"a": left, "b": right})
    compare(results, [np.asarray(each) for each in expected], rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("is_on", [False, True])
def test_an_observer_that_is_off_writes_nothing(tmp_path: Path, is_on: bool) -> None:
    """A decomposed program returns what the observer has seen, and says that it is written to its buffers."""
    program = Program()
    x = program.input("x", "f32", [2, 3])
    buffers = {"observer_on": np.array([is_on], np.uint8), "fake_quant_on": np.array([1], np.uint8)}
    buffers |= {"running_min": np.array([-1.0], np.float32), "running_max": np.array([1.5], np.float32)}
    buffers |= {"scale": np.array([0.5], np.float32), "zero_point": np.array([0], np.int32)}
    operands = [("self", x), *((name, program.weight(name, value, "buffer")) for name, value in buffers.items())]
    numbers = [("averaging_const", 0.01), ("quant_min", 0), ("quant_max", 127), ("ch_axis", -1)]
    results = program.node_of_several(
        "aten._fused_moving_avg_obs_fq_helper_functional.default", [*operands, *numbers], ["f32", "bool", "f32", "f32", "f32", "i32"]
    )
    for name, value in zip(("running_min", "running_max", "scale", "zero_point"), results[2:], strict=True):
        program.outputs.append({"buffer_mutation": {"arg": {"name": str(value)}, "buffer_name": name}})
    program.output(results[0])
    program.save(tmp_path / "m.pt2")
    if is_on:
        with pytest.raises(ConversionError, match=r"its observer is on; .*disable_observer"):
            moir.convert_model(tmp_path / "m.pt2")
        return
    data = np.array([[-2, -0.51, -0.013], [0.27, 1.49, 9]], np.float32)
    model = moir.to_openvino(moir.convert_model(tmp_path / "m.pt2"))
    assert not model.get_sinks()
    scale = np.float32(2.5 / 127)
    zero = np.round(1 / scale)
    compare(run(model, {"x": data}), [((np.clip(np.round(data / scale) + zero, 0, 127) - zero) * scale).astype(np.float32)])
