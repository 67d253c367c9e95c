"""Threads that convert models at the same time, in a process that has loaded nothing before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.unit.small_models import loop_model, matmul_model, save

PROGRAM = """
import hashlib, sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import moir

sys.setswitchinterval(1e-6)

def converted(number):
    target = Path(f"{number}.xml")
    moir.save_model(moir.convert_model(("m.onnx", "l.onnx")[number % 2]), target)
    return hashlib.sha256(target.read_bytes() + target.with_suffix(".bin").read_bytes()).hexdigest()

with ThreadPoolExecutor(4) as pool:
    digests = [*pool.map(converted, range(8))]
print(len({*digests[::2]}), len({*digests[1::2]}))
"""


def test_threads_convert_models(tmp_path: Path) -> None:
    save(matmul_model(), tmp_path / "m.onnx")
    save(loop_model(), tmp_path / "l.onnx")
    finished = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (finished.stdout, finished.stderr) == ("1 1\n", "")
