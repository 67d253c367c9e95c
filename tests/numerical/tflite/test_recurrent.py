"""Recurrent operators against the interpreter, over two inferences: their states stay from one to the next."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.dialects.memory_map import Array
from moir.errors import ConversionError
from tests.numerical.runtime import core
from tests.numerical.tflite.files import Operator, Tensor, file_of

tf: Any = pytest.importorskip("tensorflow")

T, N, WIDTH, H, P = 4, 2, 3, 5, 4
RANDOM = np.random.default_rng(7)


def normal(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32) * np.float32(0.5)


def constants(**values: Array) -> list[Tensor]:
    return [Tensor(name, value, is_constant=True) for name, value in values.items()]


def weights(bits: int, **values: Array) -> list[Tensor]:
    """Constants, of which matrices are integers of 8 bits with a scale if so many bits are asked for."""
    tensors: list[Tensor] = []
    for name, value in values.items():
        if bits == 32 or value.ndim != 2:
            tensors.append(Tensor(name, value, is_constant=True))
            continue
        scale = float(np.abs(value).max() / 127)
        tensors.append(Tensor(name, np.round(value / scale).astype(np.int8), is_constant=True, scale=[scale], zero=[0]))
    return tensors


def gates(prefix: str, *shape: int, gates: str = "ifco") -> dict[str, Array]:
    return {f"{prefix}_{gate}": normal(*shape) for gate in gates}


def lstm(cifg: bool = False, peephole: bool = False, projection: bool = False, norm: bool = False, time_major: bool = True) -> bytes:
    """An LSTM with some of its parts."""
    size = P if projection else H
    used = "fco" if cifg else "ifco"
    values = gates("w", H, WIDTH, gates=used) | gates("r", H, size, gates=used) | gates("b", H, gates=used)
    if peephole:
        values |= gates("p", H, gates=used.replace("c", ""))
    if projection:
        values |= {"proj": normal(P, H), "proj_b": normal(P)}
    if norm:
        values |= gates("n", H, gates=used)
    listed = [f"{prefix}_{gate}" for prefix in "wr" for gate in "ifco"] + [f"p_{gate}" for gate in "ifo"] + [f"b_{gate}" for gate in "ifco"]
    listed += ["proj", "proj_b", "h", "c"] + ([f"n_{gate}" for gate in "ifco"] if norm else [])
    names = ["x", *(name if name in values or name in ("h", "c") else "" for name in listed)]
    lead = (T, N) if time_major else (N, T)
    tensors = [
        Tensor("x", np.zeros((*lead, WIDTH), np.float32)),
        *constants(**values),
        Tensor("h", np.zeros((N, size), np.float32), is_variable=True),
        Tensor("c", np.zeros((N, H), np.float32), is_variable=True),
        Tensor("y", np.zeros((*lead, size), np.float32)),
    ]
    fields = {"FusedActivationFunction": 4, "CellClip": 0.8, "ProjClip": 0.6 if projection else 0.0, "TimeMajor": time_major}
    return file_of(
        tensors, [Operator("UNIDIRECTIONAL_SEQUENCE_LSTM", names, ["y"], "UnidirectionalSequenceLSTMOptions", fields)], ["x"], ["y"]
    )


def lstm_in_both_directions(bits: int = 32) -> bytes:
    values: dict[str, Array] = {}
    names = ["x"]
    for side in ("f", "b"):
        own = gates(f"{side}w", H, WIDTH) | gates(f"{side}r", H, H) | gates(f"{side}b", H)
        values |= own
        listed = [f"{side}{part}_{gate}" for part in "wr" for gate in "ifco"]
        names += [*listed, "", "", "", *(f"{side}b_{gate}" for gate in "ifco"), "", ""]
    states = ("fh", "fc", "bh", "bc")
    tensors = [
        Tensor("x", np.zeros((T, N, WIDTH), np.float32)),
        *weights(bits, **values),
        *(Tensor(name, np.zeros((N, H), np.float32), is_variable=True) for name in states),
        *(Tensor(name, np.zeros((T, N, H), np.float32)) for name in ("y", "z")),
    ]
    options = {"FusedActivationFunction": 4, "TimeMajor": True, "MergeOutputs": False}
    operator = Operator(
        "BIDIRECTIONAL_SEQUENCE_LSTM", [*names, *states, *[""] * 9], ["y", "z"], "BidirectionalSequenceLSTMOptions", options
    )
    return file_of(tensors, [operator], ["x"], ["y", "z"])


def rnn(kind: str, bits: int = 32) -> bytes:
    """A simple network: a sequence, or one step."""
    lead = (N,) if kind == "RNN" else (N, T)
    tensors = [
        Tensor("x", np.zeros((*lead, WIDTH), np.float32)),
        *weights(bits, w=normal(H, WIDTH), r=normal(H, H), b=normal(H)),
        Tensor("h", np.zeros((N, H), np.float32), is_variable=True),
        Tensor("y", np.zeros((*lead, H), np.float32)),
    ]
    options = "RNNOptions" if kind == "RNN" else "SequenceRNNOptions"
    return file_of(tensors, [Operator(kind, ["x", "w", "r", "b", "h"], ["y"], options, {"FusedActivationFunction": 1})], ["x"], ["y"])


def rnn_in_both_directions() -> bytes:
    values = {f"{side}{name}": normal(*shape) for side in "fb" for name, shape in (("w", (H, WIDTH)), ("r", (H, H)), ("b", (H,)))}
    states = ("fh", "bh")
    tensors = [
        Tensor("x", np.zeros((T, N, WIDTH), np.float32)),
        *constants(**values),
        *(Tensor(name, np.zeros((N, H), np.float32), is_variable=True) for name in states),
        Tensor("y", np.zeros((T, N, 2 * H), np.float32)),
    ]
    names = ["x", "fw", "fr", "fb", "fh", "bw", "br", "bb", "bh", "", "", ""]
    options = {"TimeMajor": True, "FusedActivationFunction": 4, "MergeOutputs": True}
    return file_of(
        tensors, [Operator("BIDIRECTIONAL_SEQUENCE_RNN", names, ["y"], "BidirectionalSequenceRNNOptions", options)], ["x"], ["y"]
    )


def svdf(bits: int = 32) -> bytes:
    rank, filters, memory = 2, 6, 4
    tensors = [
        Tensor("x", np.zeros((N, WIDTH), np.float32)),
        *weights(bits, w=normal(filters, WIDTH), t=normal(filters, memory), b=normal(filters // rank)),
        Tensor("s", np.zeros((N, filters * memory), np.float32), is_variable=True),
        Tensor("y", np.zeros((N, filters // rank), np.float32)),
    ]
    options = {"Rank": rank, "FusedActivationFunction": 1}
    return file_of(tensors, [Operator("SVDF", ["x", "w", "t", "b", "s"], ["y"], "SVDFOptions", options)], ["x"], ["y"])


def step_of_lstm() -> bytes:
    values = gates("w", H, WIDTH) | gates("r", H, H) | gates("b", H)
    names = ["x", *(f"{prefix}_{gate}" for prefix in "wr" for gate in "ifco"), "", "", "", *(f"b_{gate}" for gate in "ifco"), "", ""]
    tensors = [
        Tensor("x", np.zeros((N, WIDTH), np.float32)),
        *constants(**values),
        *(Tensor(name, np.zeros((N, H), np.float32), is_variable=True) for name in "hc"),
        Tensor("y", np.zeros((N, H), np.float32)),
    ]
    operator = Operator("LSTM", [*names, "h", "c"], ["y"], "LSTMOptions", {"FusedActivationFunction": 4, "CellClip": 0.8})
    return file_of(tensors, [operator], ["x"], ["y"])


CASES: dict[str, Callable[[], bytes]] = {
    "lstm": lstm,
    "coupled lstm": lambda: lstm(cifg=True, peephole=True),
    "lstm of batches": lambda: lstm(time_major=False),
    "lstm with all parts": lambda: lstm(peephole=True, projection=True, norm=True),
    "coupled lstm with norms": lambda: lstm(cifg=True, norm=True),
    "lstm in both directions": lstm_in_both_directions,
    "step of lstm": step_of_lstm,
    "rnn": lambda: rnn("UNIDIRECTIONAL_SEQUENCE_RNN"),
    "rnn in both directions": rnn_in_both_directions,
    "step of rnn": lambda: rnn("RNN"),
    "svdf": svdf,
}


HYBRID: dict[str, Callable[[], bytes]] = {
    "lstm in both directions": lambda: lstm_in_both_directions(8),
    "rnn": lambda: rnn("UNIDIRECTIONAL_SEQUENCE_RNN", 8),
    "step of rnn": lambda: rnn("RNN", 8),
    "svdf": lambda: svdf(8),
}
"""Weights of 8 bits with activations in floats, which the kernels round to 8 bits for each product.

The interpreter crashes on BIDIRECTIONAL_SEQUENCE_RNN.
"""


@pytest.mark.parametrize("case", CASES)
def test_recurrent_operators(tmp_path: Path, case: str) -> None:
    check(tmp_path, CASES[case](), 1e-5)


@pytest.mark.parametrize("case", HYBRID)
def test_recurrent_operators_with_weights_of_8_bits(tmp_path: Path, case: str) -> None:
    check(tmp_path, HYBRID[case](), 0.02)


def test_lstm_in_both_directions_of_integers_is_refused(tmp_path: Path) -> None:
    """No kernel computes it: `lstm_in_both_directions` with integers throughout, as a damaged converter might write it."""
    values: dict[str, Array] = {}
    names = ["x"]
    for side in ("f", "b"):
        values |= gates(f"{side}w", H, WIDTH) | gates(f"{side}r", H, H)
        biases = [f"{side}b_{gate}" for gate in "ifco"]
        names += [*(f"{side}{part}_{gate}" for part in "wr" for gate in "ifco"), "", "", "", *biases, "", ""]
    states = ("fh", "fc", "bh", "bc")
    tensors = [
        Tensor("x", np.zeros((T, N, WIDTH), np.int8), scale=[0.1], zero=[0]),
        *weights(8, **values),
        *(Tensor(f"{side}b_{gate}", np.ones(H, np.int32), is_constant=True, scale=[0.01], zero=[0]) for side in "fb" for gate in "ifco"),
        *(Tensor(name, np.zeros((N, H), np.int8), is_variable=True, scale=[0.1], zero=[0]) for name in states),
        *(Tensor(name, np.zeros((T, N, H), np.int8), scale=[0.1], zero=[0]) for name in ("y", "z")),
    ]
    operator = Operator(
        "BIDIRECTIONAL_SEQUENCE_LSTM", [*names, *states, *[""] * 9], ["y", "z"], "BidirectionalSequenceLSTMOptions", {"TimeMajor": True}
    )
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of(tensors, [operator], ["x"], ["y", "z"]))
    with pytest.raises(ConversionError, match=r"BIDIRECTIONAL_SEQUENCE_LSTM.*biases of integers"):
        moir.convert_model(path)


def integer_lstm(cifg: bool = False, peephole: bool = False, time: int = 12, intermediates: int = 5) -> bytes:
    """An LSTM of integers with large weights, so that parts of the sums of its gates saturate."""
    used = "fco" if cifg else "ifco"
    names, tensors = ["x"], [Tensor("x", np.zeros((time, N, WIDTH), np.int8), scale=[0.125], zero=[3])]

    def added(name: str, shape: tuple[int, ...], dtype: Any, scale: float) -> None:
        value = RANDOM.integers(-127, 128, size=shape) * (1 if dtype == np.int8 else 16)
        tensors.append(Tensor(name, value.astype(dtype), is_constant=True, scale=[scale], zero=[0]))

    for prefix, width, scale in (("w", WIDTH, 0.05), ("r", H, 0.03)):
        for gate in "ifco":
            names.append(f"{prefix}_{gate}" if gate in used else "")
            if gate in used:
                added(f"{prefix}_{gate}", (H, width), np.int8, scale)
    for gate in "ifo":
        names.append(f"p_{gate}" if peephole and gate in used else "")
        if names[-1]:
            added(names[-1], (H,), np.int16, 2.0**-11)
    for gate in "ifco":
        names.append(f"b_{gate}" if gate in used else "")
        if gate in used:
            added(f"b_{gate}", (H,), np.int32, 0.125 * 0.05)
    tensors += [
        Tensor("h", np.zeros((N, H), np.int8), is_variable=True, scale=[1 / 128], zero=[0]),
        Tensor("c", np.zeros((N, H), np.int16), is_variable=True, scale=[2.0**-11], zero=[0]),
        Tensor("y", np.zeros((time, N, H), np.int8), scale=[1 / 128], zero=[0]),
        *(Tensor(f"i{index}", np.zeros((N, H), np.int8 if index == 4 else np.int16), scale=[1 / 128]) for index in range(intermediates)),
    ]
    fields = {"FusedActivationFunction": 4, "TimeMajor": True}
    inner = [f"i{index}" for index in range(intermediates)]
    operands = [*names, "", "", "h", "c", "", "", "", ""]
    operator = Operator("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, ["y"], "UnidirectionalSequenceLSTMOptions", fields, intermediates=inner)
    return file_of(tensors, [operator], ["x"], ["y"])


@pytest.mark.parametrize("parts", [{}, {"cifg": True}, {"peephole": True}], ids=str)
def test_sums_of_an_integer_lstm_saturate(tmp_path: Path, parts: dict[str, bool]) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(integer_lstm(**parts))
    interpreter = tf.lite.Interpreter(str(path))
    interpreter.allocate_tensors()
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    request = core().compile_model(tmp_path / "m.xml", "CPU").create_infer_request()
    [given], [output] = interpreter.get_input_details(), interpreter.get_output_details()
    for _ in range(3):
        x = RANDOM.integers(-128, 128, given["shape"]).astype(np.int8)
        interpreter.set_tensor(given["index"], x)
        interpreter.invoke()
        expected, actual = interpreter.get_tensor(output["index"]).astype(np.int32), request.infer({0: x})[0]
        assert np.mean(expected == actual) > 0.8
        assert np.abs(expected - actual).max() <= 4


def test_an_integer_lstm_without_its_scales_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(integer_lstm(intermediates=0))
    with pytest.raises(ConversionError, match=r"UNIDIRECTIONAL_SEQUENCE_LSTM of integers has 0 intermediate tensors, not 5"):
        moir.convert_model(path)


def check(folder: Path, model: bytes, tolerance: float) -> None:
    """Fail unless the results of two inferences are those of the interpreter."""
    path = folder / "m.tflite"
    path.write_bytes(model)
    interpreter = tf.lite.Interpreter(str(path), experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    moir.save_model(moir.convert_model(path), folder / "m.xml")
    request = core().compile_model(folder / "m.xml", "CPU").create_infer_request()
    [given] = interpreter.get_input_details()
    for _ in range(2):
        x = RANDOM.normal(size=given["shape"]).astype(np.float32)
        interpreter.set_tensor(given["index"], x)
        interpreter.invoke()
        actual = request.infer({0: x})
        for number, output in enumerate(interpreter.get_output_details()):
            np.testing.assert_allclose(actual[number], interpreter.get_tensor(output["index"]), rtol=1e-4, atol=tolerance)


def test_the_basic_kernel_of_a_step(tmp_path: Path) -> None:
    given = {"x": normal(N, WIDTH), "h": normal(N, H), "c": normal(N, H)}
    shapes = {"y": (N, H), "d": (N, H), "t": (N, WIDTH + H), "a": (N, 4 * H)}
    tensors = [
        *(Tensor(name, value) for name, value in given.items()),
        *constants(w=normal(4 * H, WIDTH + H), b=normal(4 * H)),
        *(Tensor(name, np.zeros(shape, np.float32)) for name, shape in shapes.items()),
    ]
    operator = Operator("LSTM", ["x", "h", "w", "b", "c"], list(shapes), "LSTMOptions", {"KernelType": 1, "FusedActivationFunction": 4})
    path = tmp_path / "m.tflite"
    path.write_bytes(file_of(tensors, [operator], list(given), ["y", "d"]))
    interpreter = tf.lite.Interpreter(str(path), experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    for place, value in zip(interpreter.get_input_details(), given.values(), strict=True):
        interpreter.set_tensor(place["index"], value)
    interpreter.invoke()
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    actual = core().compile_model(tmp_path / "m.xml", "CPU").create_infer_request().infer(list(given.values()))
    for number, output in enumerate(interpreter.get_output_details()):
        np.testing.assert_allclose(actual[number], interpreter.get_tensor(output["index"]), rtol=1e-4, atol=1e-5)
