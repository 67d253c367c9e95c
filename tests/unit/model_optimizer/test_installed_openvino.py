"""The names of Model Optimizer do not import an installed openvino; a file of a user that asks for it gets it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.extensions.directories import chain, write

pytest.importorskip("openvino")

BEGINNING = """
import sys, threading
from moir.model_optimizer.import_paths import LegacyImports, LegacyModule

def installed():
    modules = [(name, module) for name, module in list(sys.modules.items()) if name.partition('.')[0] == 'openvino']
    return {name for name, module in modules if not isinstance(module, LegacyModule)}

"""


def run(program: str, *arguments: str) -> str:
    """The output of a Python program in a new process. Fails with its error."""
    done = subprocess.run([sys.executable, "-c", program, *arguments], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "statement",
    [
        "from openvino.tools.mo.ops.op import Op",
        "import openvino.tools.mo.graph.graph; openvino.tools.mo.graph.graph.Graph",
        "from openvino.tools.mo import front",
        "from openvino.tools import mo; mo.__path__",
        "from openvino import tools; tools.mo",
        "import openvino; openvino.__file__, openvino.__path__, openvino.tools.mo",
        "import openvino, inspect; from openvino.tools.mo.ops.op import Op; inspect.getmodule(Op.create_node)",
    ],
)
def test_names_of_model_optimizer_do_not_import_what_is_installed(statement: str) -> None:
    end = f"""
with LegacyImports():
    exec({statement!r})
    assert not installed(), installed()
    assert threading.active_count() == 1, threading.enumerate()
assert not [name for name in sys.modules if name.partition('.')[0] == 'openvino']
import openvino
assert openvino.Core and installed()
"""
    run(BEGINNING + end)


@pytest.mark.parametrize(
    "statement",
    [
        "import openvino; same = openvino.Core",
        "from openvino import Core as same",
        "from openvino import *; same = Core",
        "import openvino; assert 'Core' in dir(openvino); same = openvino.Core",
        "import openvino; assert openvino.__version__[0] == '2'; same = openvino.Core",
        "import openvino.opset13 as ops; assert ops.relu; import openvino; same = openvino.Core",
        "from openvino import opset13; assert opset13.relu; from openvino import Core as same",
        "import openvino.opset13; same = openvino.Core; assert openvino.opset13.relu",
        "from openvino.opset13 import relu; from openvino import Core as same",
        "from openvino.tools import ovc; assert ovc.convert_model; from openvino import Core as same",
        "import openvino.tools.ovc; assert openvino.tools.ovc.convert_model; same = openvino.Core",
        "import openvino; assert openvino.tools.ovc.convert_model; same = openvino.Core",
        "from openvino.tools.ovc.convert import convert_model; from openvino import Core as same",
    ],
)
@pytest.mark.parametrize("first", ["import openvino.tools.mo.ops.op", "pass"])
def test_a_user_who_asks_for_the_installed_openvino_gets_it(statement: str, first: str) -> None:
    end = f"""
with LegacyImports():
    exec({first!r})
    names = {{}}
    exec({statement!r}, names)
    assert 'openvino' in installed()
    from openvino.tools.mo.ops.op import Op
    assert Op.__module__.startswith('moir.')
    import openvino.tools.mo.graph.graph
    assert openvino.tools.mo.graph.graph.Graph
import openvino, openvino.tools, openvino.opset13, openvino.tools.ovc
assert openvino.Core is names['same']
assert not [name for name in sys.modules if name.startswith('openvino.tools.mo')]
assert not [name for name, module in sys.modules.items() if isinstance(module, LegacyModule)]
assert sys.modules['openvino.opset13'] is openvino.opset13 and openvino.opset13.__spec__.loader.path == openvino.opset13.__file__
assert not hasattr(openvino.tools, 'mo')
"""
    run(BEGINNING + end)


def test_names_that_nothing_has() -> None:
    end = """
with LegacyImports():
    for statement in (
        "import openvino.nothing", "from openvino import nothing", "import openvino; openvino.nothing", "import openvino.tools.nothing"
    ):
        try:
            exec(statement)
        except (ImportError, AttributeError) as error:
            assert 'nothing' in str(error), error
        else:
            raise AssertionError(statement)
"""
    run(BEGINNING + end)


def test_an_installed_openvino_that_is_imported_already_stays() -> None:
    end = """
import openvino
modules = {name: module for name, module in sys.modules.items() if name.startswith('openvino')}
del sys.modules['openvino.tools.ovc']
with LegacyImports():
    from openvino.tools.mo.ops.op import Op
    from openvino import Core
    assert Core is openvino.Core and sys.modules['openvino'] is openvino
    import openvino.tools.ovc
sys.modules['openvino.tools.ovc'] = modules['openvino.tools.ovc']
after = {name: module for name, module in sys.modules.items() if name.startswith('openvino')}
assert all(after[name] is modules[name] for name in modules if not name.startswith('openvino.tools.ovc.'))
assert not hasattr(openvino.tools, 'mo')
"""
    run(BEGINNING + end)


def test_without_openvino_its_names_are_missing_as_ever() -> None:
    end = """
class Nothing:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition('.')[0] == 'openvino':
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)
LegacyImports._installed = lambda self, fullname, path: None
sys.meta_path.insert(0, Nothing)
with LegacyImports():
    from openvino.tools.mo.ops.op import Op
    for statement in ('from openvino import Core', 'import openvino.opset13'):
        try:
            exec(statement)
        except ModuleNotFoundError as error:
            assert "'openvino'" in str(error), error
        else:
            raise AssertionError(statement)
    import openvino
    assert not hasattr(openvino, 'Core')
    assert openvino.tools.mo.ops.op.Op is Op
assert not [name for name in sys.modules if name.startswith('openvino')]
"""
    run(BEGINNING + end)


def test_a_conversion_with_an_old_extension_imports_no_openvino_and_starts_no_thread(tmp_path: Path) -> None:
    extension = write(
        tmp_path / "old",
        ops__my_op="""
            from openvino.tools.mo.ops.op import Op
            from openvino.tools.mo.graph.graph import Graph

            class MyOp(Op):
                op = "MyOp"

                def __init__(self, graph: Graph, attrs: dict):
                    super().__init__(graph, {"type": None, "op": self.op, "in_ports_count": 1, "out_ports_count": 1}, attrs)
        """,
        front__my_replacement="""
            import openvino.tools.mo.graph.graph
            from openvino.tools.mo.front.common.replacement import FrontReplacementOp
            from openvino.tools.mo.ops.activation_ops import Sigmoid

            class MyReplacement(FrontReplacementOp):
                op = "MyOp"
                enabled = True

                def replace_op(self, graph, node):
                    sigmoid = Sigmoid(graph, {"name": node.soft_get("name")}).create_node()
                    node.in_port(0).get_connection().set_destination(sigmoid.in_port(0))
                    return [sigmoid.id]
        """,
    )
    model = chain(tmp_path / "m.onnx", "Relu", "MyOp")
    program = """
import sys, threading
started = []
start = threading.Thread.start
threading.Thread.start = lambda thread: (started.append(thread), start(thread))
import moir
module = moir.convert_model(sys.argv[1], extensions=sys.argv[2])
assert "opset1.Sigmoid" in str(module), module
assert not started, started
assert not [name for name in sys.modules if name.partition('.')[0] == 'openvino']
"""
    run(program, str(model), str(extension))
