"""A plugin of pytest: the modules of Model Optimizer can be imported while tests are collected and run.

pytest -p moir.testing.plugin my_extension/tests
"""

from __future__ import annotations

from contextlib import ExitStack

from moir.model_optimizer.api.operations import register_all
from moir.model_optimizer.graph.operation import registration
from moir.model_optimizer.import_paths import LegacyImports
from moir.model_optimizer.numpy_aliases import numpy_aliases

_OPENED = ExitStack()


def pytest_configure() -> None:
    """Make the modules of Model Optimizer importable, and restore the names that numpy had in its time."""
    _OPENED.enter_context(registration())
    register_all()
    _OPENED.enter_context(numpy_aliases())
    _OPENED.enter_context(LegacyImports(("extensions",)))


def pytest_unconfigure() -> None:
    """Undo what `pytest_configure` did: the modules cannot be imported any more."""
    _OPENED.close()
