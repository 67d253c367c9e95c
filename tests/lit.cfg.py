"""Configuration of lit: `lit tests/filecheck`. See filecheck_format.py for how tests run."""

import os
import sys
from pathlib import Path

tests = Path(__file__).resolve().parent
sys.path.insert(0, str(tests))

from filecheck_format import FileCheckFormat, runs_processes  # noqa: E402

config.name = "moir"
config.test_format = FileCheckFormat(processes=runs_processes())
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = str(tests)
config.test_exec_root = str(tests)
config.environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
config.environment["PYTHONPATH"] = str(tests.parent)
config.environment["FILECHECK_OPTS"] = ""
