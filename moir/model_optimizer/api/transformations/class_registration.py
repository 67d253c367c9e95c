"""Model Optimizer's `utils.class_registration`: running transformations, and enabling them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from enum import Enum
from typing import Any

from moir.extensions.environment import Choice
from moir.model_optimizer.api.transformations.replacement import ReplacementPattern
from moir.model_optimizer.graph.graph import Graph


class ClassType(Enum):
    """The kinds of classes that extensions define."""

    EXTRACTOR = 0
    OP = 1
    FRONT_REPLACER = 2
    MIDDLE_REPLACER = 3
    BACK_REPLACER = 4
    IR_READER_EXTENDER = 5
    LOADER = 6


def get_enabled_and_disabled_transforms() -> tuple[list[str], list[str]]:
    """The names in `MO_ENABLED_TRANSFORMS` and in `MO_DISABLED_TRANSFORMS`."""
    choice = Choice.read((), (), os.environ)
    return sorted(choice.environment_enabled), sorted(choice.environment_disabled)


def apply_transform(graph: Graph, replacer_cls: type[ReplacementPattern], **_ignored: Any) -> None:
    """Run a transformation on a graph, and on its bodies unless it is `run_not_recursively`.

    It is skipped if it is disabled, or if a condition in its `graph_condition` does not hold.
    """
    replacer = replacer_cls()
    if not getattr(replacer, "enabled", True) or not all(condition(graph) for condition in getattr(replacer, "graph_condition", ())):
        return
    _run(graph, replacer)
    if getattr(replacer, "force_clean_up", False):
        graph.clean_up()


def _run(graph: Graph, replacer: ReplacementPattern) -> None:
    replacer.find_and_replace_pattern(graph)
    for body in () if replacer.run_not_recursively else graph.body_graphs():
        _run(body, replacer)


def apply_replacements_list(graph: Graph, replacers_order: Iterable[type[ReplacementPattern]]) -> None:
    """Run transformations on a graph, in this order."""
    for replacer in replacers_order:
        apply_transform(graph, replacer)


def update_registration(*_: object, **__: object) -> None:
    """Does nothing, because classes are registered when the file that defines them is loaded."""
