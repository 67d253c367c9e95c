"""HDF5 files: what is read of them, what is refused, and the process that reads them."""

from __future__ import annotations

import resource
import subprocess
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from moir.errors import ModelFileError
from moir.files.reading import map_file
from moir.frontends.keras import hdf5, hdf5_process
from moir.frontends.keras.hdf5 import HDF5File

h5py: Any = import_module("h5py")

VALUES = np.arange(24, dtype=np.float32).reshape(4, 6)


def opened(path: Path) -> HDF5File:
    """The file at a path."""
    mapped = map_file(path)
    assert mapped is not None
    return HDF5File(path, mapped, 0, len(mapped))


def values_of(file: HDF5File, name: str) -> np.ndarray:
    """The values of a dataset of the root."""
    dataset = file.child(file.root, name)
    assert dataset is not None
    assert file.is_dataset(dataset)
    return file.data(dataset, name).array


@pytest.mark.parametrize(
    ("values", "options"),
    [
        (VALUES, {}),
        (VALUES, {"chunks": (3, 4)}),
        (VALUES, {"compression": "gzip"}),
        (VALUES, {"chunks": (4, 6), "fletcher32": True, "shuffle": True}),
        (VALUES.astype(">f4"), {}),
        (VALUES.astype(np.float16), {"compression": "lzf"}),
        (VALUES > 3, {}),
        (np.float64(2.5), {}),
        (np.zeros((0, 3), np.int32), {}),
        (np.zeros((3, 0), np.int32), {"chunks": (1, 1), "maxshape": (None, None)}),
    ],
)
def test_values(values: np.ndarray, options: dict[str, Any], tmp_path: Path) -> None:
    """Contiguous values are views of the file, others are read by the process; both are as they were written."""
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file.create_dataset("x", data=values, **options)
    actual = values_of(opened(tmp_path / "m.h5"), "x")
    assert actual.dtype == values.dtype.newbyteorder("=")
    assert actual.shape == values.shape
    assert np.array_equal(actual, values)


def test_compressed_values_in_pieces(tmp_path: Path) -> None:
    """Compressed values that are larger than one piece are joined."""
    values = np.arange(3 * (hdf5_process.PIECE >> 2), dtype=np.float32).reshape(6, -1)
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file.create_dataset("x", data=values, compression="lzf")
    assert np.array_equal(values_of(opened(tmp_path / "m.h5"), "x"), values)


def test_attributes(tmp_path: Path) -> None:
    """Texts of fixed and variable length, lists, and lists in numbered parts."""
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file.attrs["model_config"] = "a\u00e9"
        file.attrs["keras_version"] = np.bytes_(b"2.15.0")
        file.attrs["layer_names"] = np.array([b"one", b"two"])
        file.attrs["weight_names0"] = ["a"]
        file.attrs["weight_names1"] = ["b", "c"]
        file.attrs["other"] = "x"
    actual = opened(tmp_path / "m.h5")
    assert actual.text(actual.root, "model_config") == "a\u00e9"
    assert actual.text(actual.root, "keras_version") == "2.15.0"
    assert actual.strings(actual.root, "layer_names") == ["one", "two"]
    assert actual.strings(actual.root, "weight_names") == ["a", "b", "c"]
    assert actual.text(actual.root, "backend") is None
    assert actual.strings(actual.root, "backend") is None


def test_groups_that_hold_themselves(tmp_path: Path) -> None:
    """Links to a group around it, and to one dataset by two names, end."""
    with h5py.File(tmp_path / "m.h5", "w") as file:
        group = file.create_group("a/b")
        group["up"] = file["a"]
        group["x"] = VALUES
        file["y"] = h5py.SoftLink("/a/b/x")
        file["z"] = h5py.SoftLink("/nowhere")
    actual = opened(tmp_path / "m.h5")
    assert actual.child(actual.root, "a/b/up/b/up/b/x") is actual.child(actual.root, "y")
    assert actual.child(actual.root, "a/c") is None
    assert actual.child(actual.root, "a/b/x/c") is None
    with pytest.raises(ModelFileError, match="the group 'z' cannot be read"):
        actual.child(actual.root, "z")


def external_link(file: Any) -> None:
    file["x"] = h5py.ExternalLink("other.h5", "/x")


def external_storage(file: Any) -> None:
    file.create_dataset("x", (4,), np.float32, external=[("other.bin", 0, 16)])


def virtual_storage(file: Any) -> None:
    layout = h5py.VirtualLayout((4,), np.float32)
    layout[:] = h5py.VirtualSource("other.h5", "x", (4,))
    file.create_virtual_dataset("x", layout)


@pytest.mark.parametrize("write", [external_link, external_storage, virtual_storage])
def test_other_files(write: Callable[[Any], None], tmp_path: Path) -> None:
    """Values in another file are refused, even if there is one."""
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = np.ones(4, np.float32)
    (tmp_path / "other.bin").write_bytes(bytes(16))
    with h5py.File(tmp_path / "m.h5", "w") as file:
        write(file)
    with pytest.raises(ModelFileError, match="in another file"):
        values_of(opened(tmp_path / "m.h5"), "x")


def test_expanding_values(tmp_path: Path) -> None:
    """Values that are compressed too much are refused, and nothing but they."""
    with h5py.File(tmp_path / "m.h5", "w") as file:
        file.create_dataset("x", data=np.zeros(1 << 24, np.uint8), compression="gzip", chunks=(1 << 24,))
        file["y"] = VALUES
    actual = opened(tmp_path / "m.h5")
    assert np.array_equal(values_of(actual, "y"), VALUES)
    with pytest.raises(ModelFileError, match="its compressed values are too large"):
        values_of(actual, "x")


@pytest.mark.parametrize(
    ("program", "ending"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
        ("raise SystemExit(3)", "status 3"),
    ],
)
def test_process_that_ends(program: str, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that makes the library crash is refused with one line."""
    (tmp_path / "m.h5").write_bytes(b"\x89HDF\r\n\x1a\n")
    (tmp_path / "hdf5_process.py").write_text(program)
    monkeypatch.setattr(hdf5, "__file__", str(tmp_path / "hdf5.py"))
    with pytest.raises(ModelFileError, match=f"ended with {ending}"):
        opened(tmp_path / "m.h5")


@pytest.mark.parametrize("executable", ["", "/bin/true", "/nowhere/python"])
def test_no_interpreter(executable: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that contains Python may have no interpreter to start."""
    h5py.File(tmp_path / "m.h5", "w").close()
    monkeypatch.setattr(sys, "executable", executable)
    with pytest.raises(ModelFileError, match="not a Python interpreter"):
        opened(tmp_path / "m.h5")


def test_broken_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A package that cannot be imported is not a damaged file."""
    h5py.File(tmp_path / "m.h5", "w").close()
    (tmp_path / "h5py.py").write_text("raise ImportError('numpy.dtype size changed')")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModelFileError, match=r"cannot be imported: numpy.* size changed"):
        opened(tmp_path / "m.h5")


@pytest.mark.parametrize(
    ("program", "kind"),
    [("bytearray(512 << 20)", "MemoryError"), ("while True: pass", "SIGXCPU")],
)
def test_limits(program: str, kind: str) -> None:
    """The process takes neither more memory nor more time than its limits."""
    folder = Path(hdf5_process.__file__).parent
    start = f"import sys; sys.path.append({str(folder)!r}); import hdf5_process; hdf5_process.SECONDS = 1; hdf5_process.limit(1000)\n"
    # Moir's names that are those of standard modules are not imported, since the folder is the last one searched.
    actual = subprocess.run([sys.executable, "-c", start + program], capture_output=True, text=True, check=False)
    if kind == "SIGXCPU":
        assert actual.returncode == -24
        assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime > 0.5
    else:
        assert kind in actual.stderr
