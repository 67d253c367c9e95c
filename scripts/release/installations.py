"""Installs the packages in fresh environments, and converts a sample of each framework there.

Warnings are errors. The environments have the oldest allowed versions of all dependencies, and the newest ones.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from moir.support.records import Record
from scripts.release.requirements import dependencies, oldest

ROOT = Path(__file__).parents[2]
PYTHONS = ("3.11", "3.12", "3.13")
"""The versions of Python on which a release is tried."""

SAMPLES = (
    "examples/digits/digits.onnx",
    "tests/fixtures/tensorflow/saved_model_v2",
    "tests/fixtures/caffe/classifier.caffemodel",
    "tests/fixtures/mxnet/classifier-symbol.json",
    "tests/fixtures/tflite/network.tflite",
    "tests/fixtures/pytorch/classifier.pt2",
    "tests/fixtures/stablehlo/arithmetic.mlirbc",
    "tests/fixtures/paddle/classifier.pdmodel",
    "tests/fixtures/keras/functional.keras",
)
"""A model of each framework; the IR that becomes of the first one is read again."""

EXTRAS = ("keras",)
"""The extras that samples need."""


class Installation(Record):
    """A fresh environment.

    Args:
        python: the interpreter that makes it.
        version: the version of Python, as `3.11`.
        package: the wheel, or the sdist, that is installed.
        is_oldest: whether all dependencies are of the oldest allowed versions, not of the newest ones.
    """

    python: str
    version: str
    package: Path
    is_oldest: bool

    def __str__(self) -> str:
        age = "oldest" if self.is_oldest else "newest"
        return f"Python {self.version}, {age} dependencies, {self.package.name}"


def interpreters() -> dict[str, str]:
    """The interpreters that are found, by version."""
    named = ((version, shutil.which(f"python{version}")) for version in PYTHONS)
    return {version: path for version, path in named if path is not None and _runs(path)}


def _runs(python: str) -> bool:
    """Whether an interpreter starts: a version manager may have a name for one that is not chosen."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


def installations(wheel: Path, sdist: Path) -> Iterator[Installation]:
    """The environments that a release is tried in: the wheel in all, the sdist in that of the first Python."""
    for version, python in interpreters().items():
        for is_oldest in (True, False):
            yield Installation(python, version, wheel, is_oldest)
    version, python = next(iter(interpreters().items()))
    yield Installation(python, version, sdist, is_oldest=False)


def check(installation: Installation, pins: Sequence[str] | None = None) -> None:
    """Install a package and convert the samples.

    Args:
        installation: the environment.
        pins: arguments of pip that determine the versions; None for those that the installation stands for.

    Raises CalledProcessError if something fails or warns.
    """
    if pins is None:
        pins = oldest(dependencies(*EXTRAS), installation.version) if installation.is_oldest else []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        _run([installation.python, "-m", "venv", str(place / "env")], place)
        python = str(place / "env" / "bin" / "python")
        package = f"{installation.package}[{','.join(EXTRAS)}]"
        _run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", package, *pins], place)
        for number, sample in enumerate(SAMPLES):
            _run([python, "-W", "error", "-m", "moir", str(ROOT / sample), "--silent", "-o", f"{number}.xml"], place)
        _run([python, "-W", "error", "-m", "moir", "0.xml", "--silent", "-o", "again.xml"], place)
        written = [f"{number}.{suffix}" for number in (*range(len(SAMPLES)), "again") for suffix in ("xml", "bin")]
        missing = [name for name in written if not (place / name).stat().st_size]
        if missing:
            raise ValueError(f"{installation}: {', '.join(missing)} has nothing in it")


def _run(command: Sequence[str], folder: Path) -> None:
    # Neither in the checkout nor with its path: the package is to be that of the environment.
    subprocess.run(command, cwd=folder, check=True, env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"})
