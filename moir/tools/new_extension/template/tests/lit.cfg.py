"""The configuration of lit, the tool that runs the tests by `lit tests`."""

import os
import sys
from pathlib import Path

import lit.formats

config.name = "extension"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir"]
# moir-opt and filecheck are installed beside lit.
config.environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
