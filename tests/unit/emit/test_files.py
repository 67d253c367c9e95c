"""The two files appear together or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moir.emit import write_model
from moir.emit.exchange import locked
from moir.emit.files import check_output, replacing, weights_path
from moir.errors import EmissionError, UsageError

MODEL = """
    %0 = opset1.Constant() {value = #moir.data<tensor<3xf32>, [1.0, 2.0, 3.0]>, name = "w"} : tensor<3xf32>
    opset1.Result(%0)
"""

OLD, NEW = b"<net>old</net>", b"<net>new</net>"


def write_pair(path: Path, text: bytes) -> None:
    with replacing(path) as files:
        files.weights.write(text)
        files.xml.write(text.decode())


def content(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


def test_missing_directories_are_made_and_files_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "m.xml"
    write_pair(path, OLD)
    write_pair(path, NEW)
    assert content(path.parent) == {"m.xml": NEW, "m.bin": NEW}


def test_the_folder_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand models in one folder would read it ten thousand times."""

    def fail(*_: object) -> None:
        pytest.fail("the folder is read")

    with monkeypatch.context() as patch:
        for name in ("listdir", "scandir"):
            patch.setattr(os, name, fail)
        write_pair(tmp_path / "m.xml", OLD)
    assert content(tmp_path) == {"m.xml": OLD, "m.bin": OLD}


def test_many_killed_writers_do_not_hinder_another_one(tmp_path: Path) -> None:
    for mark in "0123456789abcdef":
        (tmp_path / f".m.xml.{mark}.tmp").touch()
    write_pair(tmp_path / "m.xml", NEW)
    assert content(tmp_path) == {"m.xml": NEW, "m.bin": NEW}


def test_files_have_the_permissions_of_new_files(tmp_path: Path) -> None:
    write_pair(tmp_path / "m.xml", b"")
    (tmp_path / "plain").touch()
    assert (tmp_path / "m.bin").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("exception", [ValueError, KeyboardInterrupt, EmissionError])
def test_error_leaves_everything_as_it_was(tmp_path: Path, exception: type[BaseException]) -> None:
    write_pair(tmp_path / "m.xml", OLD)

    def fail() -> None:
        with replacing(tmp_path / "m.xml") as files:
            files.xml.write(NEW.decode())
            raise exception("no")

    with pytest.raises(exception):
        fail()
    assert content(tmp_path) == {"m.xml": OLD, "m.bin": OLD}


def test_model_that_cannot_be_emitted_leaves_no_file(parse: Any, tmp_path: Path) -> None:
    with pytest.raises(EmissionError):
        write_model(parse("%0 = onnx.Foo() {} : tensor<f32>"), tmp_path / "m.xml")
    assert content(tmp_path) == {}


def test_files_are_on_the_disk_when_they_are_checked(parse: Any, tmp_path: Path) -> None:
    seen: list[bytes] = []

    def check() -> None:
        seen.extend(each.read_bytes() for each in sorted(tmp_path.iterdir()))

    write_model(parse(MODEL), tmp_path / "m.xml", check=check)
    assert seen == [(tmp_path / name).read_bytes() for name in ("m.bin", "m.xml")]


def test_name_must_end_in_xml(parse: Any, tmp_path: Path) -> None:
    assert weights_path(Path("a.b.XML")) == Path("a.b.bin")
    for name in ("model", "model.bin", "model.onnx"):
        with pytest.raises(UsageError, match=r"must end in \.xml"):
            write_model(parse(MODEL), tmp_path / name)


def test_places_that_cannot_be_written(parse: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EmissionError, match="the model cannot be written"):
        write_model(parse(MODEL), tmp_path / "file" / "m.xml")
    with pytest.raises(EmissionError, match=r"/proc.*: the model cannot be written"):
        write_model(parse(MODEL), "/proc/moir/m.xml")
    (tmp_path / "m.bin").mkdir()
    (tmp_path / "m.xml").touch()
    with pytest.raises(EmissionError, match=r"m\.bin: the model cannot be written: this is a folder"):
        write_model(parse(MODEL), tmp_path / "m.xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "m.bin", "m.xml"]


FAULTS = """
import fcntl, os, signal, sys
from pathlib import Path
import moir.emit.exchange
import moir.emit.files as files

fault, folder = sys.argv[1], Path(sys.argv[2])
step = 0

def failing(function):
    def wrapped(*arguments, **keywords):
        global step
        step += 1
        if step == limit and fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if step == limit and fault == "error":
            raise OSError(28, "No space left on device")
        if step == limit and fault == "interrupt before":
            raise KeyboardInterrupt
        result = function(*arguments, **keywords)
        if step == limit and fault == "interrupt after":
            raise KeyboardInterrupt
        return result
    return wrapped

def write(path, text):
    with files.replacing(path) as pair:
        for _ in range(3):
            pair.xml.write(text.decode())
            pair.xml.flush()
            pair.weights.write(text)
            pair.weights.flush()
            os.fsync(pair.xml.fileno())

for limit in range(1, 80):
    directory = folder / str(limit)
    write(directory / "m.xml", b"<net>old</net>")
    child = os.fork()
    if not child:
        for name in ("fsync", "open", "close", "unlink", "replace", "mkdir", "listdir"):
            setattr(os, name, failing(getattr(os, name)))
        fcntl.flock = failing(fcntl.flock)
        try:
            write(directory / "m.xml", b"<net>new</net>")
        except BaseException as error:
            os._exit(1)
        os._exit(0 if step < limit else 2)
    if os.waitpid(child, 0)[1] == 0:
        print(limit)
        break
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("fault", ["kill", "error", "interrupt before", "interrupt after"])
def test_fault_at_any_call_loses_no_pair(tmp_path: Path, fault: str) -> None:
    """The first, second, … call into the file system fails, until a writer lives to the end."""
    command = [sys.executable, "-c", FAULTS, fault, str(tmp_path)]
    steps = int(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)
    old, new = OLD * 3, NEW * 3
    for limit in range(1, steps + 1):
        directory = tmp_path / str(limit)
        if fault == "kill":
            check_output(directory / "m.xml")
        files = content(directory)
        assert (files["m.xml"], files["m.bin"]) in ((old, old), (new, new)), limit
        write_pair(directory / "m.xml", NEW)
        assert content(directory) == {"m.xml": NEW, "m.bin": NEW}, f"something is left of call {limit}"


def test_new_files_of_a_live_writer_are_not_swept(tmp_path: Path) -> None:
    with replacing(tmp_path / "m.xml") as files:
        write_pair(tmp_path / "m.xml", OLD)
        files.xml.write(NEW.decode())
        files.weights.write(NEW)
    assert content(tmp_path) == {"m.xml": NEW, "m.bin": NEW}


def test_stopped_writer_is_not_waited_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moir.emit.exchange._LONGEST_WAIT", 0.05)
    write_pair(tmp_path / "m.xml", OLD)
    with locked(tmp_path), pytest.raises(EmissionError, match="another process has been writing"):
        write_pair(tmp_path / "m.xml", NEW)
    assert content(tmp_path) == {"m.xml": OLD, "m.bin": OLD}


FULL = """
import resource, signal, sys
from moir.emit.files import replacing
from moir.errors import EmissionError, UsageError
from pathlib import Path

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
try:
    with replacing(Path(sys.argv[1])) as files:
        files.xml.write("x")
        files.weights.write(bytes(3 << 20))
except EmissionError as error:
    print(error.reason)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")
def test_no_room_left(tmp_path: Path) -> None:
    result = subprocess.run([sys.executable, "-c", FULL, str(tmp_path / "m.xml")], stdout=subprocess.PIPE, text=True, check=True)
    assert result.stdout.strip() == "the model cannot be written: File too large"
    assert content(tmp_path) == {}


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("m.xml", "<annotation/>", r"m\.xml: the file would be overwritten, but it is not an OpenVINO IR"),
        ("m.bin", "weights of another program", r"m\.bin: the file would be overwritten, but it is not the weights of an OpenVINO IR"),
    ],
)
def test_files_of_another_kind_are_not_replaced(tmp_path: Path, name: str, content: str, reason: str) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(EmissionError, match=reason):
        write_pair(tmp_path / "m.xml", NEW)
    assert (tmp_path / name).read_text() == content
    (tmp_path / name).write_text("")
    write_pair(tmp_path / "m.xml", NEW)
    assert (tmp_path / "m.xml").read_bytes() == NEW
