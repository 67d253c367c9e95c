"""The table of injected faults: whatever fails at whichever call, the outcome is one line, a status, and a whole pair of files.

| fault | where | outcome |
| --- | --- | --- |
| a read error (EIO), no permission (EACCES) | each call that opens, measures or maps a file of the model | status 1, one line |
| a file that is gone (ENOENT) between two calls | the same | status 1, one line |
| a write error, an interrupt, a kill | each call that writes | `tests/unit/emit/test_files.py` |
| a kill | each system call of the writing | `tests/unit/emit/test_killed_at_system_calls.py` |
| a full disk | the first bytes, the last bytes | status 1, one line: `tests/unit/emit`, `test_invocations.py` |
| a closed pipe | standard output, standard error | status 141, or that of the conversion |
| SIGINT, SIGTERM | before the import, before the passes, during the emission | status 130, 143; nothing is left |
| SIGHUP, SIGKILL | the same | what is left is swept by the next conversion, the older pair stays |
| four processes with one output | all at once, several times | the pair of one of them |
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from moir import convert_model, save_model
from tests.fuzz.files.samples import Sample, caffe_samples, ir_samples, mxnet_samples, onnx_samples, paddle_samples, tensorflow_samples

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

MODELS = {
    "onnx with external data": lambda: onnx_samples()[0],
    "ir": lambda: ir_samples()[0],
    "mxnet": lambda: mxnet_samples()[0],
    "paddle": lambda: paddle_samples()[0],
    "caffe": lambda: caffe_samples()[0],
    "saved model": lambda: next(each for each in tensorflow_samples() if each.name == "saved_model_v2"),
    "checkpoint": lambda: next(each for each in tensorflow_samples() if each.name == "checkpoint"),
}

READING = """
import builtins, errno, io, mmap, os, sys

code, model, out = getattr(errno, sys.argv[1]), sys.argv[2], sys.argv[3]
step = limit = 0
descriptors = set()

def concerns(arguments):
    first = arguments[0] if arguments else None
    if isinstance(first, int):
        return first in descriptors
    return isinstance(first, str | bytes | os.PathLike) and os.fsdecode(first).startswith(os.path.dirname(model))

def failing(function):
    def wrapped(*arguments, **keywords):
        global step
        if not concerns(arguments):
            return function(*arguments, **keywords)
        step += 1
        if step == limit:
            raise OSError(code, os.strerror(code), model)
        result = function(*arguments, **keywords)
        descriptor = result if isinstance(result, int) else result.fileno() if hasattr(result, "fileno") else None
        if descriptor is not None:
            descriptors.add(descriptor)
        return result
    return wrapped

from moir.tools.convert import main
import moir.conversion, moir.emit.write, moir.pipeline.text

for limit in range(1, 400):
    child = os.fork()
    if not child:
        os.dup2(os.open(f"{out}/{limit}.err", os.O_CREAT | os.O_WRONLY), 2)
        for place, name in ((os, "open"), (os, "fstat"), (os, "pread"), (io, "open"), (builtins, "open")):
            setattr(place, name, failing(getattr(place, name)))
        plain = mmap.mmap

        class Mapped(plain):
            def __new__(cls, descriptor, *arguments, **keywords):
                failing(lambda number: number)(descriptor)
                return plain(descriptor, *arguments, **keywords)

        mmap.mmap = Mapped
        status = main([model, "-o", f"{out}/{limit}/m.xml", "--silent"])
        os._exit(status if step >= limit else 100)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(status, flush=True)
    if status == 100:
        break
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}


@pytest.mark.parametrize(
    ("name", "error"),
    [*((name, "EIO") for name in MODELS), *((name, error) for name in ("mxnet", "checkpoint") for error in ("EACCES", "ENOENT"))],
)
def test_each_read_fails(name: str, error: str, tmp_path: Path) -> None:
    sample: Sample = MODELS[name]()
    model, out = sample.write(tmp_path / "model"), tmp_path / "out"
    out.mkdir()
    command = [sys.executable, "-c", READING, error, str(model), str(out)]
    statuses = subprocess.run(command, env=environment(), capture_output=True, text=True, check=True).stdout.split()
    assert statuses[-1] == "100"
    assert len(statuses) > 2
    for limit, status in enumerate(statuses[:-1], 1):
        said = (out / f"{limit}.err").read_text()
        written = sorted(path.name for path in (out / str(limit)).iterdir()) if (out / str(limit)).exists() else []
        # A file that need not be there is not missed: weights beside a prototxt, the parts of a checkpoint.
        assert status in ("0", "1"), said
        assert written == (["m.bin", "m.xml"] if status == "0" else [])
        assert "internal error" not in said
        assert "Traceback" not in said
        assert said.count("moir: error: ") == int(status)
    assert "1" in statuses


SIGNALLED = """
import os, signal, sys
import moir.conversion, moir.emit.write, moir.tools.convert

number, place, model, out = getattr(signal, sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
# Tests that run in the background ignore some signals, and so would this process.
if number != signal.SIGKILL:
    signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

def signalled(function):
    def wrapped(*arguments, **keywords):
        os.kill(os.getpid(), number)
        return function(*arguments, **keywords)
    return wrapped

owner, name = {
    "import": (moir.conversion, "import_model"),
    "passes": (moir.conversion, "run"),
    "emission": (moir.emit.write, "write_xml"),
}[place]
setattr(owner, name, signalled(getattr(owner, name)))
sys.argv[1:] = [model, "-o", out, "--silent"]
moir.tools.convert.command()
"""


def old_pair(folder: Path) -> dict[str, bytes]:
    """An older IR in a folder."""
    save_model(convert_model(onnx_samples()[0].write(folder.parent / "older")), folder / "m.xml")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("place", ["import", "passes", "emission"])
@pytest.mark.parametrize(("name", "statuses"), [("SIGINT", (130, -2)), ("SIGTERM", (143, -15)), ("SIGHUP", (-1, 129))])
def test_signals(name: str, statuses: tuple[int, ...], place: str, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    before = old_pair(out)
    model = onnx_samples()[1].write(tmp_path / "model")
    command = [sys.executable, "-c", SIGNALLED, name, place, str(model), str(out / "m.xml")]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode in statuses, done.stderr
    assert "Traceback" not in done.stderr
    left = {path.name: path.read_bytes() for path in out.iterdir()}
    if name != "SIGHUP":
        assert left == before
    # What a signal without a handler leaves is swept by the next conversion.
    assert {key: left[key] for key in before} == before
    save_model(convert_model(model), out / "m.xml")
    assert sorted(path.name for path in out.iterdir()) == ["m.bin", "m.xml"]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_closed_streams(stream: str, tmp_path: Path) -> None:
    """A reader that is gone: the IR is written all the same, and nobody reads a traceback."""
    model = onnx_samples()[1].write(tmp_path / "model")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "moir", str(model), "-o", str(tmp_path / "out")]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | {stream: writer}
    done = subprocess.run(command, env=environment(), text=True, check=False, **streams)
    os.close(writer)
    assert done.returncode in ((0, 141) if stream == "stdout" else (0,))
    assert "Traceback" not in (done.stderr or "") + (done.stdout or "")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["m.bin", "m.xml"]


def test_an_archive_for_nobody(tmp_path: Path) -> None:
    model = onnx_samples()[1].write(tmp_path / "model")
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "moir", str(model), "-o", "-"]
    done = subprocess.run(command, env=environment(), stdout=writer, stderr=subprocess.PIPE, text=True, check=False, cwd=tmp_path)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, "")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_four_processes_with_one_output(tmp_path: Path) -> None:
    samples = onnx_samples()[1:5]
    models = [sample.write(tmp_path / str(number)) for number, sample in enumerate(samples)]
    for number, model in enumerate(models):
        save_model(convert_model(model), tmp_path / "alone" / str(number) / "m.xml")

    def pair(folder: Path) -> tuple[bytes, bytes]:
        # Options of the conversion are recorded, the name of the model among them: the layers are compared.
        xml = (folder / "m.xml").read_bytes()
        return xml[xml.index(b"<layers>") : xml.index(b"</edges>")], (folder / "m.bin").read_bytes()

    expected = [pair(tmp_path / "alone" / str(number)) for number in range(len(models))]
    out = tmp_path / "out"
    for _ in range(2):
        started = [
            subprocess.Popen(
                [sys.executable, "-m", "moir", str(model), "-o", str(out / "m.xml"), "--silent"],
                env=environment(),
                stderr=subprocess.PIPE,
                text=True,
            )
            for model in models
        ]
        said = [process.communicate()[1] for process in started]
        assert [process.returncode for process in started] == [0] * len(models), said
        assert pair(out) in expected
        assert sorted(path.name for path in out.iterdir()) == ["m.bin", "m.xml"]


def test_a_killed_process_among_them(tmp_path: Path) -> None:
    """One is killed while it writes: what it leaves is swept, and the others are not held up."""
    model = onnx_samples()[1].write(tmp_path / "model")
    out = tmp_path / "out"
    out.mkdir()
    old_pair(out)
    command = [sys.executable, "-c", SIGNALLED, "SIGKILL", "emission", str(model), str(out / "m.xml")]
    assert subprocess.run(command, env=environment(), check=False).returncode == -signal.SIGKILL
    assert len(list(out.iterdir())) > 2
    save_model(convert_model(model), out / "m.xml")
    assert sorted(path.name for path in out.iterdir()) == ["m.bin", "m.xml"]


def test_names_with_nul(tmp_path: Path) -> None:
    """A path may come from another program: NUL in it is an error like that of a missing file."""
    from moir.errors import MoirError

    model = onnx_samples()[1].write(tmp_path / "model")
    for call in (
        lambda: convert_model("a\0b.onnx"),
        lambda: convert_model(model, extensions="a\0b"),
        lambda: save_model(convert_model(model), tmp_path / "a\0b.xml"),
    ):
        with pytest.raises(MoirError):
            call()
