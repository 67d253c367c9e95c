"""Modules of the package `tflite` are imported as a model needs them, and the package is as always afterwards."""

from __future__ import annotations

import subprocess
import sys

from tests.numerical.tflite.test_files import FIXTURES

PROGRAM = """
import sys, moir
path = sys.argv[1]
moir.convert_model(path)
print(sum(name.startswith("tflite.") for name in sys.modules), "tflite" in sys.modules)
import tflite
print(tflite.Model.GetRootAs(open(path, "rb").read(), 0).Version(), tflite.Conv2DOptions().__class__.__name__)
moir.convert_model(path)
"""


def test_the_package_is_complete_after_a_conversion() -> None:
    command = [sys.executable, "-c", PROGRAM, str(FIXTURES / "quantized.tflite")]
    first, second = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    count, is_left = first.split()
    assert int(count) < 50
    assert is_left == "False"
    assert second == "3 Conv2DOptions"
