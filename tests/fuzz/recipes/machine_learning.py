"""Operations of the domain ai.onnx.ml."""

from __future__ import annotations

import numpy as np

from tests.fuzz.draw import Draw
from tests.fuzz.signature import Signature, Values, recipe


@recipe("ArrayFeatureExtractor")
def features(draw: Draw, signature: Signature) -> Values:
    shape = draw.filled(1, 3)
    return {"X": draw.array(signature.dtype("X"), shape), "Y": draw.between(np.int64, [draw.integer(1, 3)], 0, shape[-1] - 1)}


@recipe("Binarizer")
def binarize(draw: Draw, signature: Signature) -> Values:
    return {"X": draw.array(signature.dtype(), draw.shape()), "threshold": draw.one_of((0.0, 1.0, -0.5))}


@recipe("Scaler")
def scale(draw: Draw, signature: Signature) -> Values:
    shape = [draw.integer(1, 4), draw.integer(1, 4)]
    count = draw.one_of((1, shape[1]))
    numbers = [draw.one_of((0.5, 1.0, -2.0)) for _ in range(2 * count)]
    return {"X": draw.array(signature.dtype(), shape), "offset": numbers[:count], "scale": numbers[count:]}


@recipe("Normalizer")
def normalize(draw: Draw, signature: Signature) -> Values:
    return {"X": draw.array(signature.dtype(), draw.filled(1, 2), special=0), "norm": draw.one_of(("MAX", "L1", "L2"))}


@recipe("Imputer")
def impute(draw: Draw, signature: Signature) -> Values:
    shape = [draw.integer(1, 4), draw.integer(1, 4)]
    x = draw.array(signature.dtype(), shape, special=0.5)
    if x.dtype.kind in "iu":
        return {"X": x, "imputed_value_int64s": [7], "replaced_value_int64": 0, "imputed_value_floats": None, "replaced_value_float": None}
    return {
        "X": x,
        "imputed_value_floats": draw.one_of(([1.5], [0.5] * shape[1])),
        "imputed_value_int64s": None,
        "replaced_value_int64": None,
        "replaced_value_float": draw.one_of((float("nan"), 0.0)),
    }


@recipe("LinearRegressor")
def regress(draw: Draw, signature: Signature) -> Values:
    rows, inputs, targets = draw.integer(1, 3), draw.integer(1, 4), draw.integer(1, 3)
    coefficients = draw.array(np.dtype(np.float32), [targets * inputs], special=0)
    return {
        "X": draw.array(signature.dtype(), [rows, inputs], special=0),
        "coefficients": [float(each) for each in coefficients],
        "intercepts": [0.5] * targets,
        "targets": targets,
        "post_transform": "NONE",
    }


@recipe("LinearClassifier")
def classify(draw: Draw, signature: Signature) -> Values:
    rows, inputs, classes = draw.integer(1, 3), draw.integer(1, 4), draw.integer(2, 4)
    coefficients = draw.array(np.dtype(np.float32), [classes * inputs], special=0)
    labels: Values = {"classlabels_ints": list(range(classes)), "classlabels_strings": None}
    if draw.chance(0.3):
        labels = {"classlabels_strings": [f"c{number}" for number in range(classes)], "classlabels_ints": None}
    return labels | {
        "X": draw.array(signature.dtype(), [rows, inputs], special=0),
        "coefficients": [float(each) for each in coefficients],
        "intercepts": [0.5] * classes,
        "multi_class": 0,
        "post_transform": draw.one_of(("NONE", "SOFTMAX", "LOGISTIC")),
    }


@recipe("OneHotEncoder")
def one_hot(draw: Draw, signature: Signature) -> Values:
    values: Values = {
        "X": draw.array(signature.dtype(), draw.shape(1, 3), special=0),
        "zeros": 1,
        "cats_int64s": None,
        "cats_strings": None,
    }
    return values | ({"cats_strings": ["a", "B", "abc"]} if signature.dtype().kind in "OUS" else {"cats_int64s": [0, 1, 5]})


@recipe("LabelEncoder")
def encode(draw: Draw, signature: Signature) -> Values:
    result: Values = dict.fromkeys(signature.schema.attributes)
    x = draw.array(signature.dtype("X"), draw.shape(), special=0)
    keys = {"O": ("keys_strings", ["a", "B", "abc"]), "i": ("keys_int64s", [1, 2, -3]), "f": ("keys_floats", [0.5, 1.0, float("nan")])}
    name, values = keys["O" if x.dtype.kind in "OUS" else x.dtype.kind]
    targets = (("values_int64s", [4, 5, 6]), ("values_strings", ["x", "y", "z"]), ("values_floats", [0.5, 1.5, 2.5]))
    target, results = draw.one_of(targets)
    return result | {"X": x, name: values, target: results}


@recipe("FeatureVectorizer")
def join(draw: Draw, signature: Signature) -> Values:
    rows, sizes = draw.integer(1, 3), draw.integers(draw.integer(1, 3), 1, 3)
    return {"X": [draw.array(signature.dtype("X"), [rows, size], special=0) for size in sizes], "inputdimensions": sizes}


@recipe("TreeEnsembleRegressor")
def trees(draw: Draw, signature: Signature) -> Values:
    inputs, count = draw.integer(1, 3), draw.integer(1, 3)
    results: Values = {name: [] for name in TREE_LISTS}
    for tree in range(count):
        _grow(draw, results, tree, inputs, draw.integer(1, 3))
    return results | {
        "X": draw.array(signature.dtype(), [draw.integer(1, 4), inputs], special=0),
        "n_targets": 1,
        "post_transform": "NONE",
        "aggregate_function": draw.one_of(("SUM", "AVERAGE", "MIN", "MAX")),
        "base_values": None,
        "nodes_hitrates": None,
        **{f"{name}_as_tensor": None for name in ("nodes_values", "nodes_hitrates", "target_weights", "base_values")},
    }


TREE_LISTS = (
    "nodes_treeids",
    "nodes_nodeids",
    "nodes_featureids",
    "nodes_values",
    "nodes_modes",
    "nodes_truenodeids",
    "nodes_falsenodeids",
    "nodes_missing_value_tracks_true",
    "target_treeids",
    "target_nodeids",
    "target_ids",
    "target_weights",
)


def _grow(draw: Draw, result: Values, tree: int, inputs: int, depth: int) -> None:
    """Append the nodes of a full tree: node `n` has the children `2 n + 1` and `2 n + 2`."""
    mode = draw.one_of(("BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT"))
    for node in range(2 ** (depth + 1) - 1):
        leaf = node >= 2**depth - 1
        row = (
            tree,
            node,
            draw.integer(0, inputs - 1),
            draw.one_of((-1.0, 0.0, 0.5)),
            "LEAF" if leaf else mode,
            0 if leaf else 2 * node + 1,
            0 if leaf else 2 * node + 2,
            draw.integer(0, 1),
        )
        for name, value in zip(TREE_LISTS[:8], row, strict=True):
            result[name].append(value)
        if leaf:
            for name, value in zip(TREE_LISTS[8:], (tree, node, 0, draw.one_of((1.0, -2.0, 0.25))), strict=True):
                result[name].append(value)
