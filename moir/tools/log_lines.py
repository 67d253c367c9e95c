"""`moir --verbose`: prints the messages of moir's log from the level INFO on, e.g. that a transformation matches
nothing.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def printed_log() -> Generator[None]:
    """A context in which the messages of moir's log are printed to stderr, including those of the level INFO."""
    logger = logging.getLogger("moir")
    handler, level = logging.StreamHandler(sys.stderr), logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.setLevel(level)
        logger.removeHandler(handler)
