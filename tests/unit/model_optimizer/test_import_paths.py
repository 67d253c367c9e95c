"""The import paths of Model Optimizer."""

import importlib
import sys
from pathlib import Path

import pytest

from moir.errors import ConversionError
from moir.extensions.loading import Extensions
from moir.lowering.onnx.table import onnx
from moir.model_optimizer.api.transformations import replacement
from moir.model_optimizer.api.transformations.anchors import StandIn
from moir.model_optimizer.import_paths import ROOTS, SOURCES, LegacyImports, names_in
from moir.pipeline import pipeline_names
from tests.unit.extensions.directories import write
from tests.unit.other_threads import importing_elsewhere


def nothing_installed(*_: object) -> bool:
    return False


@pytest.mark.parametrize("root", ROOTS)
def test_every_root_leads_to_the_same_classes(root: str) -> None:
    with LegacyImports():
        module = importlib.import_module(f"{root}.front.common.replacement")
        assert module.FrontReplacementOp is replacement.FrontReplacementOp
        graph = importlib.import_module(f"{root}.graph.graph")
        assert graph.Node.__module__ == "moir.model_optimizer.graph.node"


def test_nothing_is_left() -> None:
    before = set(sys.modules)
    finders = list(sys.meta_path)
    with LegacyImports():
        importlib.import_module("openvino.tools.mo.ops.op")
        importlib.import_module("mo.graph.port")
        importlib.import_module("extensions.front.no_op_eraser")
    left = {
        name for name in set(sys.modules) - before if name.partition(".")[0] in ("mo", "extensions") or name.startswith("openvino.tools.mo")
    }
    assert not left
    assert sys.meta_path == finders
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("mo.graph.port")
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("openvino.tools.mo.ops.op")


def test_an_installed_openvino_stays_what_it_is() -> None:
    openvino = importlib.import_module("openvino")
    tools = importlib.import_module("openvino.tools")
    with LegacyImports():
        mo = importlib.import_module("openvino.tools.mo")
        assert sys.modules["openvino"] is openvino
        assert tools.mo is mo
    assert sys.modules["openvino.tools"] is tools
    assert not hasattr(tools, "mo")


def test_openvino_need_not_be_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "openvino"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(LegacyImports, "_is_installed", nothing_installed)
    with LegacyImports():
        module = importlib.import_module("openvino.tools.mo.back.replacement")
        assert module.BackReplacementPattern is replacement.BackReplacementPattern
    assert "openvino" not in sys.modules


def test_other_modules_of_these_names_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    others = type(sys)("mo"), type(sys)("mo.graph")
    monkeypatch.setitem(sys.modules, "mo", others[0])
    monkeypatch.setitem(sys.modules, "mo.graph", others[1])
    with LegacyImports():
        assert importlib.import_module("mo") is not others[0]
        assert importlib.import_module("mo.graph.graph").Graph.__name__ == "Graph"
    assert (sys.modules["mo"], sys.modules["mo.graph"]) == others
    assert others[0].graph is others[1]


def test_nested() -> None:
    imports = LegacyImports()
    with imports:
        with imports:
            importlib.import_module("mo.ops.op")
        assert "mo.ops.op" in sys.modules
    assert "mo.ops.op" not in sys.modules


def test_operations_are_found_by_class_in_any_module_of_ops() -> None:
    with LegacyImports():
        namespace: dict[str, object] = {}
        exec("from mo.ops.power import Power", namespace)
        exec("from extensions.ops.regionyolo import RegionYoloOp", namespace)
        exec("from openvino.tools.mo.ops.const import Const", namespace)
        assert {namespace[name].__name__ for name in ("Power", "RegionYoloOp", "Const")} == {"Power", "RegionYoloOp", "Const"}
        with pytest.raises(ImportError, match="Powr"):
            exec("from mo.ops.power import Powr", {})


def test_built_in_transformations_are_stand_ins() -> None:
    with LegacyImports():
        namespace: dict[str, type] = {}
        exec("from openvino.tools.mo.front.Softplus_fusion import SoftplusFusion", namespace)
        exec("from extensions.front.pass_separator import FrontFinish", namespace)
        assert issubclass(namespace["SoftplusFusion"], StandIn)
        assert namespace["FrontFinish"].place == "built-in FrontFinish"
        assert "SoftplusFusion" in namespace["SoftplusFusion"].place


def test_a_stand_in_is_neither_derived_from_nor_run() -> None:
    with LegacyImports():
        namespace: dict[str, type] = {}
        exec("from mo.front.common.replacment import FrontReplacementOp", namespace)
        with pytest.raises(ConversionError, match=r"Mine is derived from FrontReplacementOp.*mo\.front\.common\.replacement"):
            type("Mine", (namespace["FrontReplacementOp"],), {})
        with pytest.raises(ConversionError, match="cannot be run"):
            namespace["FrontReplacementOp"]().find_and_replace_pattern(None)


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("from mo.front.common.replacement import FrontReplacmentOp", "no 'FrontReplacmentOp'.*FrontReplacementOp"),
        ("import mo.graf.graph", "no 'graf'.*graph"),
        ("import openvino.tools.mo.utils.eror", "no 'eror'"),
        ("from extensions.front.Softplus_fusion import softplus", "no 'softplus'"),
    ],
)
def test_what_does_not_exist(statement: str, message: str) -> None:
    with LegacyImports(), pytest.raises(ImportError, match=message):
        exec(statement, {})


def test_the_base_class_of_the_back_phase_has_two_names() -> None:
    with LegacyImports():
        module = importlib.import_module("mo.back.replacement")
        assert module.MiddleReplacementPattern is module.BackReplacementPattern is replacement.BackReplacementPattern


def test_star_import() -> None:
    with LegacyImports():
        namespace: dict[str, object] = {}
        exec("from mo.front.tf.replacement import *", namespace)
        assert "FrontReplacementFromConfigFileGeneral" in namespace


@pytest.mark.parametrize("module", sorted(SOURCES))
def test_every_listed_module_has_names(module: str) -> None:
    assert names_in(module)


def test_networkx_stands_for_graphs_if_it_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LegacyImports, "_is_installed", nothing_installed)
    for name in [name for name in sys.modules if name.partition(".")[0] == "networkx"]:
        monkeypatch.delitem(sys.modules, name)
    with LegacyImports():
        namespace: dict[str, object] = {}
        exec("import networkx as nx\nfrom mo.graph.graph import Graph\nsame = nx.MultiDiGraph is Graph", namespace)
        assert namespace["same"] is True
    assert "networkx" not in sys.modules


def test_other_threads_may_import_meanwhile() -> None:
    with importing_elsewhere("mo.of_another_thread_"):
        for _ in range(100):
            with LegacyImports():
                assert importlib.import_module("mo.ops.op").Op


def test_files_that_were_in_model_optimizers_own_directory(tmp_path: Path) -> None:
    operation = """
        from mo.ops.op import Op

        class {name}(Op):
            op = {name!r}
    """
    theirs = """
        from mo.ops.cosh import Cosh as Theirs

        class Cosh(Theirs):
            op = 'Cosh'
            pass
    """
    user = """
        from extensions.front.onnx.first import First
        from extensions.ops.mine import Mine
        from mo.ops.cosh import Cosh, Sinh
        from mo.front.common.replacement import FrontReplacementPattern

        assert Mine.__module__.endswith('.ops.mine') and Cosh.__module__.endswith('.ops.cosh')

        class Last(FrontReplacementPattern):
            def run_after(self):
                return [First]

            def find_and_replace_pattern(self, graph):
                pass
    """
    first = """
        from mo.front.common.replacement import FrontReplacementPattern

        class First(FrontReplacementPattern):
            def find_and_replace_pattern(self, graph):
                pass
    """
    root = write(tmp_path / "ext", ops__mine=operation.format(name="Mine"), ops__cosh=theirs, front_onnx__first=first, front_onnx__an=user)
    with Extensions.load([root], "onnx", [onnx]) as extensions:
        names = [each.name for each in extensions.passes(pipeline_names("onnx"), "onnx")]
        assert names.index("first") < names.index("last")
    write(root, front_onnx__an="from extensions.ops.mine import Mine, Other")
    with (
        pytest.raises(ConversionError, match=r"an\.py:1: the file cannot be loaded: .*'Other'"),
        Extensions.load([root], "onnx", [onnx]),
    ):
        pass
