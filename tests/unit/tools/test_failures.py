"""What ends a tool: one line and an exit status."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable

import pytest

from moir.tools.failures import INTERRUPTED, TERMINATED, report_failures


def _signalled(number: signal.Signals, cleaned: list[str]) -> Callable[[], int]:
    def body() -> int:
        try:
            os.kill(os.getpid(), number)
            return 0
        finally:
            cleaned.append("cleaned")

    return body


@pytest.mark.parametrize(
    ("number", "status", "line"),
    [(signal.SIGTERM, TERMINATED, "moir: terminated\n"), (signal.SIGINT, INTERRUPTED, "moir: interrupted\n")],
)
def test_signals_are_exceptions(
    request: pytest.FixtureRequest, capfd: pytest.CaptureFixture[str], number: signal.Signals, status: int, line: str
) -> None:
    cleaned: list[str] = []
    # Tests that run in the background ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    request.addfinalizer(lambda: signal.signal(signal.SIGINT, before))
    # A library of another test may have set a handler of its own, which would be kept.
    handler = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    request.addfinalizer(lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL if handler is None else handler))
    assert report_failures("moir", _signalled(number, cleaned)) == status
    assert cleaned == ["cleaned"]
    assert capfd.readouterr().err == line
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_handler_of_the_process_is_kept() -> None:
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        assert report_failures("moir", _signalled(signal.SIGTERM, [])) == 0
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
