"""Reports on transformations that match nothing: unknown names, and the step at which a pattern fails."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from typing import Any

from moir import frameworks
from moir.dialects import opset
from moir.dialects.python_object import python_entries
from moir.lowering.driver import table_of
from moir.model_optimizer.block.operation_names import OPSET_OP_NAMES, op_names
from moir.model_optimizer.block.sentinels import nodes_of
from moir.model_optimizer.frameworks.lookup import Views, names_of_kind, views
from moir.model_optimizer.graph.graph import Graph
from moir.model_optimizer.graph.near_matches import failing_step
from moir.model_optimizer.graph.operation import Op
from moir.rewriting.events import RECORDING
from moir.support.suggestions import nearest

logger = logging.getLogger("moir")

_TYPING_ERROR = 0.8
"""The similarity of two names from which on one counts as a misspelling of the other."""

_SIMILAR = 0.65
"""The same limit if the other name occurs in the model."""


@cache
def _names_of_frameworks(registered: Views) -> frozenset[str]:
    """All values of `op` that nodes of the frameworks in `registered` can have unless an extension changes them."""
    names = {*OPSET_OP_NAMES, *OPSET_OP_NAMES.values(), *(name.partition(".")[2] for name in opset.names())}
    for dialect, _ in registered:
        framework = frameworks.FRAMEWORKS[dialect]
        if framework.lowering is not None:
            for kind in table_of(framework).kinds():
                names.update(names_of_kind(dialect, kind.rpartition(".")[2]))
    names.update(table_of(frameworks.MODEL_OPTIMIZER).kinds())
    return frozenset(names)


def _names_present(graph: Graph) -> set[str]:
    return {each for op in nodes_of(graph.block) for each in op_names(op, python_entries(op))}


def _warn_of_unknown_name(op: str, name: str, present: Collection[str], *, is_declared: bool = False) -> bool:
    """Warn if an `op` is probably misspelled, compared with those `present` in the model and with all others.

    Returns whether it warned. A name that is similar to no other is taken for an operation that this model does not
    have. The same is assumed of a name that a class declares (`is_declared`) and that is similar to none in the model:
    extensions serve several models.
    """
    known = _names_of_frameworks(views()) | Op.registered_ops.keys()
    if op in known:
        return False
    near = nearest(op, present, similarity=_SIMILAR)
    if not near and not is_declared:
        near = nearest(op, known, similarity=_TYPING_ERROR)
    if near:
        logger.warning("%s looks for nodes with op %r, a name that no operation has; nearest %s", name, op, " or ".join(near))
    return bool(near)


def report_unfound(graphs: Sequence[Graph], name: str, declared: str | None = None) -> None:
    """Report the values of `op` for which a transformation searched and which no node has, except `declared`.

    Args:
        graphs: the graphs on which it ran, which record for what it searched.
        name: the name of the transformation.
        declared: the `op` that its class declares, which `report_no_node` reports.

    A name that is probably misspelled gives a warning; others are logged under `--verbose`.
    """
    matched = {op for graph in graphs for op, is_found in graph.sought.items() if is_found}
    unfound = dict.fromkeys(op for graph in graphs for op in graph.sought if op not in matched and op != declared)
    present = {each for graph in graphs for each in _names_present(graph)} if unfound else set[str]()
    for op in unfound:
        if not _warn_of_unknown_name(op, name, present) and logger.isEnabledFor(logging.INFO):
            near = nearest(op, present)
            logger.info("%s: no node has op %r%s", name, op, f"; nearest {' or '.join(near)}" if near else "")


def report_effect(graphs: Sequence[Graph], name: str) -> None:
    """Log under `--verbose` how often a transformation matched, and whether it changed anything.

    A transformation that read the layout of the graph and changed nothing may expect another layout: the phase and the
    layout are logged.
    """
    if not logger.isEnabledFor(logging.INFO):
        return
    counts = [graph.matches for graph in graphs if graph.matches is not None]
    if counts:
        logger.info("%s matched %s", name, "once" if sum(counts) == 1 else f"{sum(counts)} times" if sum(counts) else "nothing")
    elif any(graph.is_modified for graph in graphs):
        logger.info("%s changed the graph", name)
    told = layout_read(graphs)
    if not any(graph.is_modified for graph in graphs) and (told or counts != [0]):
        logger.info("%s changed nothing%s", name, told)


def layout_read(graphs: Sequence[Graph]) -> str:
    """The layout of graphs and their phase, if a transformation read the layout; else an empty text."""
    if not any("layout" in graph.graph.read for graph in graphs):
        return ""
    phase = graphs[0].stage
    place = {"front": "in the front phase", "middle": "before the layout change", "back": "after the layout change"}[phase]
    return f"; it read the layout of the graph, which is {graphs[0].graph['layout']} {place}, the {phase} phase"


def report_no_node(graph: Graph, op: str, name: str) -> None:
    """Report that no node has the `op` that a replacement of single operations declares."""
    report_no_match(graph, [("op", {"op": op})], [], name, is_declared=True)


def _warn_of_another_form(graph: Graph, nodes: Iterable[Any], name: str, is_declared: bool) -> bool:
    """Warn if a pattern was probably written for another form of the model; returns whether it warned.

    This is assumed if no node has an `op` of the pattern, but the `op` of a node contains it or is contained in it.
    """
    wanted = dict.fromkeys(entry[1].get("op") for entry in nodes if not isinstance(entry, str))
    absent = [op for op in wanted if isinstance(op, str) and not graph.operations_named(op)]
    present = sorted(_names_present(graph)) if absent else []
    warned = False
    for op in absent:
        if _warn_of_unknown_name(op, name, present, is_declared=is_declared):
            warned = True
            continue
        near = next((each for each in present if min(len(each), len(op)) > 3 and (each in op or op in each)), None)
        if near is not None:
            warned = True
            logger.warning("%s matches nothing: no node has op %r; nearest %s", name, op, near)
    return warned


def report_no_match(graph: Graph, nodes: Iterable[Any], edges: Iterable[Any], name: str, *, is_declared: bool = False) -> None:
    """Log at which step of a pattern without matches the best candidate fails, and report it as a declined rewrite.

    The search runs only under `--verbose` or with a listener of rewrites.
    """
    recording = RECORDING.get()
    if _warn_of_another_form(graph, nodes, name, is_declared) and recording is None:
        return
    if recording is None and not logger.isEnabledFor(logging.INFO):
        return
    step = failing_step(graph, nodes, edges)
    if step is None:
        return
    root, reason = step
    if "'Transpose'" in reason and graph.stage == "middle" and graph.is_channel_last:
        reason += "; between operations on images there are Transposes only after the layout change, in the back phase"
    logger.info("%s matches nothing: %s", name, reason)
    if recording is not None:
        recording.declined(name, "" if root is None else recording.text(root), reason)
