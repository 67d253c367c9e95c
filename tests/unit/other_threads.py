"""A thread that imports while a test does."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from threading import Event, Thread
from types import ModuleType


@contextmanager
def importing_elsewhere(prefix: str) -> Generator[None]:
    """While in the context, another thread adds modules to `sys.modules` and removes them, as often as it can.

    Args:
        prefix: the beginning of the names of the modules.
    """
    stop = Event()

    def import_and_forget() -> None:
        number = 0
        while not stop.is_set():
            number += 1
            sys.modules[f"{prefix}{number}"] = ModuleType("m")
            sys.modules.pop(f"{prefix}{number - 50}", None)

    interval = sys.getswitchinterval()
    thread = Thread(target=import_and_forget)
    sys.setswitchinterval(1e-6)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        sys.setswitchinterval(interval)
        for name in [name for name in list(sys.modules) if name.startswith(prefix)]:
            del sys.modules[name]
