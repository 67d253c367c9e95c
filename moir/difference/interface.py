"""The function of the Python interface that compares models: `moir.diff`."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from moir.difference.records import Difference
from moir.inspection.interface import module_of
from moir.options import ConversionOptions
from moir.support.turns import in_turn


@in_turn
def diff(first: Any, second: Any, *, tolerance: float = 0.0, **options: Any) -> Difference:
    """The differences of two models: operations are matched by name, and by their connections.

    Args:
        first: a path of any format that moir reads, texts of modules included; a module; or a model in memory, as
            `convert_model` takes it.
        second: the other model.
        tolerance: constants are equal if they differ by at most this share of their largest element.
        options: the options of `convert_model` for readers, such as `checkpoint`; they apply to both models.

    Weights are compared in pieces, where they are in their files. Raises ConversionError for a model that cannot be
    read, UsageError for a mistake in the arguments.
    """
    from moir.difference.comparison import compare

    given = ConversionOptions(**options)
    with ExitStack() as stack:
        return compare(module_of(first, given, stack)[0], module_of(second, given, stack)[0], tolerance)
