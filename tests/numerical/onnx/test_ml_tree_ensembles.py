"""Ensembles of decision trees of the domain ai.onnx.ml, against ONNX Runtime."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from onnx import numpy_helper

from moir.errors import ConversionError
from moir.lowering.onnx.ml.trees import LEAF, MOST_UNROLLED, Ensemble
from tests.numerical.onnx.conversion import build, check, convert, expected_results, node

RANDOM = np.random.default_rng(21)
FEATURES = 4
BRANCHES = ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"]
TRANSFORMS = ["NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"]

TOLERANCES = dict.fromkeys(TRANSFORMS, 1e-5) | {"PROBIT": 1e-3}
"""The approximation of PROBIT cancels digits where it is near 0."""

ml = partial(node, domain="ai.onnx.ml")
check_ml = partial(check, domain_version=3, opset=17)

ROWS = np.round(RANDOM.standard_normal((37, FEATURES)) * 2).astype(np.float32) / 2
"""Multiples of a half, so that comparisons meet equal numbers."""


def trees(
    count: int,
    depth: int = 3,
    modes: list[str] | None = None,
    tracks: bool = False,
    own: str = "target",
    targets: int = 1,
    ids: str = "all",
) -> dict[str, Any]:
    """Random trees in the attributes of a node.

    `ids` says which targets a leaf has weights for: all, one that is drawn, that of the tree, or the number given.
    """
    attributes: dict[str, Any] = {
        f"nodes_{name}": [] for name in ("treeids", "nodeids", "featureids", "modes", "values", "truenodeids", "falsenodeids")
    }
    attributes |= {f"{own}_{name}": [] for name in ("treeids", "nodeids", "ids", "weights")}
    tracked: list[int] = []
    for tree in range(count):
        numbers = iter(range(1, 1 << (depth + 2)))

        def add(number: int, level: int, tree: int = tree, numbers: Any = numbers) -> None:
            leaf = level == depth or (level > 0 and RANDOM.random() < 0.2)
            children = (0, 0) if leaf else (next(numbers), next(numbers))
            row = {
                "treeids": tree,
                "nodeids": number,
                "featureids": int(RANDOM.integers(FEATURES)),
                "modes": "LEAF" if leaf else str(RANDOM.choice(modes or ["BRANCH_LEQ"])),
                "values": float(np.round(RANDOM.standard_normal() * 2) / 2),
                "truenodeids": children[0],
                "falsenodeids": children[1],
            }
            for name, value in row.items():
                attributes[f"nodes_{name}"].append(value)
            tracked.append(int(RANDOM.integers(2)))
            if leaf:
                drawn = {"all": list(range(targets)), "one": [int(RANDOM.integers(targets))], "tree": [tree % targets]}
                for target in drawn.get(ids) or [int(ids)]:
                    results = {"treeids": tree, "nodeids": number, "ids": target, "weights": float(RANDOM.standard_normal())}
                    for name, value in results.items():
                        attributes[f"{own}_{name}"].append(value)
            else:
                for child in children:
                    add(child, level + 1)

        add(0, 0)
    return attributes | ({"nodes_missing_value_tracks_true": tracked} if tracks else {})


def regressor(attributes: dict[str, Any], targets: int = 1, **others: Any) -> list[Any]:
    return [ml("TreeEnsembleRegressor", ["x"], ["y"], n_targets=targets, **attributes, **others)]


def classifier(attributes: dict[str, Any], labels: list[Any], **others: Any) -> list[Any]:
    name = "classlabels_strings" if isinstance(labels[0], str) else "classlabels_int64s"
    return [ml("TreeEnsembleClassifier", ["x"], ["label", "scores"], **{name: labels}, **attributes, **others)]


@pytest.mark.parametrize("mode", BRANCHES)
def test_modes(mode: str) -> None:
    check_ml(regressor(trees(5, modes=[mode])), {"x": ROWS})


def test_mixed_modes() -> None:
    check_ml(regressor(trees(20, depth=5, modes=BRANCHES)), {"x": ROWS})


@pytest.mark.parametrize("modes", [["BRANCH_LEQ"], ["BRANCH_LT"], ["BRANCH_GTE"], ["BRANCH_GT"], ["BRANCH_EQ", "BRANCH_NEQ"], BRANCHES])
@pytest.mark.parametrize("tracks", [False, True])
def test_missing_values(modes: list[str], tracks: bool) -> None:
    rows = np.where(RANDOM.random(ROWS.shape) < 0.4, np.float32(np.nan), ROWS)
    check_ml(regressor(trees(10, modes=modes, tracks=tracks)), {"x": rows}, forms=["dynamic"])


@pytest.mark.parametrize("aggregate", ["SUM", "AVERAGE", "MIN", "MAX"])
@pytest.mark.parametrize(("targets", "ids"), [(1, "all"), (3, "all"), (3, "one"), (3, "tree"), (3, "1")])
def test_aggregation(aggregate: str, targets: int, ids: str) -> None:
    attributes = trees(7, targets=targets, ids=ids)
    for base in ({}, {"base_values": [0.5, -1.0, 2.0][:targets]}):
        check_ml(regressor(attributes, targets, aggregate_function=aggregate, **base), {"x": ROWS}, forms=["dynamic"])


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("targets", [1, 3])
def test_transforms_of_targets(transform: str, targets: int) -> None:
    attributes = trees(3, targets=targets)
    attributes["target_weights"] = [abs(weight) % 0.3 + 0.01 for weight in attributes["target_weights"]]
    check_ml(regressor(attributes, targets, post_transform=transform), {"x": ROWS}, forms=["dynamic"], atol=TOLERANCES[transform])


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64, np.int32])
def test_element_types(dtype: type) -> None:
    if dtype in (np.float32, np.float64):
        check_ml(regressor(trees(5, modes=["BRANCH_LT"])), {"x": (ROWS * 2).astype(dtype)}, forms=["dynamic"])
    check_ml(classifier(trees(5, own="class", targets=3), [4, 5, 6]), {"x": (ROWS * 2).astype(dtype)}, forms=["dynamic"])


def test_thresholds_in_double_precision() -> None:
    """Decimal numbers, of which many are equal, and none of which is a number in single precision."""
    attributes = trees(9, depth=4, modes=BRANCHES)
    attributes["nodes_values_as_tensor"] = numpy_helper.from_array(np.array(attributes.pop("nodes_values")) / 5 + 0.1)
    attributes["target_weights_as_tensor"] = numpy_helper.from_array(np.array(attributes.pop("target_weights")))
    check_ml(regressor(attributes), {"x": ROWS.astype(np.float64) / 5 + 0.1}, forms=["dynamic"])


@pytest.mark.parametrize("labels", [[3, 1, 2], [0, 1, 2], ["one", "two", "Größe"]])
@pytest.mark.parametrize("ids", ["all", "one", "tree", "1"])
def test_several_classes(labels: list[Any], ids: str) -> None:
    attributes = trees(6, own="class", targets=3, ids=ids)
    for base in ({}, {"base_values": [0.5, -1.0, 2.0]}):
        check_ml(classifier(attributes, labels, **base), {"x": ROWS}, forms=["dynamic"])


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_transforms_of_classes(transform: str) -> None:
    check_ml(
        classifier(trees(3, own="class", targets=3), [0, 1, 2], post_transform=transform),
        {"x": ROWS},
        forms=["dynamic"],
        atol=TOLERANCES[transform],
    )


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("base", [[], [0.1], [0.1, 0.2]])
@pytest.mark.parametrize("ids", ["0", "1", "all", "one"])
@pytest.mark.parametrize("positive", [True, False])
def test_two_classes(transform: str, base: list[float], ids: str, positive: bool) -> None:
    attributes = trees(3, own="class", targets=2, ids=ids)
    if ids == "one":
        # Each tree has leaves of both classes.
        attributes["class_ids"] = [number % 2 for number in range(len(attributes["class_ids"]))]
    if positive:
        attributes["class_weights"] = [abs(weight) / 4 for weight in attributes["class_weights"]]
    model = classifier(attributes, [7, 9], post_transform=transform, **({"base_values": base} if base else {}))
    undefined = base != [0.1, 0.2] and ((ids in "0one" and transform == "PROBIT") or (ids == "one" and bool(base)))
    if undefined:
        with pytest.raises(ConversionError, match=r"not defined|not supported"):
            check_ml(model, {"x": ROWS}, forms=["dynamic"])
    else:
        check_ml(model, {"x": ROWS}, forms=["dynamic"], atol=TOLERANCES[transform])


@pytest.mark.parametrize("base", [[], [0.1]])
def test_one_class(base: list[float]) -> None:
    attributes = trees(3, own="class") | ({"base_values": base} if base else {})
    check_ml(classifier(attributes, [7]), {"x": ROWS}, forms=["dynamic"])


def test_trees_of_one_leaf_and_single_rows() -> None:
    check_ml(regressor(trees(3, depth=0)), {"x": ROWS})
    check_ml(regressor(trees(3, depth=1)), {"x": ROWS[:1]})
    check_ml(regressor(trees(3, depth=3)), {"x": ROWS[:1]})


def test_many_deep_trees_take_few_operations() -> None:
    check_ml(regressor(trees(100, depth=8)), {"x": ROWS}, operations=70)


def chain(depth: int) -> dict[str, Any]:
    """A tree whose nodes compare feature 0 with 0, 1, 2, … in a row, with a leaf for each."""
    branches, leaves = range(depth), range(depth, 2 * depth + 1)
    false = [*range(1, depth), 2 * depth]
    count = 2 * depth + 1
    return {
        "nodes_treeids": [0] * count,
        "nodes_nodeids": [*branches, *leaves],
        "nodes_featureids": [0] * count,
        "nodes_modes": ["BRANCH_LEQ"] * depth + ["LEAF"] * len(leaves),
        "nodes_values": [float(each) for each in branches] + [0.0] * len(leaves),
        "nodes_truenodeids": [depth + each for each in branches] + [0] * len(leaves),
        "nodes_falsenodeids": false + [0] * len(leaves),
        "target_treeids": [0] * len(leaves),
        "target_nodeids": [*leaves],
        "target_ids": [0] * len(leaves),
        "target_weights": [float(each) for each in range(len(leaves))],
    }


@pytest.mark.parametrize("depth", [MOST_UNROLLED, MOST_UNROLLED + 1, 700])
def test_deep_trees(depth: int) -> None:
    rows = np.linspace(-1, depth + 1, 50, dtype=np.float32)[:, None]
    check_ml(regressor(chain(depth)), {"x": rows}, operations=12 * MOST_UNROLLED)
    check_ml(regressor(chain(depth)), {"x": rows[-1:]})


def test_trees_that_share_all_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    ensemble = Ensemble(**chain_of_roots(500))
    assert ensemble.depth == 500
    assert [each.size for each in ensemble.leaves_of_trees or ()] == [*range(501, 1, -1)]
    monkeypatch.setattr("moir.lowering.onnx.ml.trees.MOST_VISITS", 10_000)
    assert Ensemble(**chain_of_roots(500)).leaves_of_trees is None


def chain_of_roots(depth: int) -> dict[str, Any]:
    """A chain of nodes each of which is the root of a tree."""
    count = 2 * depth + 1
    is_leaf = np.arange(count) >= depth
    return {
        "roots": np.arange(depth),
        "modes": np.where(is_leaf, LEAF, 0),
        "features": np.zeros(count, np.int64),
        "thresholds": np.zeros(count),
        "tracks": np.zeros(count, np.bool_),
        "true": np.arange(count) + depth,
        "false": np.where(np.arange(count) == depth - 1, 2 * depth, np.arange(count) + 1),
        "weights": np.ones((depth + 1, 1)),
        "scored": np.ones((depth + 1, 1), np.bool_),
        "leaf_ids": np.maximum(np.arange(count) - depth, 0),
    }


def version_5(targets: int = 2, dtype: type = np.float32) -> dict[str, Any]:
    """Two trees: one compares for membership and equality, the other is a leaf."""
    splits = np.array([0.5, 232.0, -1.0, 1.5, 0.0], dtype)
    return {
        "n_targets": targets,
        "nodes_featureids": [0, 1, 2, 0, 0],
        "nodes_modes": numpy_helper.from_array(np.array([0, 6, 6, 5, 0], np.uint8)),
        "nodes_splits": numpy_helper.from_array(splits),
        "nodes_truenodeids": [1, 0, 3, 3, 4],
        "nodes_falsenodeids": [2, 1, 4, 2, 4],
        "nodes_trueleafs": [0, 1, 0, 1, 1],
        "nodes_falseleafs": [0, 1, 1, 1, 1],
        "nodes_missing_value_tracks_true": [0, 1, 0, 0, 0],
        "leaf_targetids": [0, 1, 0, 1, 0],
        "leaf_weights": numpy_helper.from_array(np.array([5.23, 12.12, -12.23, 7.21, 0.25], dtype)),
        "membership_values": numpy_helper.from_array(np.array([2.0, 1.0, 40.0, np.nan, 3.0, np.nan], dtype)),
        "tree_roots": [0, 4],
    }


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("aggregate", range(4))
def test_ensemble(dtype: type, aggregate: int) -> None:
    # ONNX Runtime takes 1.5 for a member of {1}.
    whole = np.trunc(ROWS)
    rows = np.concatenate([whole, np.where(RANDOM.random(ROWS.shape) < 0.4, np.nan, whole)]).astype(dtype)
    model = [ml("TreeEnsemble", ["x"], ["y"], aggregate_function=aggregate, **version_5(dtype=dtype))]
    check(model, {"x": rows}, domain_version=5)


def test_ensemble_in_half_precision() -> None:
    """ONNX Runtime does not have it."""
    expected = expected_results(
        build([ml("TreeEnsemble", ["x"], ["y"], **version_5())], {"x": ROWS}, domain_version=5), {"x": ROWS}, "onnx"
    )
    rows = ROWS.astype(np.float16)
    model = [ml("TreeEnsemble", ["x"], ["y"], **version_5(dtype=np.float16))]
    check(model, {"x": rows}, domain_version=5, expected=[expected[0].astype(np.float16)], rtol=1e-2)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        (lambda given: given | {"nodes_values": given["nodes_values"][1:]}, "different lengths"),
        (lambda given: given | {"nodes_nodeids": [0] * len(given["nodes_nodeids"])}, "same number"),
        (lambda given: given | {"nodes_truenodeids": [99] * len(given["nodes_nodeids"])}, "child that does not exist"),
        (lambda given: given | {"nodes_truenodeids": [0] * len(given["nodes_nodeids"])}, "cycle"),
        (lambda given: given | {"target_ids": [5] * len(given["target_ids"])}, "target that does not exist"),
        (lambda given: given | {"nodes_featureids": [40] * len(given["nodes_nodeids"])}, "look at feature 40"),
        (lambda given: given | {"post_transform": "CUBE"}, "'CUBE' does not exist"),
        (lambda given: given | {"aggregate_function": "MODE"}, "'MODE' do not exist"),
    ],
)
def test_what_is_no_ensemble(attributes: Any, reason: str, tmp_path: Any) -> None:
    with pytest.raises(ConversionError, match=reason):
        convert(build(regressor(attributes(trees(2))), {"x": ROWS}, domain_version=3, opset=17), tmp_path)
