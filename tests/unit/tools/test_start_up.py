"""What a process of `moir` imports: start-up time and memory are what it imports."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.small_models import loop_model, save

HEAVY = ("onnx", "openvino", "onnxruntime", "torch", "tensorflow", "scipy", "xdsl.universe", "xdsl.xdsl_opt_main", "xdsl.interpreter")

PROGRAM = """
import json, sys
from moir.tools.convert import main
try:
    status = main(sys.argv[1:])
except SystemExit as end:
    status = end.code
print(json.dumps([status, sorted(sys.modules)]))
"""


def modules_after(*arguments: str) -> tuple[int, set[str]]:
    """Exit status of `moir`, and the modules that are loaded in the end."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, *arguments], check=True, capture_output=True, text=True)
    status, modules = json.loads(done.stdout.splitlines()[-1])
    return status, set(modules)


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_options_without_conversion_load_nothing(option: str) -> None:
    status, modules = modules_after(option)
    assert status == 0
    assert not modules & {*HEAVY, "xdsl", "numpy", "moir.dialects", "moir.passes"}


def test_a_conversion_loads_no_framework(tmp_path: Path) -> None:
    model = save(loop_model(), tmp_path / "m.onnx")
    status, modules = modules_after(str(model), "-o", str(tmp_path), "--silent")
    assert status == 0
    assert not modules & set(HEAVY)
    assert "moir.lowering.onnx" in modules
    assert not {
        name for name in modules if name.startswith(("moir.extensions", "moir.model_optimizer.graph", "moir.model_optimizer.lowering"))
    }


def test_import_of_the_package_is_lazy() -> None:
    program = "import moir, sys; assert not {'numpy', 'xdsl'} & set(sys.modules); moir.convert_model; print(moir.__version__)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.strip()[0].isdecimal()
