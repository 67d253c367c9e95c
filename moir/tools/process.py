"""What the process of a conversion does not need of Python and of its libraries."""

from __future__ import annotations

import atexit
import gc
import os
import sys


def prepare_process() -> None:
    """Save time in a process that does nothing but one conversion. A program that has called moir is left as it is."""
    # OpenBLAS starts a thread for each core when numpy is imported. They are for products of large matrices; a
    # conversion computes few of them, and starting and ending the threads takes longer.
    if "numpy" not in sys.modules:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Python looks for cycles once more when it ends, in all modules. The memory goes back to the system anyway.
    atexit.register(gc.freeze)
