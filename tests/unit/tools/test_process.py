"""The end of the process of a command."""

from __future__ import annotations

import subprocess
import sys

import pytest


def ended(body: str) -> subprocess.CompletedProcess[str]:
    """A process that runs `body` as the function of a command."""
    lines = [
        "import atexit, sys",
        "from moir.tools.process import run_process",
        "def main():",
        *(f"    {line}" for line in body.splitlines()),
        "run_process(main)",
    ]
    return subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("status", [0, 1, 130])
def test_the_exit_status_is_that_of_the_command(status: int) -> None:
    assert ended(f"return {status}").returncode == status


def test_what_was_printed_is_written() -> None:
    actual = ended("sys.stdout.write('result')\nsys.stderr.write('note')\nreturn 0")
    assert (actual.stdout, actual.stderr) == ("result", "note")


def test_functions_of_libraries_run_at_the_end() -> None:
    actual = ended("atexit.register(print, 'first')\natexit.register(print, 'second')\nreturn 3")
    assert (actual.stdout, actual.returncode) == ("second\nfirst\n", 3)


def test_an_exception_is_a_failure_with_its_traceback() -> None:
    actual = ended("raise KeyError('lost')")
    assert actual.returncode == 1
    assert "KeyError: 'lost'" in actual.stderr


def test_a_closed_stream_does_no_harm() -> None:
    assert ended("sys.stdout.close()\nreturn 0").returncode == 0
