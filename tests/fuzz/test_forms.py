"""Some random models of some forms; `python -m tests.fuzz.forms` draws any number of all forms."""

from __future__ import annotations

import subprocess
import sys

from tests.fuzz.forms.runner import FORMS
from tests.fuzz.forms.sweeps import SWEEPS


def test_sweeps_are_of_forms() -> None:
    assert set(SWEEPS) <= set(FORMS)


def test_random_models() -> None:
    forms = "keep-strides,separate-maps,clamp-before-pooling,widen-kernels,separate-reductions"
    command = [sys.executable, "-m", "tests.fuzz.forms", "--only", forms, "--count", "2", "--seed", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " right" in done.stdout


def test_a_defect_is_found() -> None:
    """The status of the command says that a model is wrong: here of a form whose sweep runs without the forms."""
    code = (
        "from tests.fuzz.forms import runner, __main__\n"
        "runner.FORMS = ()\n"
        "print(__main__.main(['--only', 'separate-maps', '--count', '10', '--seed', '1']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1] == "1", done.stdout + done.stderr
