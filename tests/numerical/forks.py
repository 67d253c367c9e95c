"""Functions in forked processes: what crashes or hangs the runtime, or leaves its memory in disorder, costs one call."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import wait
from typing import TypeVar

from tests.numerical.workers import Died

Answer = TypeVar("Answer")


def forked(task: Callable[[], Answer], seconds: float = 120.0) -> Answer | Died:
    """What a function returns in a process of its own, or how that process ended without an answer.

    This process must not have compiled a model: the threads of the runtime do not exist in a fork. Raises RuntimeError
    with the message of an exception of the function.
    """
    reading, writing = os.pipe()
    if not (child := os.fork()):
        _answer(task, writing)
    os.close(writing)
    content, deadline = bytearray(), time.monotonic() + seconds
    with os.fdopen(reading, "rb", buffering=0) as pipe:
        while wait([pipe.fileno()], max(deadline - time.monotonic(), 0)) and (part := pipe.read(1 << 16)):
            content += part
    hung = time.monotonic() >= deadline
    if hung:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if not content:
        code = os.waitstatus_to_exitcode(status)
        return Died(
            "", hung, f"no answer after {seconds:.0f} s" if hung else signal.Signals(-code).name if code < 0 else f"exit status {code}"
        )
    answer, error = pickle.loads(bytes(content))
    if error:
        raise RuntimeError(error)
    return answer


def _answer(task: Callable[[], object], writing: int) -> None:
    """Call a function and write what it returns, or its exception, to a pipe; then end the process."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        content = pickle.dumps((task(), ""))
    except Exception as error:
        content = pickle.dumps((None, f"{type(error).__name__}: {error}"))
    while content:
        content = content[os.write(writing, content) :]
    os._exit(0)
