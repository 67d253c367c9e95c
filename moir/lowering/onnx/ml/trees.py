"""Ensembles of decision trees as tables, and the walk of all rows through all trees at once.

The nodes of all trees are numbered so that the two children of a node are neighbours. A step of the walk reads the
feature, the threshold and the first child of the node that each row [N] has reached in each tree [T], and adds the
result of the comparison, 0 or 1, to the index of that child. A leaf is its own first child, and its threshold is NaN,
for which every comparison is false. The number of steps is the largest depth of a tree. A walk of many steps is a
loop, which ends when no row reaches another node.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from moir.dialects.element_types import f32, si32
from moir.dialects.shapes import shape_of
from moir.expansions.loops.built_loops import Step, repeated_steps
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Reals: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

LESS_EQUAL, LESS, GREATER_EQUAL, GREATER, EQUAL, NOT_EQUAL, MEMBER, LEAF = range(8)
"""The comparison that each node makes, or LEAF; the numbers are those of the operator TreeEnsemble of version 5."""

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF")

MOST_UNROLLED = 64
"""The largest depth of trees whose walk is unrolled; libraries for boosted trees and forests rarely grow deeper trees.
"""

MOST_VISITS = 1 << 26
"""The upper bound on the nodes visited by a walk along all paths of the trees.

A node that several paths share, as those below a test for membership of many values, is visited once per path.
"""


@dataclass
class Ensemble:
    """The nodes of some trees, in any order.

    Args:
        roots: the root of each tree.
        modes: the mode of each node.
        features: the column that each node compares.
        thresholds: the value that each node compares its feature with.
        tracks: for each node, whether a missing value (NaN) goes to the true child.
        true, false: the indices of the children; arbitrary for leaves.
        weights: [leaves, C] the score that each leaf adds to each target.
        scored: [leaves, C] whether each leaf adds a score to each target.
        leaf_ids: the row of each leaf in `weights`; arbitrary for other nodes.
    """

    roots: Numbers
    modes: Numbers
    features: Numbers
    thresholds: Reals
    tracks: Flags
    true: Numbers
    false: Numbers
    weights: Reals
    scored: Flags
    leaf_ids: Numbers

    @property
    def targets(self) -> int:
        """The number C of targets or classes."""
        return self.weights.shape[1]

    @cached_property
    def numbered(self) -> tuple[Numbers, Numbers]:
        """An order of the nodes in which roots are first and the two children of a node are neighbours.

        Returns the nodes in this order, and for each of them the index, in this order, of its first child.
        """
        first = np.full(self.modes.size, -1, np.int64)
        low, high = np.where(self.modes == NOT_EQUAL, (self.true, self.false), (self.false, self.true))
        order, count, depth_nodes = [self.roots], self.roots.size, self.roots
        while depth_nodes.size:
            depth_nodes = np.unique(depth_nodes)
            depth_nodes = depth_nodes[(self.modes[depth_nodes] != LEAF) & (first[depth_nodes] < 0)]
            first[depth_nodes] = count + 2 * np.arange(depth_nodes.size)
            depth_nodes = np.stack([low[depth_nodes], high[depth_nodes]], axis=1).reshape(-1)
            order.append(depth_nodes)
            count += depth_nodes.size
        nodes = np.concatenate(order)
        return nodes, np.where(self.modes[nodes] == LEAF, np.arange(nodes.size), first[nodes])

    @cached_property
    def depth(self) -> int:
        """The largest number of branch nodes on a path to a leaf; -1 if there is a cycle, or more visits than
        `MOST_VISITS`.
        """
        nodes, depth, visits = np.unique(self.roots), 0, 0
        while (nodes := nodes[self.modes[nodes] != LEAF]).size:
            nodes = np.unique(np.concatenate([self.true[nodes], self.false[nodes]]))
            depth, visits = depth + 1, visits + nodes.size
            if depth > self.modes.size or visits > MOST_VISITS:
                return -1
        return depth

    @cached_property
    def leaves_of_trees(self) -> list[Numbers] | None:
        """The leaves of each tree, as rows of `weights`; None if trees share more nodes than `MOST_VISITS` allows."""
        trees, nodes, visits = np.arange(self.roots.size), self.roots, 0
        pairs: list[Numbers] = []
        while nodes.size:
            visits += nodes.size
            if visits > MOST_VISITS:
                return None
            is_leaf = self.modes[nodes] == LEAF
            pairs.append(trees[is_leaf] * self.modes.size + self.leaf_ids[nodes[is_leaf]])
            trees, nodes = trees[~is_leaf], nodes[~is_leaf]
            children = np.concatenate([self.true[nodes], self.false[nodes]])
            trees, nodes = np.divmod(np.unique(np.tile(trees, 2) * self.modes.size + children), self.modes.size)
        trees, leaves_ = np.divmod(np.unique(np.concatenate(pairs)), self.modes.size)
        return np.split(leaves_, np.searchsorted(trees, np.arange(1, self.roots.size)))

    @cached_property
    def always_scored(self) -> Flags:
        """For each target [C], whether every row gets a score, because all leaves of some tree have a score for it."""
        of_trees = np.stack([self.scored[leaves].all(axis=0) for leaves in self.leaves_of_trees or ()])
        return np.logical_or.reduce(of_trees, axis=0)

    @cached_property
    def targets_of_trees(self) -> Numbers | None:
        """The target of each tree; None if some tree has leaves for several targets."""
        scored = np.stack([self.scored[leaves].any(axis=0) for leaves in self.leaves_of_trees or ()])
        return None if (scored.sum(axis=1) > 1).any() else scored.argmax(axis=1)


def check(node: LoweringNode, ensemble: Ensemble) -> None:
    """Raises ConversionError for an inconsistent ensemble: nodes are missing, or form a cycle."""
    branches = ensemble.modes != LEAF
    children = np.concatenate([ensemble.true[branches], ensemble.false[branches]])
    if ensemble.roots.size == 0:
        node.fail("it has no trees")
    if ((ensemble.roots < 0) | (ensemble.roots >= ensemble.modes.size)).any():
        node.fail("a tree has a root that does not exist")
    if ((children < 0) | (children >= ensemble.modes.size)).any():
        node.fail("a node has a child that does not exist")
    if ensemble.depth < 0:
        node.fail("its nodes form a cycle, or trees share too many of them", hint="give each tree nodes of its own")
    if ensemble.leaves_of_trees is None:
        node.fail("its trees share too many nodes", hint="give each tree nodes of its own")


def rows_of(node: LoweringNode, op: OpBuilder) -> SSAValue:
    """Operand 0 as rows of features [N, F] in f32; one dimension is a single row."""
    x = op.convert(node.operand(0), f32)
    rank = node.rank(0)
    if rank == 2:
        return x
    if rank is not None and rank != 1:
        node.fail(f"its operand has rank {rank} instead of 1 or 2")
    if rank == 1:
        return op.Unsqueeze(x, [0])
    return op.Reshape(x, op.Concat([-1], dimension_list(op, x, -1), axis=0), special_zero=False)


Comparison: TypeAlias = Callable[[OpBuilder, SSAValue, SSAValue], SSAValue]

COMPARISONS: Mapping[tuple[int, ...], Comparison] = {
    (LESS_EQUAL,): lambda op, x, threshold: op.LessEqual(x, threshold),
    (LESS,): lambda op, x, threshold: op.Less(x, threshold),
    (GREATER_EQUAL,): lambda op, x, threshold: op.GreaterEqual(x, threshold),
    (GREATER,): lambda op, x, threshold: op.Greater(x, threshold),
    (EQUAL, NOT_EQUAL): lambda op, x, threshold: op.Equal(x, threshold),
}
"""For the set of modes in an ensemble, the comparison whose result, 0 or 1, is added to the index of the first child.

For NOT_EQUAL it is equality, and the second child is the false child.
"""


def leaves(op: OpBuilder, ensemble: Ensemble, x: SSAValue) -> SSAValue:
    """The index [N, T] of the leaf that each row of x [N, F] reaches in each tree."""
    nodes, first = ensemble.numbered
    modes, trees = ensemble.modes[nodes], ensemble.roots.size
    features = np.where(modes == LEAF, 0, ensemble.features[nodes]).astype(np.int32)
    # Trees compare in f32. A feature that equals a threshold in f64 equals it after both are rounded, too.
    with np.errstate(over="ignore"):
        thresholds = ensemble.thresholds[nodes].astype(np.float32)
    tables = [
        (compare, np.where(np.isin(modes, kinds), thresholds, np.float32(np.nan)))
        for kinds, compare in COMPARISONS.items()
        if np.isin(modes, kinds).any()
    ]
    tracks = (ensemble.tracks[nodes] & np.isin(modes, (*range(NOT_EQUAL),))).astype(np.int32)

    def step(op: OpBuilder, value: SSAValue, read: Callable[[np.ndarray[Any, Any]], SSAValue]) -> SSAValue:
        comparisons = [compare(op, value, read(table)) for compare, table in tables]
        if tracks.any():
            comparisons.append(op.LogicalAnd(op.IsNaN(value), op.Equal(read(tracks), 1)))
        goes = comparisons[0]
        for other in comparisons[1:]:
            goes = op.LogicalOr(goes, other)
        return op.Add(read(first.astype(np.int32)), op.Convert(goes, destination_type=si32))

    if ensemble.depth == 0:
        return op.Broadcast(np.arange(trees, dtype=np.int32)[None], op.Concat(dimension_list(op, x, 0), [trees], axis=0))
    reached = step(op, op.Gather(x, features[:trees], 1), lambda table: op.constant(table[None, :trees]))
    if ensemble.depth == 1:
        return reached
    elements, starts = _flattened(op, x)

    def descend(op: OpBuilder, current: SSAValue, elements: SSAValue, starts: SSAValue) -> SSAValue:
        value = op.Gather(elements, op.Add(op.Gather(features, current, 0), starts), 0)
        return step(op, value, lambda table: op.Gather(table, current, 0))

    if ensemble.depth > MOST_UNROLLED:

        def body(op: OpBuilder, states: list[SSAValue], _: list[SSAValue], invariants: list[SSAValue]) -> Step:
            following = descend(op, states[0], *invariants)
            return Step([following], goes_on=op.ReduceLogicalOr(op.NotEqual(following, states[0]), [0, 1], keep_dims=False))

        return repeated_steps(op, body, [reached], invariants=[elements, starts], most=ensemble.depth - 1)[0]
    for _ in range(1, ensemble.depth):
        reached = descend(op, reached, elements, starts)
    return reached


def _flattened(op: OpBuilder, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The elements of x [N, F] as a 1-D tensor, and the index at which each row starts in it, [N, 1]."""
    shape = shape_of(x)
    elements = op.Reshape(x, [-1], special_zero=False)
    if shape is not None and shape[0] == 1:
        return elements, op.constant(np.zeros((1, 1), np.int32))
    sizes = op.ShapeOf(x, output_type=si32)
    count, width = (op.Gather(sizes, axis, 0) for axis in (0, 1))
    rows = op.Range(np.array(0, np.int32), count, np.array(1, np.int32), output_type=si32)
    return elements, op.Unsqueeze(op.Multiply(rows, width), [1])


REDUCTIONS = {"SUM": "ReduceSum", "AVERAGE": "ReduceSum", "MIN": "ReduceMin", "MAX": "ReduceMax"}


def scores(op: OpBuilder, ensemble: Ensemble, reached: SSAValue, aggregate: str) -> SSAValue:
    """The sums of the weights [N, C] of the leaves that rows reach, or their minima or maxima, by `aggregate`; AVERAGE
    gives sums.
    """
    nodes, _ = ensemble.numbered
    is_leaf = ensemble.modes[nodes] == LEAF
    rows = np.where(is_leaf, ensemble.leaf_ids[nodes], 0)
    sums = REDUCTIONS[aggregate] == "ReduceSum"
    if (ensemble.targets == 1 and (sums or ensemble.scored.all())) or (sums and ensemble.targets_of_trees is not None):
        # The leaves of each tree have scores for one target.
        weights = np.where(is_leaf, ensemble.weights.sum(axis=1)[rows], 0).astype(np.float32)
        weights_of_leaves = op.Gather(weights, reached, 0)
        if ensemble.targets == 1:
            return getattr(op, REDUCTIONS[aggregate])(weights_of_leaves, [1], keep_dims=True)
        return op.MatMul(weights_of_leaves, np.eye(ensemble.targets, dtype=np.float32)[ensemble.targets_of_trees])
    absent = {"ReduceSum": 0, "ReduceMin": np.inf, "ReduceMax": -np.inf}[REDUCTIONS[aggregate]]
    weights = np.where(ensemble.scored, ensemble.weights, absent).astype(np.float32)
    weights_of_leaves = op.Gather(weights, op.Gather(rows.astype(np.int32), reached, 0), 0)
    return getattr(op, REDUCTIONS[aggregate])(weights_of_leaves, [1], keep_dims=False)


def scored(op: OpBuilder, ensemble: Ensemble, reached: SSAValue) -> SSAValue | None:
    """Whether each row has a score for each target, [N, C], or [1, C] if this is the same for all rows; None if all
    rows have all scores.
    """
    if ensemble.always_scored.all():
        return None
    if (ensemble.always_scored == ensemble.scored.any(axis=0)).all():
        return op.constant(ensemble.always_scored[None])
    nodes, _ = ensemble.numbered
    rows = np.where(ensemble.modes[nodes] == LEAF, ensemble.leaf_ids[nodes], 0).astype(np.int32)
    flags = op.Gather(ensemble.scored.astype(np.float32), op.Gather(rows, reached, 0), 0)
    return op.Less(0.0, op.ReduceMax(flags, [1], keep_dims=False))
