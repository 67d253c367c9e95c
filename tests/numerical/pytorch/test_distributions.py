"""Samples of distributions: what holds for all of them, and means of many."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import openvino
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.pytorch.programs import Program
from tests.numerical.runtime import Array, run

COUNT = 20_000


def samples(path: Path, kind: str, arguments: list[tuple[str, object]], weights: Array | None = None, element: str = "f32") -> Array:
    """The samples of an operator like its first operand."""
    x = np.zeros(COUNT, np.float32) if weights is None else weights
    program = Program()
    program.output(program.node(f"aten.{kind}", [("self", program.input("x", "f32", x.shape)), *arguments], element))
    program.save(path / "m.pt2")
    return run(moir.to_openvino(moir.convert_model(path / "m.pt2")), {"x": x})[0]


def test_exponential(tmp_path: Path) -> None:
    values = samples(tmp_path, "exponential.default", [("lambd", 4.0)])
    assert values.min() > 0
    assert abs(values.mean() - 0.25) < 0.02


def test_geometric(tmp_path: Path) -> None:
    values = samples(tmp_path, "geometric.default", [("p", 0.25)])
    assert values.min() == 1
    assert np.array_equal(values, np.floor(values))
    assert abs(values.mean() - 4) < 0.2


def test_cauchy(tmp_path: Path) -> None:
    values = samples(tmp_path, "cauchy.default", [("median", 3.0), ("sigma", 0.5)])
    assert np.abs(np.quantile(values, [0.25, 0.5, 0.75]) - [2.5, 3, 3.5]).max() < 0.05


def test_logarithm_of_normal(tmp_path: Path) -> None:
    values = np.log(samples(tmp_path, "log_normal.default", [("mean", 1.0), ("std", 0.5)]))
    assert abs(values.mean() - 1) < 0.03
    assert abs(values.std() - 0.5) < 0.03


def test_whole_numbers(tmp_path: Path) -> None:
    assert set(samples(tmp_path, "random.from", [("from", 3), ("to", 7)]).tolist()) == {3, 4, 5, 6}
    values = samples(tmp_path, "random.default", [])
    assert 0 <= values.min() < values.max() <= 1 << 24
    assert np.array_equal(values, np.floor(values))


def test_normal_with_a_mean_for_each_element(tmp_path: Path) -> None:
    mean = np.repeat(np.array([-5, 20], np.float32), COUNT // 2)
    program = Program()
    program.output(program.node("aten.normal.Tensor_float", [("mean", program.input("m", "f32", mean.shape)), ("std", 2.0)], "f32"))
    program.save(tmp_path / "m.pt2")
    (values,) = run(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), {"m": mean})
    first, second = values.reshape(2, -1)
    assert abs(first.mean() + 5) < 0.1
    assert abs(second.mean() - 20) < 0.1
    assert abs(first.std() - 2) < 0.1


def test_indices_by_their_probabilities(tmp_path: Path) -> None:
    """An index of probability 0 is never sampled; without replacement no index occurs twice."""
    weights = np.array([[0, 0, 1, 0], [0, 2, 0, 0]], np.float32)
    assert samples(tmp_path, "multinomial.default", [("num_samples", 1)], weights, "i64").tolist() == [[2], [1]]
    weights = np.array([1, 0, 5, 3], np.float32)
    for _ in range(5):
        actual = samples(tmp_path, "multinomial.default", [("num_samples", 3)], weights, "i64")
        assert sorted(actual.tolist()) == [0, 2, 3]
    many = samples(tmp_path, "multinomial.default", [("num_samples", COUNT), ("replacement", True)], weights, "i64")
    assert np.abs(np.bincount(many, minlength=4) / COUNT - weights / weights.sum()).max() < 0.02


def test_distributions_of_trials_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match=r"Poisson distribution .*; sample outside of the model"):
        samples(tmp_path, "poisson.default", [])


def test_samples_differ_in_each_inference(tmp_path: Path) -> None:
    """`gumbel_softmax` subtracts a logarithm of samples whose shape is that of its input."""
    program = Program()
    x = program.input("x", "f32", [8])
    sample = program.node("aten.exponential.default", [("self", x)], "f32", [8])
    logarithm = program.node("aten.log.default", [("self", sample)], "f32", [8])
    program.output(program.node("aten.sub.Tensor", [("self", x), ("other", logarithm)], "f32", [8]))
    program.save(tmp_path / "m.pt2")
    compiled = openvino.compile_model(moir.to_openvino(moir.convert_model(tmp_path / "m.pt2")), "CPU")
    first, second = (compiled([np.zeros(8, np.float32)])[0] for _ in range(2))
    assert not np.array_equal(first, second)
