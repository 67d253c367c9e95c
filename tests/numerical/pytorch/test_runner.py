"""PyTorch as the reference: outputs and inner tensors of exported programs. Where torch is installed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.errors import ExecutionError
from moir.execution.torch_runtime import TorchRunner

torch: Any = pytest.importorskip("torch")


class _Counting(torch.nn.Module):
    """A dictionary of results, a buffer that is written, an input that is written, and a number."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(3, 4)
        self.register_buffer("count", torch.zeros(()))

    def forward(self, x: Any, factor: int, held: Any) -> Any:
        self.count.add_(1)
        held.mul_(2)
        hidden = self.linear(x)
        return {"z": hidden.relu() * factor, "parts": [self.count + 1, 3, None]}


def saved(path: Path, module: Any, *inputs: Any, decomposed: bool = False) -> Path:
    """The file of a module's program."""
    program = torch.export.export(module.eval(), inputs)
    torch.export.save(program.run_decompositions() if decomposed else program, path)
    return path


@pytest.mark.parametrize("decomposed", [False, True])
def test_outputs_and_inner_tensors(tmp_path: Path, decomposed: bool) -> None:
    module = _Counting()
    x, held = torch.randn(2, 3), torch.ones(2)
    path = saved(tmp_path / "m.pt2", module, x, 2, held.clone(), decomposed=decomposed)
    runner = TorchRunner(path, moir.read_model(path), {})
    inputs = {"x": x.numpy(), "held": held.numpy()}
    names = runner.tensors
    results = runner.run(inputs, names)
    hidden = (x @ module.linear.weight.T + module.linear.bias).detach().numpy()
    np.testing.assert_allclose(results["z"], np.maximum(hidden, 0) * 2, rtol=1e-5, atol=1e-6)
    assert results["parts_0"] == 2
    assert any(array.shape == hidden.shape and np.allclose(array, hidden, atol=1e-6) for array in results.values())
    # Each run begins with the buffers of the file.
    assert runner.run(inputs)["parts_0"] == 2
    assert runner.title.startswith("PyTorch 2")
    model = moir.to_openvino(moir.convert_model(path))
    assert {port.get_any_name() for port in model.outputs} == {"z", "parts_0", "held_written"}


def test_a_program_of_classes_that_are_not_imported(tmp_path: Path) -> None:
    from collections import namedtuple

    class_ = namedtuple("class_", "a b")  # pyright: ignore[reportUntypedNamedTuple]
    torch.utils._pytree._register_namedtuple(class_, serialized_type_name="zoo.Pair")

    class Pair(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return class_(x + 1, x * 2)

    path = saved(tmp_path / "m.pt2", Pair(), torch.ones(2))
    del torch.utils._pytree.SERIALIZED_TYPE_TO_PYTHON_TYPE["zoo.Pair"]
    results = TorchRunner(path, moir.read_model(path), {}).run({"x": np.ones(2, np.float32)})
    np.testing.assert_array_equal(results["b"], [2, 2])


def test_what_torch_does_not_load_is_an_error(tmp_path: Path) -> None:
    path = saved(tmp_path / "m.pt2", torch.nn.ReLU(), torch.ones(2))
    module = moir.read_model(path)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(ExecutionError, match="PyTorch cannot run the program"):
        TorchRunner(path, module, {}).run({"input": np.zeros(2, np.float32)})
