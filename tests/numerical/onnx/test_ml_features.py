"""Preparation of features and look-ups of the domain ai.onnx.ml, against ONNX Runtime."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import moir
from moir.dialects.moir import ModuleLevel, models_of
from moir.dialects.properties import value_of
from moir.errors import ConversionError
from tests.numerical.onnx.conversion import build, check, convert, node
from tests.numerical.onnx.node_case import COMPLETE, STATIC, NodeCase
from tests.numerical.runtime import Array

RANDOM = np.random.default_rng(23)

ml = partial(node, domain="ai.onnx.ml")

ROWS = RANDOM.standard_normal((5, 4)).astype(np.float32)
NUMBERS = [np.float32, np.float64, np.int64, np.int32]
RANKED = ("static", "dynamic")


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("count", [1, 4])
def test_scaler(dtype: type, count: int) -> None:
    lists = {"offset": [0.1, 2.0, -3.0, 0.5][:count], "scale": [2.0, -1.0, 0.25, 3.0][:count]}
    check([ml("Scaler", ["x"], ["y"], **lists)], {"x": (ROWS * 4).astype(dtype)}, operations=3)
    check([ml("Scaler", ["x"], ["y"], **lists)], {"x": (ROWS[0] * 4).astype(dtype)})


@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("norm", ["MAX", "L1", "L2"])
def test_normalizer(dtype: type, norm: str) -> None:
    rows = (ROWS * 4).astype(dtype)
    rows[1] = 0
    check([ml("Normalizer", ["x"], ["y"], norm=norm)], {"x": rows})
    check([ml("Normalizer", ["x"], ["y"], norm=norm)], {"x": rows[0]})


@pytest.mark.parametrize("replaced", [float("nan"), 1.0])
@pytest.mark.parametrize("imputed", [[7.0], [1.0, 2.0, 3.0, 4.0], [5.0, 6.0]])
def test_imputer_of_floats(replaced: float, imputed: list[float]) -> None:
    rows = np.where(RANDOM.random((5, 4)) < 0.3, np.float32(np.nan), np.round(ROWS))
    model = [ml("Imputer", ["x"], ["y"], imputed_value_floats=imputed, replaced_value_float=replaced)]
    check(model, {"x": rows}, forms=["static"] if len(imputed) == 2 else ["static", "dynamic", "rank"])


def test_imputer_of_integers() -> None:
    model = [ml("Imputer", ["x"], ["y"], imputed_value_int64s=[1, 2, 3, 4], replaced_value_int64=-1)]
    check(model, {"x": RANDOM.integers(-2, 3, (5, 4))})


@pytest.mark.parametrize("threshold", [0.0, 0.5, -1.5, 2.0])
def test_binarizer(threshold: float) -> None:
    model = [ml("Binarizer", ["x"], ["y"], threshold=threshold)]
    check(model, {"x": np.round(ROWS * 2) / 2})
    expected = [(np.arange(-3, 4) > threshold).astype(np.int64)]
    check(model, {"x": np.arange(-3, 4)}, expected=expected)


@pytest.mark.parametrize("dtype", [*NUMBERS, object])
def test_array_feature_extractor(dtype: type) -> None:
    x = np.arange(24).astype(dtype).reshape(2, 3, 4)
    x = x.astype(str).astype(object) if dtype is object else x
    indices = np.array([[3, 0]])
    for data in (x, x[0], x[0, 0]):
        model = [ml("ArrayFeatureExtractor", ["x", "i"], ["y"])]
        check(model, {"x": data}, constants={"i": indices}, forms=RANKED)
        check(model, {"x": data, "i": indices}, forms=RANKED)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_feature_vectorizer(dtype: type) -> None:
    shapes = {"a": (5, 2), "b": (5, 3), "c": (5, 2, 2), "d": (5, 1)}
    inputs: dict[str, Array] = {name: RANDOM.integers(0, 9, shape).astype(dtype) for name, shape in shapes.items()}
    check([ml("FeatureVectorizer", [*inputs], ["y"], inputdimensions=[2, 3, 4, 1])], inputs, forms=RANKED)
    check([ml("FeatureVectorizer", [*inputs], ["y"], inputdimensions=[1, 5, 4, 1])], inputs, forms=RANKED)
    check([ml("FeatureVectorizer", ["a"], ["y"], inputdimensions=[3])], {"a": inputs["a"][0]}, forms=RANKED)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_one_hot_encoder_of_numbers(dtype: type) -> None:
    x = RANDOM.integers(-2, 6, (3, 4)).astype(dtype)
    if dtype is np.float32:
        x += np.float32(0.4)
    expected = None if dtype is not np.int32 else [(x[..., None] == [4, 0, 1]).astype(np.float32)]
    check([ml("OneHotEncoder", ["x"], ["y"], cats_int64s=[4, 0, 1])], {"x": x}, expected=expected)
    expected = None if dtype is not np.int32 else [(x[..., None] == [99, 4, 0]).astype(np.float32)]
    check([ml("OneHotEncoder", ["x"], ["y"], cats_int64s=[0, 4, 0])], {"x": x}, expected=expected)


def texts(*shape: int) -> Array:
    return RANDOM.choice(np.array(["a", "bc", "", "Größe", "bcd", "?"], object), shape)


def test_one_hot_encoder_of_strings() -> None:
    check([ml("OneHotEncoder", ["x"], ["y"], cats_strings=["bc", "Größe", "", "bc"])], {"x": texts(3, 4)})


LISTS: dict[str, list[Any]] = {
    "int64s": [3, -1, 7, 3],
    "floats": [0.5, -1.0, float("nan"), 0.5],
    "strings": ["a", "bc", "Größe", "a"],
}
DEFAULTS = {"int64s": ("default_int64", 11), "floats": ("default_float", 0.75), "strings": ("default_string", "none")}


def data_of(keys: str) -> Array:
    """Elements that are keys and others."""
    if keys == "strings":
        return texts(3, 5)
    numbers: Array = RANDOM.choice(np.array([*LISTS[keys], 0, 5]), (3, 5))
    return numbers.astype(np.int64 if keys == "int64s" else np.float32)


@pytest.mark.parametrize("values", LISTS)
@pytest.mark.parametrize("keys", LISTS)
@pytest.mark.parametrize("with_default", [True, False])
def test_label_encoder(keys: str, values: str, with_default: bool) -> None:
    attributes = {f"keys_{keys}": LISTS[keys], f"values_{values}": LISTS[values][::-1]}
    if with_default:
        attributes |= dict([DEFAULTS[values]])
    check([ml("LabelEncoder", ["x"], ["y"], **attributes)], {"x": data_of(keys)}, domain_version=4)


@pytest.mark.parametrize(("keys", "values"), [(np.float64, np.float64), (np.int16, np.int16), (np.int64, np.int16), (np.float64, np.int64)])
def test_label_encoder_of_tensors(keys: type, values: type) -> None:
    attributes = {
        "keys_tensor": numpy_helper.from_array(np.array([3, -1, 7, 3], keys)),
        "values_tensor": numpy_helper.from_array(np.array([1, 2, 3, 4], values)),
        "default_tensor": numpy_helper.from_array(np.array([9], values)),
    }
    x = np.array([[3, 7, 0], [-1, 5, 100]], keys)
    expected = np.array([[1, 3, 9], [2, 9, 9]], values)
    check([ml("LabelEncoder", ["x"], ["y"], **attributes)], {"x": x}, domain_version=4, expected=[expected])


def test_label_encoder_of_version_1() -> None:
    attributes = {"classes_strings": ["a", "bc", "Größe"], "default_string": "none", "default_int64": -7}
    check([ml("LabelEncoder", ["x"], ["y"], **attributes)], {"x": texts(3, 5)})
    check([ml("LabelEncoder", ["x"], ["y"], **attributes)], {"x": RANDOM.integers(-1, 5, (3, 5))})


def test_category_mapper() -> None:
    attributes = {"cats_strings": ["a", "bc", "Größe"], "cats_int64s": [3, 1, 5], "default_string": "none", "default_int64": -7}
    check([ml("CategoryMapper", ["x"], ["y"], **attributes)], {"x": texts(3, 5)})
    check([ml("CategoryMapper", ["x"], ["y"], **attributes)], {"x": RANDOM.integers(0, 7, (3, 5))})


@pytest.mark.parametrize("labels", [{"classlabels_int64s": [4, 5, 6, 7]}, {"classlabels_strings": [*"abcd"]}])
def test_maps_become_tensors(labels: dict[str, Any], tmp_path: Path) -> None:
    nodes = [ml("Normalizer", ["x"], ["p"], norm="L1"), ml("ZipMap", ["p"], ["y"], name="zip", **labels)]
    check(nodes, {"x": ROWS}, expected=[ROWS / np.abs(ROWS).sum(1, keepdims=True)], forms=["dynamic"])
    onnx.save(build(nodes, {"x": ROWS}), tmp_path / "model.onnx")
    (model,) = models_of(moir.convert_model(tmp_path / "model.onnx"))
    (note,) = value_of(model.attributes[ModuleLevel.NOTES])
    assert note.startswith("left out ZipMap 'zip'")
    assert note.endswith(", ".join(map(str, next(iter(labels.values())))))


def test_maps_as_inputs_are_refused(tmp_path: Path) -> None:
    element = helper.make_tensor_type_proto(onnx.TensorProto.FLOAT, [])
    input_ = helper.make_value_info("x", helper.make_map_type_proto(onnx.TensorProto.INT64, element))
    graph = helper.make_graph(
        [ml("DictVectorizer", ["x"], ["y"], int64_vocabulary=[1, 2])], "maps", [input_], [helper.make_empty_tensor_value_info("y")]
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("ai.onnx.ml", 1)], ir_version=8), tmp_path / "model.onnx")
    with pytest.raises(ConversionError, match="map"):
        moir.convert_model(tmp_path / "model.onnx")


@pytest.mark.parametrize(
    ("kind", "attributes", "reason"),
    [
        ("DictVectorizer", {"int64_vocabulary": [1, 2]}, "map"),
        ("Scaler", {"offset": [1.0]}, "1 offsets and 0 scales"),
        ("Normalizer", {"norm": "L3"}, "'L3' does not exist"),
        ("Imputer", {"imputed_value_int64s": [1]}, "of another type"),
        ("OneHotEncoder", {"cats_strings": ["a"]}, "of another type"),
        ("LabelEncoder", {"keys_int64s": [1, 2], "values_int64s": [1]}, "2 keys and 1 values"),
        ("LabelEncoder", {"keys_int64s": [1, 2]}, "it has no values"),
        ("FeatureVectorizer", {"inputdimensions": [1, 2]}, "1 operands and 2"),
    ],
)
def test_what_cannot_be_computed(kind: str, attributes: dict[str, Any], reason: str, tmp_path: Path) -> None:
    with pytest.raises(ConversionError, match=reason):
        convert(build([ml(kind, ["x"], ["y"], **attributes)], {"x": ROWS}, domain_version=4), tmp_path)


LETTERS = np.array(["a", "b", "c"] * 50, object).reshape(5, 30)

NODES: dict[str, NodeCase] = {
    "LabelEncoder of many constants": NodeCase(
        "LabelEncoder",
        {},
        {"x": LETTERS},
        attributes={"keys_strings": ["a", "c"], "values_strings": ["x", "yy"], "default_string": "none", "domain": "ai.onnx.ml"},
        options=COMPLETE | STATIC | {"domain_version": 4},
    ),
}


@pytest.mark.parametrize("case", NODES.values(), ids=NODES)
def test_node(case: NodeCase) -> None:
    case.check()
