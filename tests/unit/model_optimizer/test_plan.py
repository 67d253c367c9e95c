"""The plan of `moir.model_optimizer`: folders in order, and one view a framework, which the framework's record names."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import moir
from moir.frameworks import BUILT_IN, load
from moir.model_optimizer.frameworks.view import FrameworkView

PACKAGE = Path(moir.__file__).parent
MODEL_OPTIMIZER = PACKAGE / "model_optimizer"

FOLDERS = ("values", "frameworks", "block", "attributes", "graph", "lowering", "api", "detection")
"""The folders, each of which imports only from itself and earlier ones."""

VIEWED = [each for each in BUILT_IN if each.view is not None]


def test_the_folders_are_those_of_the_plan() -> None:
    folders = {path.name for path in MODEL_OPTIMIZER.iterdir() if (path / "__init__.py").exists()}
    assert folders == set(FOLDERS)
    described = re.findall(r"^- `(\w+)`:", (import_module("moir.model_optimizer").__doc__ or ""), re.MULTILINE)
    assert tuple(described) == FOLDERS


@pytest.mark.parametrize("folder", FOLDERS)
def test_a_folder_imports_only_from_earlier_ones(folder: str) -> None:
    later = FOLDERS[FOLDERS.index(folder) + 1 :]
    actual = {
        f"{path.relative_to(PACKAGE)} -> {name}"
        for path in (MODEL_OPTIMIZER / folder).rglob("*.py")
        for name in re.findall(r"(?:from|import) moir\.model_optimizer\.(\w+)", path.read_text(encoding="utf-8"))
        if name in later or name not in FOLDERS
    }
    assert actual == set()


def test_the_interface_of_extensions_is_in_folders_by_subject() -> None:
    files = sorted(path.name for path in (MODEL_OPTIMIZER / "api").glob("*.py"))
    assert files == ["__init__.py", "errors.py"]


def test_every_framework_with_lowerings_has_a_view() -> None:
    assert {each.dialect for each in BUILT_IN if each.lowering is not None} == {each.dialect for each in VIEWED}


def test_a_folder_of_views_is_one_framework() -> None:
    folders = {path.name for path in (MODEL_OPTIMIZER / "frameworks").iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert {str(each.view) for each in VIEWED} == {f"moir.model_optimizer.frameworks.{name}.view:VIEW" for name in folders}
    assert all(isinstance(load(str(each.view)), FrameworkView) for each in VIEWED)


ROOMS = (
    r"(?:frontends|lowering|raising|dialects/frameworks|model_optimizer/frameworks)/"
    r"(?:onnx|tensorflow|caffe|keras|mxnet|openvino_ir|paddle|pytorch|stablehlo|tflite|transformers)\b|architectures/"
    r"|emit/onnx/|lowering/to_onnx/"
)
"""The rooms of frameworks: the files that may say which framework they are of."""

NOT_A_FRAMEWORK = {
    "execution/keras_runtime.py": ("keras",),
    "files/model_objects.py": ("onnx.ModelProto", "keras"),
    "reduction/onnx_graph.py": ("onnx",),
    "tools/optimizer/arguments.py": ("onnx",),
}
"""The names of Python packages and classes that are spelled as that of a framework."""

QUOTED = re.compile(rf"({'|'.join(each.dialect for each in BUILT_IN)})(\.[A-Z]\w*|\.)?")
"""The name of a dialect, of an operation in one, or the beginning of such a name."""


def quoted_frameworks(tree: ast.AST) -> Iterator[str]:
    """The texts below a node that are the name of a framework, or of an operation of one; docstrings are none."""
    docstrings = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings and QUOTED.fullmatch(node.value):
            yield node.value


def test_a_framework_in_quotes_is_found() -> None:
    source = '"""onnx"""\nif name == "onnx" or f"tf.{kind}" or op.name in ("caffe.Eltwise", "mxnets", "MXNet"): pass'
    assert sorted(quoted_frameworks(ast.parse(source))) == ["caffe.Eltwise", "onnx", "tf."]


def test_only_its_rooms_and_its_record_name_a_framework() -> None:
    """Whoever adds a framework changes no file: what others need to know of it is in its record and its view."""
    actual: dict[str, list[str]] = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name not in ("frameworks/records.py", "frameworks/trait_index.py") and not re.match(ROOMS, name):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            if quoted := [each for each in quoted_frameworks(tree) if each not in NOT_A_FRAMEWORK.get(name, ())]:
                actual[name] = quoted
    assert actual == {}
