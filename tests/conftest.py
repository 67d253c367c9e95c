"""The settings of all tests: of TensorFlow, which reads them when it is imported first, whichever test does that; of
OpenVINO's converter, which tells nobody that it ran; files that no test needs to survive a loss of power; how often the
interpreter looks for unreachable objects; and the combinations of parameters for which a test runs.
"""

from __future__ import annotations

import gc
import os
from collections import defaultdict
from collections.abc import Generator

import pytest

from tests.numerical.forms import ALL_FORMS
from tests.pairwise import covering

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Kernels of oneDNN round differently, and some quantized types have none.
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
# OpenVINO's converter reports each conversion to its makers, by a fork of this process, unless continuous integration runs it.
os.environ.setdefault("CI", "true")


def keep_in_memory(descriptor: int) -> None:
    """Takes the place of `os.fsync`, whose wait for the disk was a tenth of the time of all tests."""


os.fsync = keep_in_memory
# The frameworks are millions of objects, through which it goes each time. Objects that wait for it keep files open.
gc.set_threshold(2_000, 10, 20)


@pytest.fixture
def frozen_objects() -> Generator[None]:
    """Leaves the objects of earlier tests out of `gc.collect()`, which else takes a second after those of the frameworks."""
    gc.freeze()
    yield
    gc.unfreeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    text = "run tests of three or more parameters for all combinations of their values, not for all pairs"
    parser.addoption("--all-combinations", action="store_true", help=text)


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--all-combinations"):
        os.environ[ALL_FORMS] = "1"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--all-combinations"):
        return
    functions = defaultdict[str, list[pytest.Function]](list)
    for item in items:
        if isinstance(item, pytest.Function) and hasattr(item, "callspec"):
            functions[item.nodeid.partition("[")[0]].append(item)
    deselected = set[pytest.Item]()
    for same in functions.values():
        # The combinations of a test share the objects that are their values.
        rows = [{name: id(value) for name, value in each.callspec.params.items()} for each in same]
        deselected.update({*same} - {same[index] for index in covering(rows)})
    items[:] = [each for each in items if each not in deselected]
    config.hook.pytest_deselected(items=list(deselected))
