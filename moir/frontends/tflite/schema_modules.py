"""The modules of the package `tflite`, imported one by one: each has one table or enumeration of the schema."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib.util import find_spec, module_from_spec

PACKAGE = "tflite"


@contextmanager
def imported_one_by_one() -> Generator[None]:
    """A context in which a module of `tflite` is imported without the others.

    The package imports all its 168 modules, which takes a tenth of the conversion of a small model; a model needs some
    20 of them. In the context the package is an empty one. After it, `import tflite` imports the whole package.
    """
    spec = None if PACKAGE in sys.modules else find_spec(PACKAGE)
    if spec is None:
        yield
        return
    empty = module_from_spec(spec)
    sys.modules[PACKAGE] = empty
    try:
        yield
    finally:
        if sys.modules.get(PACKAGE) is empty:
            del sys.modules[PACKAGE]
