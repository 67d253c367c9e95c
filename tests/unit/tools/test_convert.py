"""`moir`: files, messages and exit statuses."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from xdsl.ir import Block, Operation

from moir import conversion
from moir.tools.convert import main
from moir.tools.progress import ProgressBar
from moir.tools.summary import format_size
from tests.unit.moir_frames import of_moir
from tests.unit.small_models import loop_model, matmul_model, save


def one_line_error(capsys: pytest.CaptureFixture[str]) -> str:
    """What was printed on stderr: one line; nothing on stdout."""
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("moir: error: ")
    assert printed.err.count("\n") == 1
    return printed.err


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize(
    ("output", "expected"),
    [(None, "m.xml"), ("out", "out/m.xml"), ("net.xml", "net.xml"), ("a/b/net.XML", "a/b/net.XML")],
)
def test_output_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str | None, expected: str) -> None:
    save(matmul_model(), tmp_path / "m.onnx")
    monkeypatch.chdir(tmp_path)
    assert main(["m.onnx", "--silent", *(["-o", output] if output else [])]) == 0
    assert (tmp_path / expected).is_file()
    assert (tmp_path / expected).with_suffix(".bin").stat().st_size == 256


def test_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = save(matmul_model(), tmp_path / "m.onnx")
    assert main([str(model), "-o", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    lines = dict(line.split(maxsplit=1) for line in printed.out.splitlines())
    assert lines["inputs"] == "x: f32[2,8]"
    assert lines["outputs"] == "y: f32[2,8]"
    assert lines["read"] == "1 operation of ONNX: 1 MatMul"
    assert lines["written"] == "1 operation: 1 MatMul"
    assert lines["weights"] == "256 bytes"
    assert lines["files"] == f"{tmp_path / 'm.xml'} {tmp_path / 'm.bin'}"
    assert printed.err == ""


def test_the_summary_says_what_compression_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights = numpy_helper.from_array(np.random.default_rng(0).standard_normal((32, 64), np.float32), "w")
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["y"])],
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 32])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 64])],
        [weights],
    )
    model = save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), tmp_path / "m.onnx")
    assert main([str(model), "-o", str(tmp_path), "--compress-weights", "int8"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^note: weights of 1 operation have 8 bits; their relative error is 0\.\d+ %$", printed, re.MULTILINE)
    assert re.search(r"^weights +2\.2 KB: 2\.1 KB u8, 128 bytes f16$", printed, re.MULTILINE)


def test_the_times_of_the_summary_add_up(tmp_path: Path) -> None:
    model = save(matmul_model(), tmp_path / "m.onnx")
    command = [sys.executable, "-m", "moir", str(model), "-o", str(tmp_path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    total, _, parts = done.stdout.splitlines()[-1].removeprefix("time").strip().partition(" s: ")
    names = [part.split()[1] for part in parts.split(", ")]
    assert names == ["start", "import", "passes", "emission"]
    assert round(sum(float(part.split()[0]) for part in parts.split(", ")), 2) == float(total)


def test_silent(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(save(matmul_model(), tmp_path / "m.onnx")), "-o", str(tmp_path), "--silent"]) == 0
    printed = capsys.readouterr()
    assert printed.out == printed.err == ""


def test_verbose_lists_each_stage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(save(matmul_model(), tmp_path / "m.onnx")), "-o", str(tmp_path), "--verbose"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert rows[0][1] == "import"
    assert [row[1] for row in rows if row[1] == "lower-onnx"] == ["lower-onnx"]
    assert rows[-1][0] == "total"
    assert all(row[3] == "s" and row[4].isdecimal() for row in rows[:-1])


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("m.onnx", b"", "the file is empty"),
        ("m.onnx", b"\x08\x09garbage", "m.onnx"),
        ("m.onnx", b"<html>", "an HTML page"),
        (
            "m.pt",
            b"no model",
            "this is a Python pickle, perhaps a PyTorch checkpoint; load the model in PyTorch",
        ),
    ],
)
def test_bad_files(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, content: bytes, reason: str) -> None:
    (tmp_path / name).write_bytes(content)
    assert main([str(tmp_path / name), "-o", str(tmp_path / "out")]) == 1
    assert reason in one_line_error(capsys)
    assert files(tmp_path) == [name]


@pytest.mark.parametrize("name", ["absent.onnx", "absent", "."])
def test_files_that_are_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([name]) == 1
    error = one_line_error(capsys)
    assert "No such file" in error or "the folder is not a model" in error


def test_a_model_is_known_by_its_content(tmp_path: Path) -> None:
    model = save(matmul_model(), tmp_path / "m.onnx").rename(tmp_path / "model_without_suffix")
    assert main([str(model), "-o", str(tmp_path), "--silent"]) == 0
    assert (tmp_path / "model_without_suffix.xml").is_file()


def test_unsupported_operations_write_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = save(matmul_model("Mystery", "com.acme"), tmp_path / "m.onnx")
    assert main([str(model), "-o", str(tmp_path / "out")]) == 1
    assert "onnx.com.acme.Mystery ('the node')" in one_line_error(capsys)
    assert files(tmp_path) == ["m.onnx"]


def test_an_older_result_survives_a_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    output = tmp_path / "m.xml"
    assert main([str(save(matmul_model(), tmp_path / "m.onnx")), "-o", str(output), "--silent"]) == 0
    before = output.read_bytes(), output.with_suffix(".bin").read_bytes()
    assert main([str(tmp_path / "m.onnx"), "-o", str(output), "--passes", "front-start"]) == 1
    assert "onnx.MatMul" in one_line_error(capsys)
    assert (output.read_bytes(), output.with_suffix(".bin").read_bytes()) == before
    assert files(tmp_path) == ["m.bin", "m.onnx", "m.xml"]


def test_weights_of_the_model_are_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    onnx.save(matmul_model(), tmp_path / "m.onnx", save_as_external_data=True, location="m.bin", size_threshold=0)
    weights = (tmp_path / "m.bin").read_bytes()
    assert main([str(tmp_path / "m.onnx"), "-o", str(tmp_path)]) == 1
    assert "m.bin: the file would be overwritten" in one_line_error(capsys)
    assert (tmp_path / "m.bin").read_bytes() == weights
    assert main([str(tmp_path / "m.onnx"), "-o", str(tmp_path / "out"), "--silent"]) == 0
    assert (tmp_path / "out" / "m.bin").stat().st_size == 256


def test_unwritable_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "taken").write_text("a file")
    assert main([str(save(matmul_model(), tmp_path / "m.onnx")), "-o", str(tmp_path / "taken" / "x.xml")]) == 1
    assert "cannot be written" in one_line_error(capsys)


@pytest.mark.parametrize("arguments", [[], ["m.onnx", "--nothing"], ["m.onnx", "--silent", "--verbose"]])
def test_usage(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(arguments) == 2
    assert one_line_error(capsys)


def test_a_wrong_pipeline_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = save(matmul_model(), tmp_path / "m.onnx")
    assert main([str(model), "-o", str(tmp_path), "--passes", "lower-onnx,nothing"]) == 2
    assert "there is no pass 'nothing'" in one_line_error(capsys)


@pytest.mark.parametrize(
    ("exception", "status", "message"),
    [
        (KeyboardInterrupt(), 130, "moir: interrupted\n"),
        (MemoryError(), 1, "moir: error: out of memory\n"),
        (RecursionError("maximum recursion depth exceeded"), 1, "moir: error: the model is nested too deeply\n"),
        (
            ValueError("two\nlines"),
            1,
            "moir: error: internal error in the import: ValueError: two lines; run with --debug for the traceback\n",
        ),
    ],
)
def test_exceptions(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, exception: BaseException, status: int, message: str
) -> None:
    @of_moir
    def fail(*_: object, **__: object) -> None:
        raise exception

    monkeypatch.setattr(conversion, "import_model", fail)
    save(matmul_model(), tmp_path / "m.onnx")
    monkeypatch.chdir(tmp_path)
    assert main(["m.onnx"]) == status
    assert capsys.readouterr().err == message
    assert files(tmp_path) == ["m.onnx"]


def test_an_internal_error_names_pass_and_operation(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    from moir.lowering.driver import Lowering

    @of_moir
    def broken(_: Lowering, op: Operation, __: Block) -> None:
        raise KeyError(f"surprise at {len(op.operands)} operands")

    monkeypatch.setattr(Lowering, "_lower", broken)
    model = save(matmul_model(), tmp_path / "m.onnx")
    assert main([str(model), "-o", str(tmp_path), "--debug"]) == 1
    printed = capsys.readouterr().err
    assert "Traceback" in printed
    assert (
        "moir: error: internal error in pass lower-onnx on onnx.MatMul 'the node': KeyError: 'surprise at 2 operands'"
        in printed.splitlines()[-1]
    )


def test_a_pipe_sees_no_progress(tmp_path: Path) -> None:
    model = save(loop_model(), tmp_path / "m.onnx")
    command = [sys.executable, "-m", "moir", str(model), "-o", str(tmp_path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stderr == ""
    assert "\r" not in done.stdout
    assert "operation" in done.stdout


def test_a_terminal_sees_progress(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main([str(save(matmul_model(), tmp_path / "m.onnx")), "-o", str(tmp_path)]) == 0
    printed = capsys.readouterr().err
    assert "0/" in printed
    assert "lower-onnx" in printed
    assert "emission" in printed
    assert printed.endswith("\r\033[K")


def test_a_terminal_is_cleared_before_an_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    model = save(matmul_model("Mystery", "com.acme"), tmp_path / "m.onnx")
    assert main([str(model), "-o", str(tmp_path)]) == 1
    assert "\r\033[Kmoir: error: " in capsys.readouterr().err


def test_progress_bar(capsys: pytest.CaptureFixture[str]) -> None:
    bar = ProgressBar(sys.stderr)
    bar.begin(["import", "a", "b"])
    bar.start(2, "b")
    assert capsys.readouterr().err == f"\r\033[K[{'#' * 12}{'.' * 12}] 2/4 b"


def test_the_bar_moves_by_the_bytes_that_are_written(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("moir.tools.progress.time.monotonic", iter([10.0, 10.01, 10.2, 10.21]).__next__)
    bar = ProgressBar(sys.stderr)
    bar.begin(["import", "a"])
    for done in (1_000_000, 1_100_000, 2_000_000, 4_000_000):
        bar.advance(2, "emission", done, 4_000_000)
    shown = capsys.readouterr().err.split("\r\033[K")[1:]
    # Not the second one, which follows too soon; always the last one.
    assert [each.partition("] ")[2] for each in shown] == [f"2/3 emission {done}.0 of 4.0 MB" for done in (1, 2, 4)]
    assert [each.count("#") for each in shown] == [18, 20, 24]


class Bytes(ProgressBar):
    """Records what `advance` is told."""

    def __init__(self) -> None:
        super().__init__(io.StringIO())
        self.reports: list[tuple[str, int, int]] = []

    def advance(self, number: int, stage: str, done: int, total: int) -> None:
        self.reports.append((stage, done, total))


def test_writing_reports_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    observer = Bytes()
    monkeypatch.setattr("moir.tools.progress.ProgressBar", lambda _: observer)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    for cache in ([], ["--cache", str(tmp_path / "cache")]):
        observer.reports.clear()
        assert main([str(save(matmul_model(), tmp_path / "m.onnx")), "-o", str(tmp_path / "o"), *cache]) == 0
        size = (tmp_path / "o" / "m.bin").stat().st_size
        assert observer.reports[-1] == ("emission", size, size)
        assert [each for _, each, _ in observer.reports] == sorted({each for _, each, _ in observer.reports})


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (999, "999 bytes"), (1500, "1.5 KB"), (2_500_000, "2.5 MB"), (3 * 10**12, "3000.0 GB")]
)
def test_format_size(size: int, text: str) -> None:
    assert format_size(size) == text


def test_a_closed_pipe_is_no_traceback(tmp_path: Path) -> None:
    model = save(matmul_model(), tmp_path / "m.onnx")
    command = f"{sys.executable} -m moir {model} -o {tmp_path} | true"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert (tmp_path / "m.xml").is_file()


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        (80, f"[{'#' * 12}{'.' * 12}] 2/4 fuse-matmul-transpose"),
        (40, "[#####......] 2/4 fuse-matmul-transpose"),
        (30, "2/4 fuse-matmul-transpose"),
        (12, "2/4 fuse-ma"),
        (1, ""),
    ],
)
def test_progress_fits_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], columns: int, expected: str
) -> None:
    monkeypatch.setattr(os, "get_terminal_size", lambda *_: os.terminal_size((columns, 24)))
    monkeypatch.setattr(sys.stderr, "fileno", lambda: 2)
    bar = ProgressBar(sys.stderr)
    bar.begin(["import", "a", "b"])
    bar.start(2, "fuse-matmul-transpose")
    shown = capsys.readouterr().err.removeprefix("\r\033[K")
    assert shown == expected
    assert len(shown) < columns


def test_a_dumb_terminal_sees_no_progress(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    assert main([str(save(matmul_model(), tmp_path / "m.onnx")), "-o", str(tmp_path)]) == 0
    assert capsys.readouterr().err == ""


def test_nothing_is_coloured(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """NO_COLOR asks for what is so anyway: the only control sequence erases a line."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert main([str(save(matmul_model(), tmp_path / "m.onnx")), "-o", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert "\033" not in printed.out
    assert set(re.findall("\033.{2}", printed.err)) == {"\033[K"}
