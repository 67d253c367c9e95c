"""The command lines with extensions, and the commands about them."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from moir.conversion import open_extensions
from moir.errors import UsageError
from moir.frameworks import FRAMEWORKS
from moir.options import ConversionOptions
from moir.pipeline import pipeline_names
from moir.pipeline.text import Pipeline
from moir.tools import new_extension
from moir.tools.convert import main as convert
from moir.tools.new_extension import FILES
from moir.tools.opt import main as opt
from tests.unit.small_models import matmul_model, save

LOWERING = """
from moir.lowering.onnx.table import onnx

@onnx.lowers("mine.Odd")
def odd(node, op):
    return op.Relu(node.operand(0))
"""

MARK = """
from dataclasses import dataclass
from xdsl.passes import ModulePass
from moir.dialects.properties import string_attribute

@dataclass(frozen=True)
class MarkAll(ModulePass):
    \"\"\"Marks everything.

    With more lines.
    \"\"\"

    run_after = ("fuse-swish",)
    text: str = "default-text"

    def apply(self, ctx, op):
        for each in op.walk():
            if each.name == "opset1.Relu":
                each.attributes["name"] = string_attribute(self.text)
"""


@pytest.fixture
def extension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An extension in `ext` of the current folder, and a model that needs it in `m.onnx`."""
    monkeypatch.chdir(tmp_path)
    for name, text in {"front/onnx/odd.py": LOWERING, "middle/mark.py": MARK}.items():
        path = tmp_path / "ext" / name
        path.parent.mkdir(parents=True)
        path.write_text(text)
    save(matmul_model("Odd", "mine"), tmp_path / "m.onnx")
    return tmp_path / "ext"


@pytest.mark.usefixtures("extension")
def test_conversion(capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(["m.onnx"]) == 1
    assert "no lowering for 1 kind of operation: onnx.mine.Odd" in capsys.readouterr().err
    assert convert(["m.onnx", "--extensions", "ext"]) == 0
    assert 'name="default-text" type="ReLU"' in Path("m.xml").read_text()
    assert convert(["m.onnx", "--extensions", "ext", "--disable", "mark-all, fuse-swish"]) == 0
    text = Path("m.xml").read_text()
    assert 'name="the node" type="ReLU"' in text
    assert '<extensions value="DIR/ext"/>' in text
    assert convert(["m.onnx", "--extensions", "ext,nowhere"]) == 1
    assert "moir: error: nowhere: an extension cannot be loaded" in capsys.readouterr().err


@pytest.mark.usefixtures("extension")
def test_dumps_can_be_resumed_with_the_extension(capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(["m.onnx", "--extensions", "ext", "--dump-ir", "dumps"]) == 0
    names = [each.name for each in _pipeline("default").passes("onnx", ConversionOptions())]
    dump = f"{names.index('mark-all') + 1:03}-mark-all"
    assert Path(f"dumps/{dump}.mlir").is_file()
    before = f"{names.index('lower-onnx') + 1:03}-lower-onnx"
    arguments = [f"dumps/{before}.mlir", "--extensions", "ext", "--resume-after", before, "-t", "ir", "-o", "again.xml"]
    assert opt(arguments) == 0
    assert Path("again.xml").read_text() == Path("m.xml").read_text()
    capsys.readouterr()
    assert opt([f"dumps/{before}.mlir", "--extensions", "ext", "-p", "mark-all{text=other}"]) == 0
    assert 'name = "other"' in capsys.readouterr().out


def _pipeline(text: str) -> Pipeline:
    extensions = open_extensions(FRAMEWORKS["onnx"], ConversionOptions(extensions=("ext",)))
    assert extensions is not None
    with extensions:
        return Pipeline.parse(text, extensions)


@pytest.mark.usefixtures("extension")
def test_pipelines() -> None:
    assert [each.name for each in _pipeline("lower-onnx,mark-all").passes("onnx", ConversionOptions())] == ["lower-onnx", "mark-all"]
    for text, message in {
        "mark-al": "no pass 'mark-al'; did you mean mark-all",
        "mark-all{x=1}": "'mark-all' has no option 'x'; its options are text",
        "mark-all{txt=a}": "'mark-all' has no option 'txt'; did you mean text",
        "mark-all{text=1}": "options of pass 'mark-all'",
    }.items():
        with pytest.raises(UsageError, match=message):
            _pipeline(text)


@pytest.mark.parametrize("framework", ["onnx", "tf"])
def test_the_list_of_passes(framework: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(["passes", "--framework", framework]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines() if line[:2].isdecimal()]
    assert [row[2] if row[1] == "|" else row[1] for row in rows] == pipeline_names(framework)
    assert [row[2] for row in rows if row[1] == "|"] == [name for name in pipeline_names(framework) if name.endswith(("-start", "-finish"))]
    assert all(len(row) > 3 for row in rows), "every pass says what it does"


def test_the_list_of_passes_has_whole_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(["passes"]) == 0
    descriptions = [line for line in capsys.readouterr().out.splitlines() if re.match(r"\d+ ", line)]
    assert len(descriptions) > 100
    assert [line for line in descriptions if not re.search(r"[.)]$", line)] == []


@pytest.mark.usefixtures("extension")
def test_the_list_with_an_extension(capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(["passes", "--extensions", "ext"]) == 0
    lines = capsys.readouterr().out.splitlines()
    index = next(index for index, line in enumerate(lines) if "mark-all" in line)
    assert " fuse-swish " in lines[index - 1]
    reason = "after fuse-swish; before middle-finish by default"
    assert lines[index].split(maxsplit=3)[1:] == ["+", "mark-all", f"Marks everything. (MarkAll in ext/middle/mark.py): {reason}"]
    assert convert(["passes", "--extensions", "ext", "--disable", "mark-all"]) == 0
    out = capsys.readouterr().out
    assert " - mark-all" in out
    assert "not enabled" in out
    assert convert(["passes", "--disable", "nothing"]) == 2
    assert "moir passes: error: there is no transformation 'nothing'" in capsys.readouterr().err


def test_a_model_that_is_called_like_a_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    save(matmul_model(), tmp_path / "passes")
    assert convert(["./passes", "--silent"]) == 0
    assert (tmp_path / "passes.xml").is_file()
    assert convert(["passes"]) == 0
    assert "front-start" in capsys.readouterr().out


def test_every_file_of_the_template_is_written() -> None:
    folder = Path(new_extension.__file__).parent / "template"
    kept = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sorted(path.relative_to(folder).as_posix() for path in kept) == sorted(FILES)


def test_a_new_extension_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    assert convert(["new-extension", "new/mine"]) == 0
    assert capsys.readouterr().out.splitlines()[: len(FILES)] == [f"new/mine/{name}" for name in FILES]
    assert convert(["passes", "--extensions", "new/mine"]) == 0
    assert "+ fuse-logistic" in capsys.readouterr().out
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "new/mine/tests"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout
    lit = Path(sys.executable).parent / "lit"
    done = subprocess.run([str(lit), "-v", "new/mine/tests"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert convert(["new-extension", "new/mine"]) == 1
    assert "scaled_tanh.py: the file exists" in capsys.readouterr().err


def test_a_configuration_is_completed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    import onnx

    monkeypatch.chdir(tmp_path)
    model = matmul_model()
    model.graph.node[0].name = "scope/product"
    onnx.save(model, "m.onnx")
    Path("c.json").write_text(json.dumps([{"id": "Mine", "match_kind": "scope", "instances": ["scope/"]}]))
    assert convert(["describe-subgraphs", "c.json", "m.onnx"]) == 0
    entry = json.loads(capsys.readouterr().out)[0]
    assert entry["outputs"] == [{"node": "product$", "port": 0}]
    assert convert(["describe-subgraphs", "c.json", "m.onnx", "-o", "d.json"]) == 0
    assert json.loads(Path("d.json").read_text())[0] == entry
    assert convert(["m.onnx", "--tensorflow_custom_operations_config_update", "c.json"]) == 0
    assert json.loads(Path("c.json").read_text())[0] == entry
    assert not Path("m.xml").exists()
    assert convert(["describe-subgraphs", "none.json", "m.onnx"]) == 1
    assert "none.json" in capsys.readouterr().err
