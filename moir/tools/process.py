"""Settings for a process that does one conversion: it turns off features of Python and libraries that cost time."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import NoReturn

from moir.tools.failures import FAILED

TEXT_ONLY = frozenset(("--version", "--help", "-h"))
"""Options that print a text and end the process.

They do without `dataclasses`, whose import would be a tenth of the work.
"""


def run_process(main: Callable[[], int]) -> NoReturn:
    """Run the function of a command, and end the process with the exit status that it returns.

    Python would free all objects of all modules one by one, although the system frees the memory as a whole; that
    takes about 1 % of the conversion of a small model. The process ends without it, but after all functions that
    libraries and extensions have registered with `atexit`.
    """
    # OpenBLAS starts a thread for each core when numpy is imported. They are for products of large matrices; a
    # conversion computes few of them, and starting and ending the threads takes longer.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Classes and functions of modules stay. Looking for garbage among them while they are imported takes 1 %.
    gc.set_threshold(200_000, 20, 100)
    if TEXT_ONLY.isdisjoint(sys.argv):
        from moir.tools.dataclass_methods import make_dataclasses_faster

        make_dataclasses_faster()
    status = FAILED

    def end() -> None:
        for stream in (sys.stdout, sys.stderr):
            # A stream that cannot be written was reported by the command, or nobody is there to read it.
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(status)

    # atexit calls functions in reverse order, so `end` runs last.
    atexit.register(end)
    status = main()
    sys.exit(status)
