"""The package as others install it: all of its files, its commands from anywhere, its metadata, its types.

It is built from a copy of the sources and installed, without dependencies, into an environment that has nothing but it
and, after it, the packages of the tests.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
import venv
from email.message import Message
from email.parser import Parser
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.unit.test_structure import ROOT, imported_names

DIGITS = ROOT / "examples" / "digits" / "digits.onnx"
SCRIPT = ROOT / "tests" / "fixtures" / "typing" / "user_script.py"
SOURCES = ("moir", "pyproject.toml", "README.md", "LICENSE")
VERSION = "0.1.0.dev7"
"""The version of the copy, which nothing else has."""

CHECKERS = {
    "mypy": ("--strict", "--no-error-summary", "--cache-dir=cache", "--python-executable"),
    "pyright": ("--project", "pyrightconfig.json", "--pythonpath"),
}
"""The type checkers with their options. mypy is there for every test, pyright where `make lint` has installed it."""


def run(*command: str | Path, folder: Path) -> str:
    """What a command prints that must succeed. It sees nothing of this checkout."""
    variables = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    finished = subprocess.run([*map(str, command)], cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stdout + finished.stderr
    return finished.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the package."""
    root = tmp_path_factory.mktemp("installed")
    copy, made = root / "source", root / "environment"
    copy.mkdir()
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, copy / name)
    file = copy / "moir" / "version.py"
    file.write_text(re.sub(r'(?m)^VERSION = ".*"$', f'VERSION = "{VERSION}"', file.read_text(encoding="utf-8")), encoding="utf-8")
    venv.create(made, with_pip=False, symlinks=True)
    # A .pth file found in the folders that this one names is not read, so the checkout is not among them.
    (site_packages(made) / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    options = ("install", "--quiet", "--no-deps", "--no-build-isolation", "--no-index")
    run(sys.executable, "-m", "pip", "--python", made / "bin" / "python", *options, copy, folder=root)
    return made


def site_packages(made: Path) -> Path:
    """The folder of an environment's packages."""
    return Path(sysconfig.get_path("purelib", "venv", {"base": str(made), "platbase": str(made)}))


@pytest.fixture(scope="module")
def metadata(environment: Path) -> Message:
    """The metadata of the installed package."""
    (path,) = site_packages(environment).glob("moir-*.dist-info/METADATA")
    return Parser().parsestr(path.read_text(encoding="utf-8"))


def test_every_file_of_the_package_is_installed(environment: Path) -> None:
    def files(package: Path) -> set[str]:
        return {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file() and path.suffix != ".pyc"}

    installed = files(site_packages(environment) / "moir")
    assert {"py.typed", "tools/new_extension/template/tests/fuse_logistic.mlir"} <= installed
    assert installed == files(ROOT / "moir")


def test_a_model_is_converted_from_another_directory(environment: Path, tmp_path: Path) -> None:
    commands = environment / "bin"
    assert run(commands / "moir", "--version", folder=tmp_path) == f"moir {VERSION}\n"
    location = run(commands / "python", "-c", "import moir; print(moir.__file__)", folder=tmp_path)
    assert Path(location.strip()).is_relative_to(environment)
    run(commands / "moir", DIGITS, "-o", "out", "--silent", folder=tmp_path)
    assert VERSION in (tmp_path / "out" / "digits.xml").read_text(encoding="utf-8")
    assert "opset1.Convolution" in run(commands / "moir-opt", DIGITS, "-p", "lower-onnx", folder=tmp_path)


def test_a_new_extension_is_made_and_used(environment: Path, tmp_path: Path) -> None:
    commands = environment / "bin"
    assert "mine/front/onnx/scaled_tanh.py" in run(commands / "moir", "new-extension", "mine", folder=tmp_path)
    assert "fuse-logistic" in run(commands / "moir", "passes", "--extensions", "mine", folder=tmp_path)


def test_metadata(metadata: Message) -> None:
    assert metadata["Version"] == VERSION
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_all("License-File") == ["LICENSE"]
    assert metadata.get_all("Project-URL")
    classifiers = metadata.get_all("Classifier", [])
    assert {f"Programming Language :: Python :: 3.{minor}" for minor in range(11, 15)} <= set(classifiers)
    assert "Typing :: Typed" in classifiers
    assert {
        "openvino",
        "run",
        "tokenizers",
        "snappy",
        "images",
        "demo",
        "test",
        "docs",
        "gui",
        "dev",
        "keras",
        "release",
        "dask",
        "remote",
        "prove",
    } == set(metadata.get_all("Provides-Extra", []))


def test_what_installs_with_the_package_and_its_extras() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = {
        extra: {re.split(r"[<>=]", each)[0] for each in requirements}
        for extra, requirements in {"": project["dependencies"], **project["optional-dependencies"]}.items()
    }
    assert names[""] == {"xdsl", "numpy", "onnx", "protobuf", "ml-dtypes", "rich", "tflite", "flatbuffers"}
    assert names["openvino"] == {"openvino"}
    assert names["demo"] == {"moir[openvino]", "onnxruntime"}


def test_the_demo_needs_no_more_than_its_extra() -> None:
    assert re.search(r"^demo: \$\(INSTALLED\)-demo$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    tree = ast.parse((ROOT / "examples" / "digits" / "run.py").read_text(encoding="utf-8"))
    imported = {name.split(".")[0] for name, _ in imported_names(tree, "")}
    assert imported - sys.stdlib_module_names == {"numpy", "onnxruntime", "openvino"}


@pytest.mark.parametrize("checker", [name for name in CHECKERS if find_spec(name)])
def test_a_program_of_a_user_has_types(checker: str, environment: Path, tmp_path: Path) -> None:
    shutil.copy(SCRIPT, tmp_path)
    (tmp_path / "pyrightconfig.json").write_text('{"typeCheckingMode": "strict", "include": ["*.py"]}', encoding="utf-8")
    options = CHECKERS[checker]
    files = (SCRIPT.name,) if checker == "mypy" else ()
    run(sys.executable, "-m", checker, *options, environment / "bin" / "python", *files, folder=tmp_path)


def test_mistakes_in_a_program_of_a_user_are_found(environment: Path, tmp_path: Path) -> None:
    """The checkers see moir's types, and not Any."""
    (tmp_path / SCRIPT.name).write_text('import moir\n\nmoir.convert_model("a.onnx", extention="b")\nmoir.save_model(1, 2)\n')
    command = [sys.executable, "-m", "mypy", *CHECKERS["mypy"], str(environment / "bin" / "python"), SCRIPT.name]
    finished = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert finished.stdout.count(": error: ") == 3, finished.stdout
    assert 'Unexpected keyword argument "extention" for "convert_model"' in finished.stdout
