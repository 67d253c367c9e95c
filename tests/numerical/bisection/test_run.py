"""`moir run` and `moir reduce`: what they print, what they write, and what they refuse."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from moir.dialects.element_types import si64
from moir.execution import openvino_runtime
from moir.execution.onnx_runtime import OnnxRunner
from moir.proofs.families.graph import Graph
from moir.tools.arrays import read_arrays, write_arrays
from moir.tools.convert import main
from tests.unit.small_models import loop_model


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a model that has a loop, an IR and a text of it, and inputs."""
    monkeypatch.chdir(tmp_path)
    onnx.save(loop_model(), "model.onnx")
    assert main(["model.onnx", "--silent", "--dump-ir", "dumps"]) == 0
    np.savez("in.npz", x=np.linspace(-1, 1, 8, dtype=np.float32).reshape(2, 4))
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_random_inputs_are_those_of_the_seed(capsys: pytest.CaptureFixture[str]) -> None:
    texts: list[str] = []
    for arguments in (["--seed", "1"], ["--seed", "1"], ["--seed", "2"], ["--input", "x[3,4]"]):
        assert main(["run", "model.onnx", *arguments]) == 0
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1] != texts[2]
    assert "input       x: f32[1,4]" in texts[0]
    assert "input       x: f32[3,4]" in texts[3]


@pytest.mark.parametrize("dtype", [np.int64, np.longlong, np.int32])
def test_both_types_of_64_bit_integers_of_numpy_are_inputs(dtype: type[np.signedinteger]) -> None:
    graph = Graph()
    module = graph.module(graph.op.Add(graph.input((2,), si64), np.array([1, 2], np.int64)))
    (result,), _ = openvino_runtime.run_module(module, [np.array([3, 4], dtype)])
    assert result.tolist() == [4, 6]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("model.onnx --tensors bb", "there is no tensor 'bb' that ONNX Runtime"),
        ("model.onnx --outputs out.txt", "out.txt has to end in .npz, as the arrays are written in that form"),
        ("model.onnx --inputs absent.npz", "absent.npz: cannot be read: No such file or directory"),
        ("model.onnx --inputs model.xml", "model.xml: this is no .npz of arrays; "),
        ("model.onnx --inputs two.npz", "there is no array for the input 'x'; there are a, b"),
        ("model.onnx --input z[1,4]", "the model has no input 'z'; "),
        ("model.onnx --input z", "the model has no input 'z'; "),
        ("model.xml --runtime framework", "no runtime of OpenVINO IR is installed that moir could use; leave out --runtime"),
        ("dumps/000-import.mlir --runtime framework", "a text of moir has no runtime of its own; leave out --runtime"),
        ("absent.onnx", "absent.onnx: cannot be read: No such file or directory"),
    ],
)
def test_what_cannot_be_run_is_one_line(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("two.npz", a=np.zeros(1), b=np.zeros(1))
    assert main(["run", *arguments.split()]) in (1, 2)
    assert capsys.readouterr().err.startswith(f"moir run: error: {message}")


def test_the_runtime_computes_in_f32(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also on a processor on which it would compute products in bf16, which does not have these numbers."""
    monkeypatch.chdir(tmp_path)
    numbers = (1 + np.arange(256, dtype=np.float32) / 1024).reshape(16, 16)
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [16, 16]) for name in "xy")
    weights = numpy_helper.from_array(np.eye(16, dtype=np.float32), "w")
    graph = helper.make_graph([helper.make_node("MatMul", ["x", "w"], ["y"])], "g", [x], [y], [weights])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), "product.onnx")
    np.savez("in.npz", x=numbers)
    assert main(["run", "product.onnx", "--runtime", "openvino", "--inputs", "in.npz", "--outputs", "out.npz"]) == 0
    np.testing.assert_array_equal(np.load("out.npz")["y"], numbers)


@pytest.mark.usefixtures("folder")
def test_without_runtimes_there_are_the_definitions(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(OnnxRunner, "is_installed", classmethod(lambda _: False))
    monkeypatch.setattr(openvino_runtime, "is_installed", lambda: False)
    tensor = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])
    graph = helper.make_graph([helper.make_node("Elu", ["x"], ["y"], name="elu")], "g", [tensor], [result])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), "elu.onnx")
    assert main(["run", "elu.onnx"]) == 0
    assert "on moir's definitions of the operations" in capsys.readouterr().out
    assert main(["run", "model.onnx"]) == 0
    assert "output      all: f32[3,1,8]" in capsys.readouterr().out
    graph.node[0].CopyFrom(helper.make_node("MaxPool", ["x"], ["y"], name="pool", kernel_shape=[2]))
    graph.input[0].CopyFrom(helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, 4]))
    graph.output[0].CopyFrom(helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 3]))
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), "pool.onnx")
    assert main(["run", "pool.onnx"]) == 1
    assert "MaxPool 'pool': moir has no definition of it in numpy; install moir[run]" in capsys.readouterr().err
    assert main(["run", "model.onnx", "--runtime", "framework"]) == 1
    assert "no runtime of ONNX is installed that moir could use; install the package onnxruntime" in capsys.readouterr().err


def test_arrays_that_npz_does_not_have_become_such_as_it_has(tmp_path: Path) -> None:
    import ml_dtypes

    arrays = {"a": np.array([1.5, 2], ml_dtypes.bfloat16), "b": np.array(["é", b"x"], object), "c": np.array([True])}
    write_arrays(arrays, tmp_path / "a.npz")
    actual = read_arrays(str(tmp_path / "a.npz"))
    assert actual["a"].dtype == np.float32
    assert actual["b"].tolist() == ["é", "x"]
    assert actual["c"].tolist() == [True]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("runtime", ["openvino", "definitions"])
@pytest.mark.parametrize("array", [np.full((1, 1, 8, 8), "a"), np.zeros((1, 1, 8, 8), np.complex64)])
def test_arrays_of_another_kind_than_the_input(array: np.ndarray, runtime: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "inputs.npz", image=array)
    digits = Path(__file__).parents[3] / "examples" / "digits" / "digits.onnx"
    assert main(["run", str(digits), "--inputs", str(tmp_path / "inputs.npz"), "--runtime", runtime]) == 2
    assert f"the array for the input image: f32[?,1,8,8] is of {array.dtype}" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_a_model_is_reduced_as_long_as_the_command_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", "model.onnx", "--check", "grep swish", "-o", "small.onnx", "--inputs", "in.npz"]) == 0
    assert capsys.readouterr().out.startswith("reduced     1 of 8 operations, random weights, after ")
    small = onnx.load("small.onnx")
    assert [node.name for node in small.graph.node] == ["swish"]
    onnx.checker.check_model(small, full_check=True)
    assert sorted(read_arrays("small-inputs.npz")) == ["a", "s"]
    assert main(["run", "small.onnx", "--inputs", "small-inputs.npz"]) == 0
    expected = read_arrays("small-reference.npz")["swish"]
    assert main(["run", "small.onnx", "--inputs", "small-inputs.npz", "--outputs", "out.npz"]) == 0
    np.testing.assert_allclose(read_arrays("out.npz")["swish"], expected)


@pytest.mark.usefixtures("folder")
def test_a_text_is_reduced_to_a_text(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--check", "grep -q onnx.Loop", "-o", "small", "--inputs", "in.npz"]
    assert main(["reduce", "dumps/000-import.mlir", *arguments, "--near", "swish,last"]) == 0
    assert "file        small.mlir" in capsys.readouterr().out
    text = Path("small.mlir").read_text()
    assert text.count("= onnx.") == 5
    assert main(["bisect", "small.mlir", "--inputs", "small-inputs.npz", "--reference", "small-reference.npz"]) == 0
    assert "verdict     the converted model agrees with the reference" in capsys.readouterr().out


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("false", "the check does not fail on the model itself; its exit status is 0 as long as the model fails"),
        ("no-such-program", "--check: there is no program 'no-such-program'; give a command with its path: ./fails.sh"),
        ("'", "--check cannot be read: No closing quotation"),
    ],
)
def test_a_check_that_says_nothing(command: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reduce", "model.onnx", "--check", command]) == 2
    assert capsys.readouterr().err == f"moir reduce: error: {message}\n"


@pytest.mark.usefixtures("folder")
def test_weights_are_kept_if_it_is_said() -> None:
    assert main(["reduce", "model.onnx", "--check", "grep final", "-o", "small.onnx", "--keep-weights"]) == 0
    constants = [each for each in onnx.load("small.onnx").graph.initializer if each.name == "turned"]
    assert not constants
    assert main(["reduce", "model.onnx", "--check", "grep sigmoid", "-o", "small.onnx", "--near", "a,s"]) == 0
    assert main(["reduce", "model.onnx", "--check", "grep 乘", "-o", "kept.onnx", "--keep-weights"]) == 0
    assert main(["reduce", "model.onnx", "--check", "grep 乘", "-o", "random.onnx"]) == 0
    kept, random = (numpy_helper.to_array(onnx.load(name).graph.initializer[0]) for name in ("kept.onnx", "random.onnx"))
    whole = {each.name: numpy_helper.to_array(each) for each in loop_model().graph.initializer}
    np.testing.assert_array_equal(kept, whole["w"])
    assert kept.shape == random.shape
    assert not np.array_equal(kept, random)


def decoder() -> onnx.ModelProto:
    """y = [past, x] * mask, along an axis whose size is the sum of two others."""
    sizes = {"x": ["batch", "length", 4], "mask": ["batch", "past + length", 1], "past": ["batch", "past", 4]}
    inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in sizes.items()]
    nodes = [helper.make_node("Concat", ["past", "x"], ["all"], axis=1), helper.make_node("Mul", ["all", "mask"], ["y"])]
    graph = helper.make_graph(nodes, "decoder", inputs, [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("given", "sizes"), [([], (8, 16, 8)), (["--input", "past[1,3,4]"], (8, 11, 3))])
def test_dimensions_of_one_name_have_one_size(given: list[str], sizes: tuple[int, ...], capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(decoder(), "decoder.onnx")
    assert main(["run", "decoder.onnx", *given]) == 0
    printed = capsys.readouterr().out
    assert all(f"input       {name}: f32[1,{size}," in printed for name, size in zip(("x", "mask", "past"), sizes, strict=True))
    assert main(["bisect", "decoder.onnx"]) == 0


@pytest.mark.usefixtures("folder")
def test_sizes_that_do_not_fit_are_said(capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(decoder(), "decoder.onnx")
    assert main(["run", "decoder.onnx", "--input", "mask[1,2,1]"]) == 1
    printed = capsys.readouterr().err
    assert "sizes that the model leaves open were chosen" in printed
    assert "--input 'x[1,8,4],mask[1,2,1],past[1,8,4]'" in printed
