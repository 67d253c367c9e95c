"""How much a model says about the shapes of its inputs, and in which of these forms a test runs it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from typing import Literal
from zlib import crc32

Form = Literal["static", "dynamic", "rank"]

FORMS: tuple[Form, ...] = ("static", "dynamic", "rank")
"""Everything, their rank, nothing."""

ALL_FORMS = "MOIR_ALL_FORMS"
"""The variable of the environment that is set where each model runs in all its forms: with `--all-combinations`."""

_MODELS = Counter[str]()
"""How many models each test has run."""


def forms_of_run(forms: Sequence[Form]) -> Sequence[Form]:
    """The forms in which the next model of the running test is converted and run.

    A model that has all three runs in the static form and in one of the other two, which alternate from model to model:
    a test of several models has them all. With `ALL_FORMS`, and if a test asks for some forms only, they are those.
    """
    if os.environ.get(ALL_FORMS) or tuple(forms) != FORMS:
        return forms
    test = os.environ.get("PYTEST_CURRENT_TEST", "").partition(" ")[0]
    number = crc32(test.encode()) + _MODELS[test]
    _MODELS[test] += 1
    return ("static", FORMS[1 + number % 2])
