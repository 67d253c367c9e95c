"""`moir MODEL…` and `moir --manifest FILE`: many models in one run."""

from __future__ import annotations

import os
import pickle
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import openvino
import pytest
from onnx import TensorProto, helper

from moir.conversion_result import ConversionResult
from moir.options import ConversionOptions
from moir.parameters.compression import COMPRESS_TO_FP16
from moir.parameters.interface import INPUT
from moir.tools.batch.pool import Limits, converted
from moir.tools.batch.work import Work
from moir.tools.convert import main
from moir.tools.new_extension import main as new_extension
from tests.unit.small_models import loop_model, matmul_model, save


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("models").mkdir()
    save(matmul_model(), Path("models/a.onnx"))
    save(loop_model(), Path("models/b.onnx"))
    save(matmul_model("Mystery", "com.acme"), Path("models/mystery.onnx"))
    return tmp_path


def test_several_models_are_what_each_is_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models/a.onnx", "models/b.onnx", "-o", "out", "--compress-to-fp16"]) == 0
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert lines[0] == "2 of 2 models"
    assert lines[1].split() == ["model", "result", "operations", "weights", "time", "file"]
    assert re.fullmatch(r"  models/a\.onnx  converted  2 +128 bytes +\d+\.\d\d s  out/a\.xml", lines[2])
    assert re.match(r"  models/b\.onnx  converted  ", lines[3])
    assert printed.err == ""
    for name in ("a", "b"):
        assert main([f"models/{name}.onnx", "-o", "alone", "--compress-to-fp16", "--silent"]) == 0
        for suffix in (".xml", ".bin"):
            assert Path("out", name + suffix).read_bytes() == Path("alone", name + suffix).read_bytes()


def test_a_model_that_fails_does_not_stop_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    models = ["models/mystery.onnx", "models/a.onnx", "absent.onnx", "models/b.onnx"]
    assert main([*models, "-o", "out", "--jobs", "1"]) == 1
    printed = capsys.readouterr()
    assert sorted(path.name for path in Path("out").iterdir()) == ["a.bin", "a.xml", "b.bin", "b.xml"]
    verdicts = [line.split()[:2] for line in printed.out.splitlines()[2:]]
    assert verdicts == [
        ["models/mystery.onnx", "failed"],
        ["models/a.onnx", "converted"],
        ["absent.onnx", "failed"],
        ["models/b.onnx", "converted"],
    ]
    assert [line.partition(";")[0] for line in printed.err.splitlines()] == [
        "moir: error: models/mystery.onnx: no lowering for 1 kind of operation: onnx.com.acme.Mystery ('the node')",
        "moir: error: absent.onnx: cannot be read: No such file or directory",
    ]


def test_the_worst_status_is_that_of_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["absent.onnx", "models/a.onnx", "--passes", "fold-constant", "-o", "out", "--silent"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "moir: error: models/a.onnx: there is no pass 'fold-constant'; did you mean fold-constants?" in printed.err.splitlines()
    assert not Path("out").exists()


MANIFEST = """\
compress_to_fp16 = true
output_dir = "ir"

[[model]]
input_model = "models/a.onnx"

[[model]]
input-model = "models/a.onnx"
output_model = "further/big"
input = "x[5,8]"
compress_to_fp16 = false
"""


def shape_and_type(path: str) -> tuple[list[int], int]:
    return list(openvino.Core().read_model(path).input(0).shape), Path(path).with_suffix(".bin").stat().st_size


def test_a_manifest_says_what_becomes_of_each_model(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("models.toml").write_text(MANIFEST)
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert main(["--manifest", "../models.toml", "--silent"]) == 0
    assert shape_and_type("../ir/a.xml") == ([2, 8], 128)
    assert shape_and_type("../further/big.xml") == ([5, 8], 256)
    # The command line goes first.
    assert main(["--manifest", "../models.toml", "--silent", "-o", "mine", "--input", "x[3,8]"]) == 0
    assert shape_and_type("mine/ir/a.xml") == ([3, 8], 128)
    assert shape_and_type("mine/further/big.xml") == ([3, 8], 256)


def test_a_place_of_a_model_replaces_that_of_all() -> None:
    model = '[[model]]\ninput_model = "models/a.onnx"\n'
    Path("models.toml").write_text(f'output_model = "all"\n{model}{model}output_dir = "mine"\n')
    assert main(["--manifest", "models.toml", "--silent"]) == 0
    assert Path("all.xml").exists()
    assert Path("mine/a.xml").exists()


@pytest.mark.parametrize("where", ["", "model 1: "])
def test_a_manifest_says_one_place(where: str, capsys: pytest.CaptureFixture[str]) -> None:
    both, model = 'output_dir = "ir"\noutput-model = "net"\n', '[[model]]\ninput_model = "models/a.onnx"\n'
    Path("models.toml").write_text(model + both if where else both + model)
    assert main(["--manifest", "models.toml"]) == 2
    hint = "give either; an output_model is a path of its own"
    assert capsys.readouterr().err == f"moir: error: models.toml: {where}there are an output_dir and an output_model; {hint}\n"


def test_a_manifest_may_be_larger_than_a_configuration() -> None:
    Path("models.toml").write_text(MANIFEST + f"# {'x' * 100}\n" * 20_000)
    assert main(["--manifest", "models.toml", "--silent", "-j1"]) == 0
    assert Path("ir/a.xml").exists()


def test_paths_in_a_manifest_are_relative_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert new_extension(["mine"]) == 0
    save(matmul_model("ScaledTanh", "com.example"), Path("models/tanh.onnx"))
    Path("models.toml").write_text('[[model]]\ninput_model = "models/tanh.onnx"\nextensions = "mine"\n')
    monkeypatch.chdir("models")
    assert main(["--manifest", "../models.toml", "--silent"]) == 0
    assert Path("../tanh.xml").exists()


def sleeping(work: Work) -> ConversionResult:
    """A conversion that ends its process, takes long, or ends at once."""
    if work.model == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    if work.model == "exit":
        os._exit(3)
    if work.model == "long":
        Path("begun").touch()
        time.sleep(60)
        Path("ended").touch()
    return ConversionResult(work.model, "converted")


def test_a_process_that_is_killed_fails_its_model() -> None:
    works = [Work(name, f"{name}.xml", ConversionOptions()) for name in ("killed", "one", "exit", "two", "three")]
    results = {works[each.number].model: each.outcome.result for each in converted(works, sleeping, Limits(2))}
    assert {name for name, each in results.items() if each.status == "converted"} == {"one", "two", "three"}
    killed, ended = results["killed"].failure, results["exit"].failure
    assert killed is not None
    assert killed.message == "the process was ended by SIGKILL; it may have run out of memory: try --jobs 1"
    assert ended is not None
    assert ended.reason == "the process has ended with status 3"


def test_processes_end_when_the_run_is_left() -> None:
    results = converted([Work("one", "", ConversionOptions()), Work("long", "", ConversionOptions())], sleeping, Limits(2))
    assert next(results).number == 0
    while not Path("begun").exists():
        time.sleep(0.05)
    results.close()
    assert not Path("ended").exists()


@pytest.mark.parametrize(
    ("number", "status", "line"), [(signal.SIGINT, 130, "moir: interrupted"), (signal.SIGTERM, 143, "moir: terminated")]
)
def test_an_interrupted_run_leaves_no_process_and_no_file(number: signal.Signals, status: int, line: str) -> None:
    nodes = [helper.make_node("Relu", [f"t{i}" if i else "x"], [f"t{i + 1}"]) for i in range(60_000)]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [value("x", TensorProto.FLOAT, [1])], [value("t60000", TensorProto.FLOAT, [1])])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), "long1.onnx")
    Path("long2.onnx").write_bytes(Path("long1.onnx").read_bytes())
    # A process that runs in the background is started with interrupts ignored.
    heeding = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from moir.tools.convert import command; command()"
    command = [sys.executable, "-c", heeding, "long1.onnx", "long2.onnx", "-o", "out"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    for _ in range(200):
        time.sleep(0.1)
        if not children.parent.parent.parent.exists() or (children.exists() and len(children.read_text("utf-8").split()) > 2):
            break
    time.sleep(0.5)
    # Ctrl-C in a terminal reaches all processes of the group.
    os.killpg(process.pid, number) if number is signal.SIGINT else process.send_signal(number)
    _, printed = process.communicate(timeout=20)
    assert process.returncode == status
    assert printed.splitlines() == [line]
    assert not list(Path().glob("out/.*"))
    # The process in which Python counts resources ends after those that had some.
    for _ in range(100):
        try:
            os.killpg(process.pid, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    pytest.fail("a process is left")


def test_options_go_to_other_processes() -> None:
    options = ConversionOptions(input={"x": [1, -1], "training": False}, compress_to_fp16=True, extensions=["a", "b"])
    copy = pickle.loads(pickle.dumps(options))
    assert copy.given == options.given
    assert copy[COMPRESS_TO_FP16]
    assert np.all([str(each) for each in copy[INPUT]] == [str(each) for each in options[INPUT]])
