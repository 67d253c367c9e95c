"""What ends a tool: one line and an exit status.

A process of its own gets the signal: libraries of other tests may have handlers and threads that would get it, too.
"""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from moir.tools.failures import INTERRUPTED, TERMINATED

SIGNALLED = """
import os, signal, sys
from moir.tools.failures import report_failures

number, before = signal.Signals(int(sys.argv[1])), getattr(signal, sys.argv[2])
# A process that runs in the background is started with interrupts ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGTERM, before)

def body():
    try:
        os.kill(os.getpid(), number)
        return 0
    finally:
        print("cleaned")

status = report_failures("moir", body)
assert signal.getsignal(signal.SIGTERM) is before
sys.exit(status)
"""


def signalled(number: signal.Signals, before: str) -> tuple[int, str, str]:
    """Exit status, output and errors of a tool that sends itself a signal, SIGTERM's handler before being `before`."""
    command = [sys.executable, "-c", SIGNALLED, str(int(number)), before]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    return ended.returncode, ended.stdout, ended.stderr


@pytest.mark.parametrize(
    ("number", "status", "line"),
    [(signal.SIGTERM, TERMINATED, "moir: terminated\n"), (signal.SIGINT, INTERRUPTED, "moir: interrupted\n")],
)
def test_signals_are_exceptions(number: signal.Signals, status: int, line: str) -> None:
    assert signalled(number, "SIG_DFL") == (status, "cleaned\n", line)


def test_handler_of_the_process_is_kept() -> None:
    assert signalled(signal.SIGTERM, "SIG_IGN") == (0, "cleaned\n", "")
