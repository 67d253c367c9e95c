"""What a process of `moir` imports: start-up time and memory are what it imports."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.unit.small_models import loop_model, save

HEAVY = ("onnx", "openvino", "onnxruntime", "torch", "tensorflow", "scipy", "xdsl.universe", "xdsl.xdsl_opt_main", "xdsl.interpreter")

UNUSED = (
    *("hashlib", "importlib.metadata", "secrets", "statistics", "traceback"),
    *("numpy.typing", "xdsl.parser", "xdsl.printer"),
    "moir.files.foreign_files",
)
"""What would cost time and is for errors, text and options, or can be had for less."""

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
    assert not modules & {*HEAVY, *UNUSED}
    assert "moir.lowering.onnx" in modules
    assert not {
        name for name in modules if name.startswith(("moir.extensions", "moir.model_optimizer.graph", "moir.model_optimizer.lowering"))
    }


def run(program: str) -> str:
    """What a Python program prints in a new process."""
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout.strip()


THREADS = "import os, runpy, sys; sys.argv = ['moir', {}, '-o', {}, '--silent']\ntry: runpy.run_module('moir', run_name='__main__')\n"
THREADS += "except SystemExit as end: print(end.code, os.environ.get('OPENBLAS_NUM_THREADS'))"


def test_a_process_of_the_tool_has_one_thread_unless_the_user_says_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = save(loop_model(), tmp_path / "m.onnx")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    assert run(THREADS.format(repr(str(model)), repr(str(tmp_path)))) == "0 1"
    library = f"import moir, os; moir.convert_model({str(model)!r}); print(os.environ.get('OPENBLAS_NUM_THREADS'))"
    assert run(library) == "None"
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "3")
    assert run(THREADS.format(repr(str(model)), repr(str(tmp_path)))) == "0 3"


def test_a_call_of_the_tool_leaves_the_process_as_it_was(tmp_path: Path) -> None:
    model = save(loop_model(), tmp_path / "m.onnx")
    call = f"from moir.tools.convert import main; main([{str(model)!r}, '-o', {str(tmp_path)!r}, '--silent'])"
    state = "gc.isenabled(), gc.get_freeze_count(), 'OPENBLAS_NUM_THREADS' in os.environ"
    assert run(f"import gc, os; os.environ.pop('OPENBLAS_NUM_THREADS', None); {call}; print({state})") == "True 0 False"


def test_import_of_the_package_is_lazy() -> None:
    loaded = run("import sys; before = set(sys.modules); import moir; dir(moir); print(sorted(set(sys.modules) - before))")
    assert "moir" in loaded
    assert not [name for name in ast.literal_eval(loaded) if name.startswith(("moir.", "numpy", "xdsl", "inspect", "dataclasses"))]


def test_names_of_the_package() -> None:
    functions = [
        "bisect",
        "certify",
        "check",
        "compare",
        "convert_model",
        "convert_models",
        "diff",
        "errors",
        "inspect",
        "read_model",
        "reduce",
        "report",
        "run",
        "save_model",
        "save_onnx",
        "to_openvino",
        "verify_certificate",
    ]
    names = ["ConversionResult", "Input", "Job", "Observer", "__version__", *functions]
    assert run("import moir; print(dir(moir))") == str(names)
    assert run("import moir; print([name for name in dir(moir) if getattr(moir, name) is None])") == "[]"
    assert run("from moir import *; print(Observer.__name__, errors.MoirError.__name__)") == "Observer MoirError"
    assert run("import moir; print(moir.__version__)")[0].isdecimal()


def test_errors_need_no_further_import() -> None:
    program = "import moir, sys\ntry: moir.convert_model('nothing.onnx')\nexcept moir.errors.ConversionError as error: print(error)"
    assert run(program).startswith("nothing.onnx: ")
    loaded = run("import moir, sys; moir.errors.UsageError; print([n for n in sys.modules if n.startswith(('moir', 'xdsl', 'numpy'))])")
    assert loaded == "['moir', 'moir.errors']"
