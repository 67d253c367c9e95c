"""Recurrent operators against the interpreter, over two inferences: their states stay from one to the next."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.dialects.memory_map import Array
from tests.numerical.runtime import core
from tests.numerical.tflite.files import Operator, Tensor, file_of

tf: Any = pytest.importorskip("tensorflow")

T, N, WIDTH, H, P = 4, 2, 3, 5, 4
RANDOM = np.random.default_rng(7)


def normal(*shape: int) -> Array:
    return RANDOM.normal(size=shape).astype(np.float32) * np.float32(0.5)


def constants(**values: Array) -> list[Tensor]:
    return [Tensor(name, value, is_constant=True) for name, value in values.items()]


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


def lstm_in_both_directions() -> bytes:
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
        *constants(**values),
        *(Tensor(name, np.zeros((N, H), np.float32), is_variable=True) for name in states),
        *(Tensor(name, np.zeros((T, N, H), np.float32)) for name in ("y", "z")),
    ]
    options = {"FusedActivationFunction": 4, "TimeMajor": True, "MergeOutputs": False}
    operator = Operator(
        "BIDIRECTIONAL_SEQUENCE_LSTM", [*names, *states, *[""] * 9], ["y", "z"], "BidirectionalSequenceLSTMOptions", options
    )
    return file_of(tensors, [operator], ["x"], ["y", "z"])


def rnn(kind: str) -> bytes:
    """A simple network: a sequence, or one step."""
    lead = (N,) if kind == "RNN" else (N, T)
    tensors = [
        Tensor("x", np.zeros((*lead, WIDTH), np.float32)),
        *constants(w=normal(H, WIDTH), r=normal(H, H), b=normal(H)),
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


def svdf() -> bytes:
    rank, filters, memory = 2, 6, 4
    tensors = [
        Tensor("x", np.zeros((N, WIDTH), np.float32)),
        *constants(w=normal(filters, WIDTH), t=normal(filters, memory), b=normal(filters // rank)),
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


@pytest.mark.parametrize("case", CASES)
def test_recurrent_operators(tmp_path: Path, case: str) -> None:
    path = tmp_path / "m.tflite"
    path.write_bytes(CASES[case]())
    interpreter = tf.lite.Interpreter(str(path), experimental_op_resolver_type=tf.lite.experimental.OpResolverType.BUILTIN_REF)
    interpreter.allocate_tensors()
    moir.save_model(moir.convert_model(path), tmp_path / "m.xml")
    request = core().compile_model(tmp_path / "m.xml", "CPU").create_infer_request()
    [given] = interpreter.get_input_details()
    for _ in range(2):
        x = RANDOM.normal(size=given["shape"]).astype(np.float32)
        interpreter.set_tensor(given["index"], x)
        interpreter.invoke()
        found = request.infer({0: x})
        for number, output in enumerate(interpreter.get_output_details()):
            np.testing.assert_allclose(found[number], interpreter.get_tensor(output["index"]), rtol=1e-4, atol=1e-5)


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
    found = core().compile_model(tmp_path / "m.xml", "CPU").create_infer_request().infer(list(given.values()))
    for number, output in enumerate(interpreter.get_output_details()):
        np.testing.assert_allclose(found[number], interpreter.get_tensor(output["index"]), rtol=1e-4, atol=1e-5)
