"""Wrong and unusual invocations: each ends with its exit status and one line, which says what to do. None is an internal error."""

from __future__ import annotations

import shlex
import subprocess
import sys
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import onnx
import pytest

from moir.tools.convert import main as moir
from moir.tools.gui import main as moir_gui
from moir.tools.opt import main as moir_opt
from tests.unit.documents import environment
from tests.unit.small_models import matmul_model, save

TOOLS = {"moir": moir, "moir-opt": moir_opt, "moir-gui": moir_gui}
TEXT = "builtin.module {\n}\n"
CONTRADICTION = b"""builtin.module {
  moir.model @m {
    %0 = opset1.Parameter() {name = "x"} : tensor<2xf32>
    %1 = opset1.Abs(%0) {name = "a"} : tensor<3xf32>
    opset1.Result(%1)
  }
}
"""

INVOCATIONS: list[tuple[str, int, str]] = [
    # Model files.
    ("moir absent.onnx", 1, "moir: error: absent.onnx: cannot be read: No such file or directory"),
    ("moir modle.onnx", 1, "moir: error: modle.onnx: cannot be read: No such file or directory; did you mean model.onnx?"),
    ("moir model", 1, "moir: error: model: cannot be read: No such file or directory; did you mean model.onnx?"),
    ("moir absent/model.onnx", 1, "moir: error: absent/model.onnx: cannot be read: No such file or directory; there is no folder absent"),
    ("moir model.onnx/x", 1, "moir: error: model.onnx/x: cannot be read: No such file or directory"),
    ("moir ''", 1, "moir: error: .: the folder is not a model; did you mean model.onnx"),
    ("moir .", 1, "moir: error: .: the folder is not a model; did you mean model.onnx"),
    ("moir export", 1, "moir: error: export: the folder is not a model; did you mean export/saved_model?"),
    ("moir empty_folder", 1, "moir: error: empty_folder: the folder is not a model; give a model file"),
    ("moir empty.onnx", 1, "moir: error: empty.onnx: the file is empty; copy or download it again"),
    ("moir pipe.onnx/", 1, "moir: error: pipe.onnx: cannot be read: No such file or directory"),
    ("moir truncated.onnx", 1, "moir: error: truncated.onnx, offset "),
    ("moir page.onnx", 1, "moir: error: page.onnx: this is an HTML page; the download failed, or needs a login; download the file again"),
    (
        "moir torch.pt",
        1,
        "moir: error: torch.pt: this is a PyTorch checkpoint; load the model in PyTorch and export it: torch.export.save(",
    ),
    ("moir tensors.safetensors", 1, "moir: error: tensors.safetensors: this is a safetensors file, weights without a graph; give the"),
    ("moir network.xml", 1, "moir: error: network.xml: line 2, column 14: the XML cannot be read: no element found"),
    ("moir 002-lower-onnx.mlir", 1, "moir: error: 002-lower-onnx.mlir: this is the text of a module, as --dump-ir writes it; go on with"),
    ("moir archive.zip", 1, "moir: error: archive.zip: this is a zip archive; unpack it, and give the model in it"),
    (
        "moir notes.txt",
        1,
        "moir: error: notes.txt: this is a text, and no model; give the file of the model (",
    ),
    ("moir mystery.onnx", 1, "moir: error: no lowering for 1 kind of operation: onnx.com.acme.Mystery ('the node'); "),
    ("moir /dev/zero", 1, "moir: error: /dev/zero: not a regular file"),
    (
        "moir external.onnx --dump-ir .",
        1,
        "moir: error: weights.bin: this file belongs to the model that is converted; choose another output",
    ),
    # Outputs.
    ("moir model.onnx -o notes.txt", 1, "moir: error: notes.txt: the model cannot be written: this is a file, not a folder; give a folder"),
    ("moir model.onnx -o notes.txt/net.xml", 1, "moir: error: notes.txt: the model cannot be written: this is a file, not a folder"),
    (
        "moir model.onnx -o annotation.xml",
        1,
        "moir: error: annotation.xml: the file would be overwritten, but it is not an OpenVINO IR; choose",
    ),
    (
        "moir model.onnx -o pytorch.xml",
        1,
        "moir: error: pytorch.bin: the file would be overwritten, but it is not the weights of an OpenVINO",
    ),
    ("moir model.onnx -o folder.xml", 1, "moir: error: folder.xml: the model cannot be written: this is a folder; choose another output"),
    ("moir model.onnx -o /proc/out", 1, "moir: error: /proc/out: the model cannot be written: "),
    ("moir model.onnx -o out --dump-ir notes.txt", 1, "moir: error: notes.txt: dumps cannot be written: this is a file, not a folder"),
    ("moir weights.onnx -o dumps --dump-ir dumps", 2, "weights.bin would be both output and dump; choose another folder for the dumps"),
    ("moir model.onnx -o out --dump-ir -", 2, "moir: error: argument --dump-ir: - is not a folder; see moir --help"),
    (f"moir {'a' * 5000}", 1, f"moir: error: {'a' * 100}"),
    ("moir model.onnx -o net.bin", 2, "moir: error: an IR is an .xml with its weights beside it, not net.bin; say -o net.xml"),
    ("moir diff model.onnx absent.onnx", 2, "moir diff: error: absent.onnx: cannot be read: No such file or directory"),
    ("moir diff model.onnx model.onnx --tolerance few", 2, "moir diff: error: argument --tolerance: 'few' is not a number from 0 on"),
    ("moir model.onnx --framework onx", 2, "moir: error: --framework cannot be 'onx'; did you mean onnx?"),
    # Options.
    ("moir", 2, "moir: error: MODEL is missing; see moir --help"),
    (
        "moir model.onnx export/../model.onnx",
        2,
        "moir: error: model.onnx and export/../model.onnx would both become model.xml; give each an output_model of its own in a manifest",
    ),
    ("moir model.onnx weights.onnx -o a.xml", 2, "moir: error: several models need a folder to write to: -o DIR"),
    ("moir model.onnx weights.onnx -o -", 2, "moir: error: several models need a folder to write to: -o DIR"),
    ("moir model.onnx weights.onnx --model-name a", 2, "moir: error: --model-name is for one model; there are several"),
    ("moir model.onnx weights.onnx --opset 17", 2, "moir: error: --opset is for one model; there are several"),
    ("moir model.onnx weights.onnx --matmul-nbits", 2, "moir: error: --matmul-nbits is for one model; there are several"),
    ("moir model.onnx weights.onnx --verbose", 2, "moir: error: --verbose is for one model; there are several"),
    ("moir model.onnx -", 2, "moir: error: a model that comes from a stream is converted alone"),
    ("moir model.onnx weights.onnx --jobs 0", 2, "moir: error: argument --jobs/-j: '0' is not a whole number from 1 on; see moir --help"),
    ("moir model.onnx --manifest wrong.toml", 2, "moir: error: there are models and a manifest; give either"),
    ("moir --manifest wrong.toml", 2, "moir: error: wrong.toml: the manifest lists no models; begin each with a line [[model]]"),
    ("moir --manifest absent.toml", 2, "moir: error: absent.toml: cannot be read: No such file or directory"),
    ("moir --manifest key.toml", 2, "moir: error: key.toml: model 1: there is no key 'input_modle'; did you mean input_model?"),
    ("moir --manifest jobs.toml", 2, "moir: error: jobs.toml: there is no key 'jobs'; --jobs is an option of the whole run"),
    ("moir --manifest value.toml", 2, "moir: error: value.toml: model 2: batch must be a whole number"),
    ("moir --manifest lacking.toml", 2, "moir: error: lacking.toml: model 1: input_model is missing; add a line input_model = "),
    ("moir model.onnx --verbos", 2, "moir: error: there is no option --verbos; did you mean --verbose"),
    ("moir model.onnx --compress_to_fp61", 2, "moir: error: there is no option --compress_to_fp61; did you mean --compress-to-fp16"),
    (
        "moir --input_model model.onnx weights.onnx",
        2,
        "moir: error: there are 2 models, weights.onnx and model.onnx; give one, or all without an option",
    ),
    (
        "moir -m model.onnx --saved_model_dir export",
        2,
        "moir: error: there are 2 models, model.onnx and export; give one, or all without an option",
    ),
    ("moir model.onnx --output_dri out", 2, "moir: error: there is no option --output_dri; did you mean --output-dir"),
    ("moir model.onnx -o a --output-model b", 2, "moir: error: argument --output-model: not allowed with argument -o/--output-dir"),
    ("moir model.onnx --input_proto a", 1, "moir: error: model.onnx: a model of onnx has no input_proto; leave out the option input_proto"),
    ("moir model.onnx -mf a.binaryproto", 1, "moir: error: model.onnx: a model of onnx has no mean_file; leave out the option mean_file"),
    ("moir model.onnx -k mapping.xml", 1, "a model of onnx has no custom_layers"),
    ("moir model.onnx --data_type INT8", 2, "moir: error: --data_type cannot be 'INT8'; it is one of FP16, half, FP32, float"),
    ("moir model.onnx --framework", 2, "moir: error: argument --framework: expected one argument"),
    ("moir model.onnx --use_new_frontend --use_legacy_frontend", 2, "moir: error: --use_legacy_frontend and --use_new_frontend exclude"),
    ("moir model.onnx --compress_to_fp16=maybe", 2, "moir: error: --compress_to_fp16=maybe: 'maybe' is neither True nor False"),
    ("moir model.onnx --input 'x[1,8'", 2, "moir: error: --input: a bracket is not closed: 'x[1,8'"),
    ("moir model.onnx --input 'x[1,8]{f23}'", 2, "moir: error: --input: 'f23' is not an element type; did you mean f32"),
    ("moir model.onnx --input z", 1, "moir: error: there is no node and no tensor 'z'; "),
    ("moir model.onnx --output yy", 1, "moir: error: there is no node and no tensor 'yy'; did you mean y?"),
    ("moir model.onnx --input_shape [2,8] --batch 2", 2, "moir: error: input_shape and batch exclude each other; leave one of them out"),
    ("moir model.onnx --input 'x[2,8]' -b 2", 2, "moir: error: batch and the shape of 'x[2,8]' exclude each other; write the batch"),
    ("moir model.onnx --input 'x[2,8]' --input_shape [2,8]", 2, "moir: error: the input 'x[2,8]' has two shapes; leave out"),
    ("moir model.onnx --batch 0", 2, "moir: error: --batch: '0' is not a whole number from 1 on"),
    ("moir model.onnx --model_name a/b", 2, "moir: error: --model-name is a name, not a path: 'a/b'; say --output-dir for the folder"),
    ("moir model.onnx --config absent.toml", 2, "moir: error: absent.toml: cannot be read: No such file or directory"),
    ("moir model.onnx --config notes.txt", 2, "moir: error: notes.txt: it is not TOML: "),
    ("moir model.onnx --config wrong.toml", 2, "moir: error: wrong.toml: there is no key 'outpt'; did you mean output?"),
    ("moir model.onnx --silent --verbose", 2, "moir: error: argument --verbose/--timing: not allowed with argument --silent"),
    ("moir model.onnx -o", 2, "moir: error: argument -o/--output-dir: expected one argument; see moir --help"),
    ("moir model.onnx --layout-change=nhwc", 2, "moir: error: --layout-change cannot be 'nhwc'; it is auto or none"),
    ("moir model.onnx --completion tcsh", 2, "moir: error: --completion cannot be 'tcsh'; "),
    ("moir model.onnx --passes fold-constant", 2, "moir: error: there is no pass 'fold-constant'; did you mean fold-constants?"),
    ("moir model.onnx --passes 'fold-constants{'", 2, "moir: error: the pipeline 'fold-constants{' cannot be read: "),
    ("moir model.onnx --passes 'fold-constants{x=1}'", 2, "moir: error: 'fold-constants' has no option 'x'; its options are static-shape"),
    (
        "moir model.onnx --passes 'default{layout-chang=none}'",
        2,
        "moir: error: 'default' has no option 'layout-chang'; did you mean layout-change?",
    ),
    ("moir model.onnx --passes eliminate-dead", 1, "moir: error: "),
    ("moir model.onnx --signature x", 1, "moir: error: model.onnx: a model of onnx has no signature; leave out the option signature"),
    ("moir model.onnx --extensions absent", 1, "moir: error: absent: "),
    ("moir model.onnx --extensions empty_folder", 1, "moir: error: empty_folder: "),
    ("moir model.onnx --enable nothing", 2, "moir: error: there is no transformation 'nothing' to enable or disable"),
    ("moir model.onnx --disable fold-constant", 2, "moir: error: there is no transformation 'fold-constant' to enable or disable; did you"),
    ("moir model.onnx --transformations-config absent.json", 1, "moir: error: absent.json: "),
    ("moir model.onnx --transformations-config notes.txt", 1, "moir: error: notes.txt"),
    # Commands.
    ("moir pases", 2, "moir: error: there is no model and no command 'pases'; did you mean moir passes?"),
    ("moir inspct model.onnx", 2, "moir: error: there is no model and no command 'inspct'; did you mean moir inspect?"),
    ("moir passes --framework onxn", 2, "moir passes: error: --framework cannot be 'onxn'; did you mean onnx?"),
    ("moir passes model.onnx", 2, "moir passes: error: the argument 'model.onnx' is one too many; see moir passes --help"),
    ("moir new-extension", 2, "moir new-extension: error: DIR is missing; see moir new-extension --help"),
    ("moir new-extension notes.txt", 1, "moir new-extension: error: notes.txt"),
    ("moir describe-subgraphs absent.json model.onnx", 1, "moir describe-subgraphs: error: absent.json: "),
    ("moir describe-subgraphs notes.txt model.onnx -o model.onnx", 2, "moir describe-subgraphs: error: model.onnx is the model; choose"),
    # The text tool.
    ("moir-opt absent.mlir", 1, "moir-opt: error: absent.mlir: "),
    ("moir-opt broken.mlir", 1, "moir-opt: error: broken.mlir:3:1: operand expected"),
    ("moir-opt binary.mlir", 1, "moir-opt: error: binary.mlir: byte 0 is not UTF-8 text"),
    ("moir-opt empty_folder", 1, "moir-opt: error: empty_folder: the folder is not a model"),
    ("moir-opt torch.pt", 1, "moir-opt: error: torch.pt: this is a PyTorch checkpoint; load the model in PyTorch and export it"),
    ("moir-opt model.onnx -o empty_folder", 1, "moir-opt: error: "),
    ("moir-opt model.onnx -o absent/x.mlir", 1, "moir-opt: error: "),
    ("moir-opt model.onnx -p fold-constant", 2, "moir-opt: error: there is no pass 'fold-constant'; did you mean fold-constants?"),
    ("moir-opt model.onnx -p default --resume-after lower-onnx", 2, "moir-opt: error: -p, --pass-pipeline and --resume-after exclude"),
    ("moir-opt model.onnx --resume-after eliminate-dead", 2, "moir-opt: error: 'eliminate-dead' occurs "),
    ("moir-opt model.onnx --resume-after 99-x", 2, "moir-opt: error: the default pipeline has no pass 99-x"),
    ("moir-opt model.onnx -t xml", 2, "moir-opt: error: "),
    ("moir-opt model.onnx --verify-eahc", 2, "moir-opt: error: there is no option --verify-eahc; did you mean --verify-each"),
    ("moir-opt model.onnx -o x/a.mlir --weights-file y/w.bin", 2, "moir-opt: error: --weights-file is a file in the folder of the output"),
    ("moir-opt model.onnx -o model.onnx", 1, "moir-opt: error: model.onnx: this file belongs to the model"),
    ("moir-opt module.mlir -t ir -o out.xml", 1, "moir-opt: error: "),
    ("moir-opt model.onnx -f onxn", 2, "moir-opt: error: -f/--frontend cannot be 'onxn'; did you mean onnx?"),
    ("moir-opt model.onnx --dump-ir -", 2, "moir-opt: error: argument --dump-ir: - is not a folder; see moir-opt --help"),
    ("moir-opt external.onnx --dump-ir .", 1, "moir-opt: error: weights.bin: this file belongs to the model"),
    ("moir-opt external.onnx --weights-file weights.bin", 1, "moir-opt: error: weights.bin: this file belongs to the model"),
    (
        "moir-opt contradiction.mlir",
        1,
        "moir-opt: error: contradiction.mlir:4:5: opset1.Abs 'a': the result is written as tensor<3xf32>",
    ),
    ("moir-opt model.onnx --run-reproducer", 2, "moir-opt: error: model.onnx is not a reproducer"),
    ("moir-gui", 2, "moir-gui: error: input_file is missing; see moir-gui --help"),
    ("moir-gui absent.mlir", 1, "moir-gui: error: absent.mlir: cannot be read: No such file or directory"),
]
"""Command lines, exit statuses, and beginnings of the line on standard error (or parts of it, if they do not begin with the tool)."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the command lines."""
    monkeypatch.chdir(tmp_path)
    save(matmul_model(), Path("model.onnx"))
    save(matmul_model(), Path("weights.onnx"))
    save(matmul_model("Mystery", "com.acme"), Path("mystery.onnx"))
    onnx.save(matmul_model(), "external.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    Path("truncated.onnx").write_bytes(Path("model.onnx").read_bytes()[:-9])
    for name in ("export/saved_model", "empty_folder", "folder.xml"):
        Path(name).mkdir(parents=True)
    with zipfile.ZipFile("torch.pt", "w") as archive:
        archive.writestr("torch/data.pkl", b"")
    with zipfile.ZipFile("archive.zip", "w") as archive:
        archive.writestr("model.onnx", b"")
    contents: dict[str, bytes] = {
        "empty.onnx": b"",
        "export/saved_model/saved_model.pb": b"",
        "page.onnx": b"<!doctype html>",
        "tensors.safetensors": b"\x40\0\0\0\0\0\0\0" + b'{"w":1}',
        "network.xml": b'<?xml version="1.0"?>\n<net name="x">',
        "annotation.xml": b"<annotation/>",
        "pytorch.bin": b"weights",
        "notes.txt": b"notes",
        "wrong.toml": b'outpt = "y"',
        "jobs.toml": b'jobs = 2\n[[model]]\ninput_model = "model.onnx"',
        "key.toml": b'[[model]]\ninput_modle = "model.onnx"',
        "value.toml": b'[[model]]\ninput_model = "model.onnx"\n[[model]]\ninput_model = "weights.onnx"\nbatch = "two"',
        "lacking.toml": b"[[model]]\nbatch = 2",
        "002-lower-onnx.mlir": TEXT.encode(),
        "module.mlir": TEXT.encode(),
        "broken.mlir": b"builtin.module {\n  opset1.Abs(\n}\n",
        "binary.mlir": b"\xff\xfe\x00",
        "contradiction.mlir": CONTRADICTION,
    }
    for name, content in contents.items():
        Path(name).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize(("command", "status", "line"), INVOCATIONS, ids=[command for command, _, _ in INVOCATIONS])
def test_invocations(folder: Path, capsys: pytest.CaptureFixture[str], command: str, status: int, line: str) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    tool, *arguments = shlex.split(command)
    assert TOOLS[tool](arguments) == status
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.count("\n") == 1, printed.err
    assert len(printed.err) < 500 or "a" * 99 in printed.err
    assert "internal error" not in printed.err
    assert printed.err.startswith(line) if line.startswith("moir") else line in printed.err, printed.err
    assert {path: path.read_bytes() for path in before} == before
    assert not list(folder.glob("*.bin.*")) + list(folder.glob(".*.tmp"))


def test_the_table_is_long_enough() -> None:
    commands = [command for command, _, _ in INVOCATIONS]
    assert len(set(commands)) == len(commands) >= 60


def test_a_folder_that_is_read_only() -> None:
    """Permissions do not hold for the superuser, so that its child becomes nobody; who has no access to pytest's folders."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        folder.chmod(0o755)
        save(matmul_model(), folder / "model.onnx")
        (folder / "readonly").mkdir(mode=0o555)
        # Everything is imported by a first conversion, as nobody may have no access to the installation either.
        code = (
            "import os, sys; from moir.tools.convert import main; main(['model.onnx', '-o', 'out', '--silent']);"
            "os.getuid() or os.setuid(65534); sys.exit(main(sys.argv[1:]))"
        )
        done = python(code, ["model.onnx", "-o", "readonly/net.xml"], folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("moir: error: readonly: the model cannot be written: the folder is read-only; choose another output")


def python(code: str, arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a program in a process of its own."""
    command = [sys.executable, "-B", "-c", code, *arguments]
    return subprocess.run(command, cwd=folder, env=environment(), capture_output=True, text=True, check=False)


def test_a_disk_that_is_full(folder: Path) -> None:
    """A limit on the size of files stands for the size of the disk."""
    code = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (300, 300));"
        "from moir.tools.convert import main; sys.exit(main(sys.argv[1:]))"
    )
    before = sorted(folder.iterdir())
    done = python(code, ["model.onnx", "-o", "net.xml"], folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "moir: error: net.xml: the model cannot be written: File too large; free space there, or choose another output\n"
    assert sorted(folder.iterdir()) == before
