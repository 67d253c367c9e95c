"""Models from standard input, archives to standard output, closed descriptors and closed pipes: as a shell runs the tools."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from io import BytesIO
from pathlib import Path

import onnx
import pytest

from tests.unit.documents import environment
from tests.unit.small_models import matmul_model, save

ARCHIVE = ["model.xml", "model.bin"]


def shell(command: str, folder: Path) -> subprocess.CompletedProcess[bytes]:
    """Run a command line; its exit status is that of the first failing program of a pipe."""
    return subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=folder, env=environment(), capture_output=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    save(matmul_model(), tmp_path / "m.onnx")
    named = matmul_model()
    named.graph.input[0].name = named.graph.node[0].input[0] = "größe"
    save(named, tmp_path / "g.onnx")
    return tmp_path


def test_from_standard_input_to_an_archive(folder: Path) -> None:
    first = shell("moir - -o - --silent < m.onnx", folder)
    assert (first.returncode, first.stderr) == (0, b"")
    with tarfile.open(fileobj=BytesIO(first.stdout)) as archive:
        assert archive.getnames() == ARCHIVE
    assert sorted(path.name for path in folder.iterdir()) == ["g.onnx", "m.onnx"]
    assert first.stdout == shell("cat m.onnx | moir - -o - --silent | cat", folder).stdout


@pytest.mark.parametrize(
    ("command", "status", "message", "files"),
    [
        ("cat m.onnx | moir - -o out --silent", 0, "", ["out/model.bin", "out/model.xml"]),
        ("moir <(cat m.onnx) -o out --silent", 0, "", ["out/model.bin", "out/model.xml"]),
        ("mkfifo p; (cat m.onnx > p &); moir p -o out --silent", 0, "", ["out/model.bin", "out/model.xml"]),
        ("moir - < /dev/null", 1, "moir: error: <stdin>: the file is empty; copy or download it again", []),
        ("echo '<html>' | moir -", 1, "moir: error: <stdin>: this is an HTML page; the download failed, or needs a login", []),
        ("moir - <&-", 1, "moir: error: <stdin>: cannot be read: it is closed", []),
        ("moir m.onnx -o out | true", 0, "", ["out/m.bin", "out/m.xml"]),
        ("moir m.onnx -o out >&-", 0, "", ["out/m.bin", "out/m.xml"]),
        ("moir m.onnx -o out >&- 2>&- <&-", 0, "", ["out/m.bin", "out/m.xml"]),
        ("moir m.onnx -o out > /dev/full", 1, "moir: error: standard output: the report cannot be written: No space left", ["out/m.bin"]),
        ("moir m.onnx -o - > /dev/full", 1, "moir: error: standard output: No space left on device", []),
        ("moir m.onnx -o - >&-", 1, "moir: error: standard output: Bad file descriptor", []),
        ("moir m.onnx -o - --silent | true", (0, 141), "", []),
        ("moir passes > /dev/full", 1, "moir passes: error: standard output: No space left on device", []),
        ("moir passes | head -1", (0, 141), "", []),
        ("moir absent.onnx 2>&-", 1, "", []),
        ("moir absent.onnx 2>&1 | true", (1, 141), "", []),
        ("moir --help | true", (0, 141), "", []),
        ("cat m.onnx | moir-opt -f onnx -p default -t ir | cat > /dev/null", 0, "", []),
        ("cat m.onnx | moir-opt -p default -t ir -o out/m.xml", 0, "", ["out/m.bin", "out/m.xml"]),
        ("moir-opt -f onnx < m.onnx | moir-opt - -p default -t ir > /dev/null", 1, "moir-opt: error: <stdin>:", []),
        ("moir-opt m.onnx | moir-opt | moir-opt -p lower-onnx > /dev/null", 0, "", []),
        ("moir-opt m.onnx | true", (0, 141), "", []),
        ("moir-opt m.onnx >&-", 1, "moir-opt: error: standard output: Bad file descriptor", []),
        ("moir-opt m.onnx > /dev/full", 1, "moir-opt: error: standard output: No space left on device", []),
        ("moir-opt -p default <&-", 1, "moir-opt: error: <stdin>: cannot be read: it is closed", []),
        ("echo '<html>' | moir-opt", 1, "moir-opt: error: <stdin>: this is an HTML page", []),
        ("moir-opt --list-passes | head -1 > /dev/null", (0, 141), "", []),
        ("moir-opt m.onnx -p default --mlir-print-ir-after-all 2>&1 | true", (0, 141), "", []),
        ("moir --completion bash > /dev/full", 1, "moir: error: standard output: No space left on device", []),
    ],
)
def test_streams(folder: Path, command: str, status: int | tuple[int, ...], message: str, files: list[str]) -> None:
    done = shell(command, folder)
    assert done.returncode in (status if isinstance(status, tuple) else (status,)), done.stderr
    assert done.stderr.decode().startswith(message)
    assert done.stderr.count(b"\n") <= 1
    assert b"internal error" not in done.stderr
    written = [str(path.relative_to(folder)) for path in folder.glob("out/*")]
    assert sorted(written)[: len(files)] == files


@pytest.mark.parametrize("encoding", ["PYTHONIOENCODING=ascii", "LC_ALL=C PYTHONUTF8=0 PYTHONCOERCECLOCALE=0"])
def test_names_in_any_language_are_printed_in_any_encoding(folder: Path, encoding: str) -> None:
    report = shell(f"{encoding} moir g.onnx -o out", folder)
    assert (report.returncode, report.stderr) == (0, b"")
    assert rb"inputs      gr\xf6\xdfe: f32[2,8]" in report.stdout
    xml = shell(f"{encoding} moir-opt g.onnx -p default -t ir", folder)
    assert (xml.returncode, xml.stderr) == (0, b"")
    assert 'name="größe"' in xml.stdout.decode()
    assert shell(f"{encoding} moir passes", folder).returncode == 0


def test_a_model_of_several_files_cannot_come_from_a_stream(folder: Path) -> None:
    onnx.save(matmul_model(), folder / "e.onnx", save_as_external_data=True, location="w.bin", size_threshold=0)
    done = shell("moir - < e.onnx", folder)
    assert done.returncode == 1
    message = done.stderr.decode()
    assert message.startswith("moir: error: <stdin>: ")
    assert message.endswith("a model of several files cannot come from a stream; give its path\n")
    assert "/tmp" not in message


def test_a_terminal_is_no_model(folder: Path) -> None:
    import os
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "moir", "-"]
    done = subprocess.run(command, cwd=folder, env=environment(), stdin=theirs, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"standard input is a terminal; redirect a file to it" in done.stderr
    done = subprocess.run(
        [*command[:-1], "m.onnx", "-o", "-"], cwd=folder, env=environment(), stdout=theirs, stderr=subprocess.PIPE, check=False
    )
    assert done.returncode == 2
    assert b"the files are not printed to a terminal; redirect standard output" in done.stderr
    os.close(ours)
    os.close(theirs)
