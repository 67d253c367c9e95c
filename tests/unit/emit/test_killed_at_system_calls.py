"""A process that writes a model is killed at each of its system calls, and the older model is never lost.

`test_files.py` injects faults at the calls of Python's modules. Below them are calls that Python makes by itself, such
as the writes of a buffer, so that here a tracer (ptrace) stops the process before and after each system call.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from moir.emit.files import check_output

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs ptrace")

MODEL = """
builtin.module {{
  moir.model @m {{
    %0 = opset1.Constant() {{value = #moir.data<tensor<3xf32>, [{0}, {0}, {0}]>, name = "{1}"}} : tensor<3xf32>
    opset1.Result(%0)
  }}
}}
"""

TRACER = """
import ctypes, os, signal, sys
from pathlib import Path
from xdsl.parser import Parser
from moir.dialects.context import MoirContext
from moir.emit import write_model

TRACEME, SYSCALL = 0, 24
folder = Path(sys.argv[1])
old, new = (Parser(MoirContext(), text).parse_module() for text in sys.argv[2:4])
ptrace = ctypes.CDLL(None, use_errno=True).ptrace
ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

# What is imported and cached at the first writing is no part of the others.
for name, model in (("old", old), ("new", new)):
    write_model(model, folder / name / "m.xml")

for limit in range(1, 2000):
    path = folder / str(limit) / "m.xml"
    write_model(old, path)
    child = os.fork()
    if not child:
        if ptrace(TRACEME, 0, None, None) < 0:
            os._exit(1)
        os.kill(os.getpid(), signal.SIGSTOP)
        write_model(new, path)
        os._exit(0)
    if os.WIFEXITED(os.waitpid(child, 0)[1]):
        print("no ptrace")
        break
    status = 0
    for _ in range(limit):
        ptrace(SYSCALL, child, None, None)
        status = os.waitpid(child, 0)[1]
        if os.WIFEXITED(status):
            break
    if os.WIFEXITED(status):
        print(limit, os.WEXITSTATUS(status))
        break
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
"""


def content(folder: Path) -> dict[str, bytes]:
    """The files of a folder by their names."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_no_kill_loses_the_older_model(tmp_path: Path) -> None:
    command = [sys.executable, "-c", TRACER, str(tmp_path), MODEL.format("1.0", "old"), MODEL.format("2.0", "new")]
    actual = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    if actual == ["no", "ptrace"]:
        pytest.skip("the sandbox does not allow ptrace")
    steps, status = map(int, actual)
    assert status == 0
    assert steps > 100, "the writing was not traced"
    old, new = content(tmp_path / "old"), content(tmp_path / "new")
    seen: list[str] = []
    for step in range(1, steps):
        path = tmp_path / str(step) / "m.xml"
        check_output(path)
        files = content(path.parent)
        pair = {name: files.get(name) for name in old}
        assert pair in (old, new), f"the pair is torn after a kill at stop {step}"
        seen.append("old" if pair == old else "new")
    assert seen == sorted(seen, reverse=True), "once the new pair is there, it stays"
    assert {*seen} == {"old", "new"}
