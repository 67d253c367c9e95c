"""Ensembles of decision trees as tables, and the walk of all rows through all trees at once.

The nodes of all trees are numbered so that the two children of a node are neighbours. A step of the walk reads the
feature, the threshold and the first child of the node that each row [N] has reached in each tree [T], and adds the
result of the comparison, 0 or 1, to the number of that child. A leaf is its own first child, and its threshold is NaN,
to which every comparison is false. The number of steps is the largest depth of a tree.
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
from moir.expansions.shape_values import dimension_list
from moir.lowering.binder import LoweringNode
from moir.rewriting.builder import OpBuilder

Numbers: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
Flags: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
Reals: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]

LESS_EQUAL, LESS, GREATER_EQUAL, GREATER, EQUAL, NOT_EQUAL, MEMBER, LEAF = range(8)
"""The modes of nodes; those of branches are the numbers in TreeEnsemble of version 5."""

MODES = ("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER", "LEAF")


@dataclass
class Ensemble:
    """The nodes of some trees, in any order.

    Args:
        roots: the root of each tree.
        modes: the mode of each node.
        features: the column that each node compares.
        thresholds: the number that each node compares its feature with.
        tracks: whether a missing value (NaN) goes to the true child.
        true, false: the children; any number for leaves.
        weights: [leaves, C] the number that each leaf adds to each target.
        scored: [leaves, C] whether each leaf adds a number to each target.
        leaf_numbers: the row of each leaf in `weights`; any number for other nodes.
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
    leaf_numbers: Numbers

    @property
    def targets(self) -> int:
        """The number of targets."""
        return self.weights.shape[1]

    @cached_property
    def numbered(self) -> tuple[Numbers, Numbers]:
        """The nodes in the order of their numbers, roots first, and for each node the number of its first child."""
        first = np.full(self.modes.size, -1, np.int64)
        low, high = np.where(self.modes == NOT_EQUAL, (self.true, self.false), (self.false, self.true))
        order, count, level = [self.roots], self.roots.size, self.roots
        while level.size:
            level = np.unique(level)
            level = level[(self.modes[level] != LEAF) & (first[level] < 0)]
            first[level] = count + 2 * np.arange(level.size)
            level = np.stack([low[level], high[level]], axis=1).reshape(-1)
            order.append(level)
            count += level.size
        nodes = np.concatenate(order)
        return nodes, np.where(self.modes[nodes] == LEAF, np.arange(nodes.size), first[nodes])

    @cached_property
    def depth(self) -> int:
        """The largest number of branch nodes on a path to a leaf; -1 if there is a cycle."""
        level, depth = np.unique(self.roots), 0
        while (level := level[self.modes[level] != LEAF]).size:
            level = np.unique(np.concatenate([self.true[level], self.false[level]]))
            depth += 1
            if depth > self.modes.size:
                return -1
        return depth

    @cached_property
    def leaves_of_trees(self) -> list[Numbers]:
        """The leaves of each tree, as rows of `weights`."""
        found: list[Numbers] = []
        for root in self.roots:
            level, leaves = np.array([root]), [np.zeros(0, np.int64)]
            while level.size:
                is_leaf = self.modes[level] == LEAF
                leaves.append(self.leaf_numbers[level[is_leaf]])
                level = level[~is_leaf]
                level = np.unique(np.concatenate([self.true[level], self.false[level]]))
            found.append(np.unique(np.concatenate(leaves)))
        return found

    @cached_property
    def always_scored(self) -> Flags:
        """For each target [C], whether every row gets a score, because all leaves of some tree have a score for it."""
        of_trees = np.stack([self.scored[leaves].all(axis=0) for leaves in self.leaves_of_trees])
        return np.logical_or.reduce(of_trees, axis=0)

    @cached_property
    def targets_of_trees(self) -> Numbers | None:
        """The target of each tree; None if some tree has leaves for several targets."""
        scored = np.stack([self.scored[leaves].any(axis=0) for leaves in self.leaves_of_trees])
        return None if (scored.sum(axis=1) > 1).any() else scored.argmax(axis=1)


def check(node: LoweringNode, ensemble: Ensemble) -> None:
    """Raise ConversionError for an inconsistent ensemble: nodes are missing, or form a cycle."""
    branches = ensemble.modes != LEAF
    children = np.concatenate([ensemble.true[branches], ensemble.false[branches]])
    if ensemble.roots.size == 0:
        node.fail("it has no trees")
    if ((children < 0) | (children >= ensemble.modes.size)).any():
        node.fail("a node has a child that does not exist")
    if ensemble.depth < 0:
        node.fail("its nodes form a circle")


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
"""The comparison for each mode: its result, 0 or 1, is added to the number of the first child.

For NOT_EQUAL it is equality, and the second child is the false one.
"""


def leaves(op: OpBuilder, ensemble: Ensemble, x: SSAValue) -> SSAValue:
    """The number of the node [N, T] at which each row of x [N, F] ends in each tree."""
    nodes, first = ensemble.numbered
    modes, trees = ensemble.modes[nodes], ensemble.roots.size
    features = np.where(modes == LEAF, 0, ensemble.features[nodes]).astype(np.int32)
    # The plugin computes in f32. What equals a threshold in f64 still does when both are rounded.
    with np.errstate(over="ignore"):
        thresholds = ensemble.thresholds[nodes].astype(np.float32)
    tables = [
        (compare, np.where(np.isin(modes, kinds), thresholds, np.float32(np.nan)))
        for kinds, compare in COMPARISONS.items()
        if np.isin(modes, kinds).any()
    ]
    tracks = (ensemble.tracks[nodes] & np.isin(modes, (*range(NOT_EQUAL),))).astype(np.int32)

    def step(value: SSAValue, read: Callable[[np.ndarray[Any, Any]], SSAValue]) -> SSAValue:
        found = [compare(op, value, read(table)) for compare, table in tables]
        if tracks.any():
            found.append(op.LogicalAnd(op.IsNaN(value), op.Equal(read(tracks), 1)))
        goes = found[0]
        for other in found[1:]:
            goes = op.LogicalOr(goes, other)
        return op.Add(read(first.astype(np.int32)), op.Convert(goes, destination_type=si32))

    if ensemble.depth == 0:
        return op.Broadcast(np.arange(trees, dtype=np.int32)[None], op.Concat(dimension_list(op, x, 0), [trees], axis=0))
    reached = step(op.Gather(x, features[:trees], 1), lambda table: op.constant(table[None, :trees]))
    if ensemble.depth > 1:
        elements, starts = _flattened(op, x)
        for _ in range(1, ensemble.depth):
            current = reached
            value = op.Gather(elements, op.Add(op.Gather(features, current, 0), starts), 0)
            reached = step(value, lambda table, current=current: op.Gather(table, current, 0))
    return reached


def _flattened(op: OpBuilder, x: SSAValue) -> tuple[SSAValue, SSAValue]:
    """The elements of x [N, F] as a list, and where in it each row starts [N, 1]."""
    shape = shape_of(x)
    elements = op.Reshape(x, [-1], special_zero=False)
    if shape is not None and shape[0] == 1:
        return elements, op.constant(np.zeros((1, 1), np.int32))
    sizes = op.ShapeOf(x, output_type=si32)
    count, width = (op.Gather(sizes, axis, 0) for axis in (0, 1))
    numbers = op.Range(np.array(0, np.int32), count, np.array(1, np.int32), output_type=si32)
    return elements, op.Unsqueeze(op.Multiply(numbers, width), [1])


REDUCTIONS = {"SUM": "ReduceSum", "AVERAGE": "ReduceSum", "MIN": "ReduceMin", "MAX": "ReduceMax"}


def scores(op: OpBuilder, ensemble: Ensemble, reached: SSAValue, aggregate: str) -> SSAValue:
    """The aggregated weights [N, C] of the leaves that rows have reached; for AVERAGE these are sums, too."""
    nodes, _ = ensemble.numbered
    is_leaf = ensemble.modes[nodes] == LEAF
    rows = np.where(is_leaf, ensemble.leaf_numbers[nodes], 0)
    sums = REDUCTIONS[aggregate] == "ReduceSum"
    if (ensemble.targets == 1 and (sums or ensemble.scored.all())) or (sums and ensemble.targets_of_trees is not None):
        # One number for each tree.
        weights = np.where(is_leaf, ensemble.weights.sum(axis=1)[rows], 0).astype(np.float32)
        found = op.Gather(weights, reached, 0)
        if ensemble.targets == 1:
            return getattr(op, REDUCTIONS[aggregate])(found, [1], keep_dims=True)
        return op.MatMul(found, np.eye(ensemble.targets, dtype=np.float32)[ensemble.targets_of_trees])
    absent = {"ReduceSum": 0, "ReduceMin": np.inf, "ReduceMax": -np.inf}[REDUCTIONS[aggregate]]
    weights = np.where(ensemble.scored, ensemble.weights, absent).astype(np.float32)
    found = op.Gather(weights, op.Gather(rows.astype(np.int32), reached, 0), 0)
    return getattr(op, REDUCTIONS[aggregate])(found, [1], keep_dims=False)


def scored(op: OpBuilder, ensemble: Ensemble, reached: SSAValue) -> SSAValue | None:
    """Whether a row has a score for each target, [N, C] or [1, C]; None if it has one for all targets."""
    if ensemble.always_scored.all():
        return None
    if (ensemble.always_scored == ensemble.scored.any(axis=0)).all():
        return op.constant(ensemble.always_scored[None])
    nodes, _ = ensemble.numbered
    rows = np.where(ensemble.modes[nodes] == LEAF, ensemble.leaf_numbers[nodes], 0).astype(np.int32)
    found = op.Gather(ensemble.scored.astype(np.float32), op.Gather(rows, reached, 0), 0)
    return op.Less(0.0, op.ReduceMax(found, [1], keep_dims=False))
