"""Ensembles of decision trees: TreeEnsembleClassifier, TreeEnsembleRegressor, TreeEnsemble.

    %label, %scores = onnx.ai.onnx.ml.TreeEnsembleClassifier(%x) {…}
->  %reached = for each level of the trees: Add(Gather(first children), LessEqual(Gather(%x, …), Gather(thresholds)))
    %scores = Softmax(ReduceSum(Gather(weights of leaves, %reached), 1))
    %label = Gather(labels, TopK(%scores, 1))
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.data import Array
from moir.dialects.shapes import element_of, shape_of
from moir.lowering.binder import LoweringNode
from moir.lowering.onnx.ml.scores import (
    TRANSFORMS,
    best,
    class_labels,
    complemented,
    default_labels,
    labelled,
    one_of_two,
    opposed,
    transform_of,
    transformed,
)
from moir.lowering.onnx.ml.trees import (
    EQUAL,
    LEAF,
    MEMBER,
    MODES,
    REDUCTIONS,
    Ensemble,
    Flags,
    Numbers,
    Reals,
    check,
    leaves,
    rows_of,
    scored,
    scores,
)
from moir.lowering.onnx.table import onnx
from moir.lowering.table import Replacement
from moir.rewriting.builder import OpBuilder

Scores: TypeAlias = tuple[SSAValue, SSAValue | None]
"""Scores [N, C], and booleans [N, C] which say whether a row has the score; None in place of the booleans if all rows
have all scores.
"""


def _integers(node: LoweringNode, name: str) -> Numbers:
    return np.array(node.integers(name, ()), np.int64)


def _reals(node: LoweringNode, name: str) -> Reals:
    """The floats of the attribute `name`, or of the tensor attribute that replaces it for f64."""
    tensor = node.tensor(f"{name}_as_tensor")
    array = np.array(node.numbers(name, ()), np.float32) if tensor is None else tensor
    return array.reshape(-1).astype(np.float64)


def _ensemble_of_node_ids(node: LoweringNode, own: str, targets: int) -> Ensemble:
    """The ensemble of a node whose attributes refer to a tree's nodes by the id of the tree and an id within the tree.

    Args:
        node: the node.
        own: the prefix of the names of the attributes about leaves: `class` or `target`.
        targets: the number of targets.
    """
    trees, ids_of_nodes = _integers(node, "nodes_treeids"), _integers(node, "nodes_nodeids")
    names, features = node.texts("nodes_modes", ()), _integers(node, "nodes_featureids")
    true, false = _integers(node, "nodes_truenodeids"), _integers(node, "nodes_falsenodeids")
    thresholds = _reals(node, "nodes_values")
    count = trees.size
    if any(len(each) != count for each in (ids_of_nodes, names, features, true, false, thresholds)):
        node.fail("its lists of nodes have different lengths")
    if unknown := sorted(set(names) - set(MODES)):
        node.fail(f"a node has the unknown mode {unknown[0]!r}")
    modes = np.array([MODES.index(name) for name in names], np.int64)
    if (modes == MEMBER).any():
        node.fail("a node has the mode BRANCH_MEMBER, which belongs to TreeEnsemble")
    scale = 1 + max(0, *(int(each.max(initial=0)) for each in (ids_of_nodes, true, false, _integers(node, f"{own}_nodeids"))))
    order = np.argsort(trees * scale + ids_of_nodes, kind="stable")
    keys = (trees * scale + ids_of_nodes)[order]
    if (keys[1:] == keys[:-1]).any():
        node.fail("two nodes of a tree have the same number")

    def find(of_trees: Numbers, wanted: Numbers) -> Numbers:
        """The indices of nodes by the ids of trees and nodes; -1 where there is no such node."""
        key = of_trees * scale + wanted
        index = np.minimum(np.searchsorted(keys, key), keys.size - 1)
        return np.where((keys[index] == key) & (wanted >= 0), order[index], -1)

    is_leaf = modes == LEAF
    leaf_ids = np.cumsum(is_leaf) - 1
    weights = np.zeros((int(is_leaf.sum()), targets))
    has = np.zeros(weights.shape, np.bool_)
    if count:
        true, false = find(trees, true), find(trees, false)
        nodes, ids = find(_integers(node, f"{own}_treeids"), _integers(node, f"{own}_nodeids")), _integers(node, f"{own}_ids")
        values = _reals(node, f"{own}_weights")
        if not nodes.size == ids.size == values.size:
            node.fail("its lists of leaves have different lengths")
        if (nodes < 0).any() or (ids < 0).any() or (ids >= targets).any():
            node.fail("a weight belongs to a node or a target that does not exist")
        # Old converters gave weights to branches, where they have no effect.
        kept = is_leaf[nodes]
        np.add.at(weights, (leaf_ids[nodes[kept]], ids[kept]), values[kept])
        has[leaf_ids[nodes[kept]], ids[kept]] = True
    tracks = np.zeros(count, np.bool_)
    flags = _integers(node, "nodes_missing_value_tracks_true")[:count]
    tracks[: flags.size] = flags == 1
    roots = np.flatnonzero(np.concatenate([np.ones(min(count, 1), np.bool_), trees[1:] != trees[:-1]]))
    ensemble = Ensemble(roots, modes, features, thresholds, tracks, true, false, weights, has, leaf_ids)
    check(node, ensemble)
    return ensemble


def _ensemble(node: LoweringNode, targets: int) -> Ensemble:
    """The ensemble of a TreeEnsemble, whose children are indices of nodes or of leaves.

    A test for membership becomes a chain of tests for equality.
    """
    modes, thresholds, members = node.tensor("nodes_modes"), node.tensor("nodes_splits"), node.tensor("membership_values")
    weights = node.tensor("leaf_weights")
    if modes is None or thresholds is None or weights is None:
        node.fail("nodes_modes, nodes_splits or leaf_weights is missing")
    modes, thresholds = modes.reshape(-1).astype(np.int64), thresholds.reshape(-1).astype(np.float64)
    ids, count = _integers(node, "leaf_targetids"), modes.size
    lists = [_integers(node, f"nodes_{name}") for name in ("featureids", "truenodeids", "falsenodeids", "trueleafs", "falseleafs")]
    features, true, false, true_leaf, false_leaf = lists
    if any(each.size != count for each in (thresholds, *lists)) or ids.size != weights.size:
        node.fail("its lists of nodes or leaves have different lengths")
    if (modes > MEMBER).any() or (ids < 0).any() or (ids >= targets).any():
        node.fail("a node has an unknown mode, or a leaf a target that does not exist")
    tracks = np.zeros(count, np.bool_)
    flags = _integers(node, "nodes_missing_value_tracks_true")
    tracks[: flags.size] = flags == 1
    # The order is: branch nodes, leaves, then the nodes that replace tests for membership.
    true, false = np.where(true_leaf != 0, true + count, true), np.where(false_leaf != 0, false + count, false)
    none = np.zeros(ids.size, np.int64)
    chains = _chains(node, modes, np.zeros(0) if members is None else members.reshape(-1).astype(np.float64), false, count + ids.size)
    columns: tuple[Any, ...] = (
        np.concatenate([modes, none + LEAF]),
        np.concatenate([features, none]),
        np.concatenate([thresholds, none]),
        np.concatenate([tracks, none != 0]),
        np.concatenate([true, none]),
        np.concatenate([false, none]),
    )
    for owner, values, following in chains:
        columns[0][owner], columns[2][owner], columns[5][owner] = EQUAL, values[0], following[0]
        extra = (EQUAL, features[owner], values[1:], False, true[owner], following[1:])
        columns = tuple(
            np.concatenate([column, np.broadcast_to(np.asarray(part, column.dtype), len(values) - 1)])
            for column, part in zip(columns, extra, strict=True)
        )
    rows = np.arange(ids.size)
    dense = np.zeros((ids.size, targets))
    dense[rows, ids] = weights.reshape(-1)
    node_ids = np.zeros(columns[0].size, np.int64)
    node_ids[count : count + ids.size] = rows
    has = np.zeros(dense.shape, np.bool_)
    has[rows, ids] = True
    modes, features, thresholds, tracks, true, false = columns
    ensemble = Ensemble(_integers(node, "tree_roots"), modes, features, thresholds, tracks, true, false, dense, has, node_ids)
    check(node, ensemble)
    return ensemble


def _chains(
    node: LoweringNode, modes: Numbers, members: Reals, false: Numbers, first: int
) -> list[tuple[int, Sequence[float], Sequence[int]]]:
    """For each test for membership: the index of its node, the values, and the false child of each value's test for
    equality.

    `members` lists the values of all tests, one test after the other, each followed by NaN. `first` is the index of the
    first node that a chain adds.
    """
    ends = np.flatnonzero(np.isnan(members))
    owners = np.flatnonzero(modes == MEMBER)
    starts = np.concatenate([[0], ends + 1])[: owners.size]
    stops = np.concatenate([ends, [members.size]])[: owners.size]
    if starts.size < owners.size:
        node.fail("membership_values does not have values for each test for membership")
    chains: list[tuple[int, Sequence[float], Sequence[int]]] = []
    for owner, start, stop in zip(owners.tolist(), starts.tolist(), stops.tolist(), strict=True):
        values = members[start:stop].tolist() or [float("nan")]
        chains.append((owner, values, [*range(first, first + len(values) - 1), int(false[owner])]))
        first += len(values) - 1
    return chains


def _base_values(node: LoweringNode, targets: int) -> Array:
    """The values that are added to scores: an array of none, of one for all targets, or of one per target.

    Raises ConversionError for another number.
    """
    base = _reals(node, "base_values").astype(np.float32)
    if base.size not in (0, 1, targets):
        node.fail(f"it has {base.size} base values for {targets} targets")
    return base


def _aggregated(op: OpBuilder, ensemble: Ensemble, reached: SSAValue, aggregate: str) -> Scores:
    sums, has = scores(op, ensemble, reached, aggregate), scored(op, ensemble, reached)
    return (op.Divide(sums, float(ensemble.roots.size)) if aggregate == "AVERAGE" else sums), has


def _regression(node: LoweringNode, op: OpBuilder, ensemble: Ensemble, aggregate: str, transform: str, base: Array) -> SSAValue:
    """The targets [N, C]; a target for which no tree has a value is 0."""
    count = ensemble.targets
    x = _checked_rows(node, op, ensemble)
    sums, has = _aggregated(op, ensemble, leaves(op, ensemble, x), aggregate)
    if base.size == count and base.any():
        sums = op.Add(sums, base)
    if has is not None and count > 1:
        sums = op.Select(has, sums, 0.0)
    return transformed(op, sums, transform, count)


def _checked_rows(node: LoweringNode, op: OpBuilder, ensemble: Ensemble) -> SSAValue:
    """Operand 0 as rows of features. Raises ConversionError if they have fewer columns than the trees compare."""
    x = rows_of(node, op)
    shape, largest = shape_of(x), int(ensemble.features[ensemble.modes != LEAF].max(initial=-1))
    if shape is not None and 0 <= shape[1] <= largest:
        node.fail(f"its trees look at feature {largest}, and its operand has {shape[1]}")
    return x


@onnx.lowers("ai.onnx.ml.TreeEnsembleRegressor")
def regressor(node: LoweringNode, op: OpBuilder, *, n_targets: int = 1, aggregate_function: str = "SUM") -> SSAValue:
    """onnx.ai.onnx.ml.TreeEnsembleRegressor(x) {aggregate_function = "SUM"}
    -> ReduceSum(weights of the leaves that x reaches in the trees)

    With AVERAGE, MIN and MAX the other reduction.
    """
    if n_targets < 1 or aggregate_function not in REDUCTIONS:
        node.fail(f"{n_targets} targets aggregated by {aggregate_function!r} do not exist")
    ensemble = _ensemble_of_node_ids(node, "target", n_targets)
    return _regression(node, op, ensemble, aggregate_function, transform_of(node), _base_values(node, n_targets))


@onnx.lowers("ai.onnx.ml.TreeEnsemble")
def ensemble_of_trees(
    node: LoweringNode, op: OpBuilder, x: SSAValue, *, n_targets: int = 1, aggregate_function: int = 1, post_transform: int = 0
) -> SSAValue:
    """onnx.ai.onnx.ml.TreeEnsemble(x) -> ReduceSum(weights of the leaves that x reaches in the trees)"""
    aggregates, transforms = ("AVERAGE", "SUM", "MIN", "MAX"), tuple(TRANSFORMS)
    if n_targets < 1 or not 0 <= aggregate_function < len(aggregates) or not 0 <= post_transform < len(transforms):
        node.fail("its number of targets, aggregate_function or post_transform does not exist")
    scores_of_targets = _regression(
        node, op, _ensemble(node, n_targets), aggregates[aggregate_function], transforms[post_transform], np.zeros(0, np.float32)
    )
    return op.convert(scores_of_targets, element_of(x))


@onnx.lowers("ai.onnx.ml.TreeEnsembleClassifier")
def classifier(node: LoweringNode, op: OpBuilder) -> Replacement:
    """onnx.ai.onnx.ml.TreeEnsembleClassifier(x)
    -> Gather(labels, TopK(scores, 1)), scores = ReduceSum(weights of the leaves that x reaches in the trees)
    """
    labels, transform = class_labels(node, "classlabels_int64s"), transform_of(node)
    if not labels.size:
        node.fail("it has no class labels")
    ensemble, base = _ensemble_of_node_ids(node, "class", labels.size), _base_values(node, 2 if labels.size == 1 else labels.size)
    sums, has = _aggregated(op, ensemble, leaves(op, ensemble, _checked_rows(node, op, ensemble)), "SUM")
    if labels.size > 2:
        return _several_classes(op, (sums, has), base, labels, transform)
    if labels.size == 1:
        if base.size == 2:
            node.fail("it has two base values for one class")
        sums = op.Add(sums, base) if base.size else sums
        return one_of_two(op, op.Less(0.0, sums), default_labels(labels)), transformed(op, sums, transform, 1)
    return _two_classes(node, op, ensemble, (sums, has), base, labels, transform)


def _several_classes(op: OpBuilder, aggregated: Scores, base: Array, labels: Array, transform: str) -> Replacement:
    """The label and the scores of three or more classes: the label of the largest score among the scores that a row
    has.
    """
    sums, has = aggregated
    if base.size:
        sums, has = op.Add(sums, base), None
    candidates = sums
    if has is not None:
        candidates, sums = op.Select(has, sums, -np.inf), op.Select(has, sums, 0.0)
    return labelled(op, best(op, candidates), labels), transformed(op, sums, transform, labels.size)


def _two_classes(
    node: LoweringNode, op: OpBuilder, ensemble: Ensemble, aggregated: Scores, base: Array, labels: Array, transform: str
) -> Replacement:
    """Label and scores of two classes by the conventions of ONNX Runtime.

    If all weights belong to one class, the score is a probability if no weight is negative, else a number that is
    positive for the second class. If both classes have weights, the label is 0 or 1.
    """
    sums, has = aggregated
    classes: Flags = np.logical_or.reduce(ensemble.scored, axis=0)
    is_binary = bool(classes.sum() == 1)
    all_positive = not (ensemble.weights[ensemble.scored] < 0).any()
    first, second = (op.Gather(sums, [column], 1) for column in (0, 1))
    has_first = None if has is None or ensemble.always_scored[0] else op.Gather(has, [0], 1)
    chosen = labels if is_binary else default_labels(labels)
    limit = 0.5 if is_binary and all_positive else 0.0

    def label(score: SSAValue) -> SSAValue:
        return op.Less(limit, score)

    def with_second() -> tuple[SSAValue, SSAValue]:
        score, lead = second, op.Add(first, base) if base.size == 1 else first
        if base.size == 2:
            score = op.Add(first, base[1:])
            lead = op.Negative(score)
        if has_first is not None:
            lead = op.Select(has_first, lead, 0.0)
        return label(score), transformed(op, op.Concat(lead, score, axis=1), transform, 2)

    def without_second() -> tuple[SSAValue, SSAValue]:
        score = op.Add(first, base[:1]) if base.size else first
        if base.size == 2:
            both = op.Concat(score, op.Multiply(score, 0.0), axis=1)
            return label(score), transformed(op, both, transform, 2)
        if transform == "PROBIT":
            node.fail("PROBIT of a single score of two classes is not defined")
        if is_binary and all_positive:
            return label(score), complemented(op, score, transform)
        if not is_binary and base.size:
            node.fail("a single base value for two classes of which rows may have one is not supported")
        return label(score), opposed(op, score, transform)

    if ensemble.always_scored[1]:
        goes, result = with_second()
    elif not classes[1]:
        goes, result = without_second()
    else:
        assert has is not None
        present = op.Gather(has, [1], 1)
        (one, ones), (other, others) = with_second(), without_second()
        goes, result = op.Select(present, one, other), op.Select(present, ones, others)
    return one_of_two(op, goes, chosen), result
