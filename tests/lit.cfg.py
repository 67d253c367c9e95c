"""Configuration of lit: `lit tests/filecheck`. See filecheck_format.py for how tests run."""

import os
import sys
from pathlib import Path

tests = Path(__file__).resolve().parent
sys.path.insert(0, str(tests))

from filecheck_format import FileCheckFormat, runs_processes  # noqa: E402

config.name = "moir"  # noqa: F821
config.test_format = FileCheckFormat(processes=runs_processes())  # noqa: F821
config.suffixes = [".mlir"]  # noqa: F821
config.excludes = ["Inputs"]  # noqa: F821
config.test_source_root = str(tests)  # noqa: F821
config.test_exec_root = str(tests)  # noqa: F821
config.environment["PATH"] = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))  # noqa: F821
config.environment["FILECHECK_OPTS"] = ""  # noqa: F821
