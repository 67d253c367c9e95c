"""An extension that ends the process, or returns what it should not, is one line with its file; nothing exits with 0."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from moir.tools.convert import main
from tests.unit.extensions.directories import write

MODEL = Path(__file__).parents[3] / "examples" / "digits" / "digits.onnx"

LOWERING = """
    from moir.lowering.onnx.table import onnx

    @onnx.lowers("Conv")
    def mine(node, op):
        {body}
"""

PASS = """
    from xdsl.passes import ModulePass

    class Mine(ModulePass):
        name = "mine"

        def apply(self, ctx, op):
            {body}
"""

BODIES = {
    "exit(0)": "import sys; sys.exit(0)",
    "exit(9)": "import sys; sys.exit(9)",
    "exit(text)": "import sys; sys.exit('done')",
    "BaseException": "raise type('Own', (BaseException,), {})('end')",
    "BaseExceptionGroup": "raise BaseExceptionGroup('all', [SystemExit(0)])",
}


def check(folder: Path, extension: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([str(MODEL), "-o", str(folder / "m.xml"), "--extensions", str(extension)]) == 1
    error = capfd.readouterr().err
    assert error.count("\n") == 1
    assert str(extension / "front" / "onnx" / "a.py:") in error or str(extension / "middle" / "a.py:") in error
    assert "internal error" not in error
    assert not (folder / "m.xml").exists()


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("place", ["lowering", "pass", "file"])
def test_end_of_the_process(tmp_path: Path, capfd: pytest.CaptureFixture[str], body: str, place: str) -> None:
    files = {
        "lowering": {"front_onnx__a": LOWERING.format(body=body)},
        "pass": {"middle__a": PASS.format(body=body)},
        "file": {"middle__a": body},
    }
    write(tmp_path / "ext", **files[place])
    check(tmp_path, tmp_path / "ext", capfd)


@pytest.mark.parametrize("body", ["return 5", "return 'text'", "yield node", "return [5]", "return (None, 3)", "return {}", "return op"])
def test_lowering_that_returns_no_values(tmp_path: Path, capfd: pytest.CaptureFixture[str], body: str) -> None:
    write(tmp_path / "ext", front_onnx__a=LOWERING.format(body=body))
    check(tmp_path, tmp_path / "ext", capfd)


def test_interrupt_stays_an_interrupt(tmp_path: Path) -> None:
    write(tmp_path / "ext", middle__a=PASS.format(body="raise KeyboardInterrupt"))
    assert main([str(MODEL), "-o", str(tmp_path / "m.xml"), "--extensions", str(tmp_path / "ext")]) == 130


SCRIPT = """
import moir
from moir.lowering.onnx.table import onnx

@onnx.lowers("Conv")
def mine(op, x, w, b=None, **_):
    return op.Clamp(x, min=-1.0)

moir.convert_model({model!r})
"""


def test_a_lowering_in_a_script_is_named_with_its_line_and_node(tmp_path: Path) -> None:
    script = tmp_path / "mine.py"
    script.write_text(SCRIPT.format(model=str(MODEL)))
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, cwd=tmp_path)
    error = "moir.errors.ConversionError: pass lower-onnx (mine.py:7): onnx.Conv '/stem/stem.0/Conv': TypeError: opset1.Clamp needs max"
    assert error in done.stderr.splitlines()
