"""Files of TensorFlow.js that are damaged, incomplete or hostile: errors of one line that say what is wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import moir
from moir.errors import ModelFileError, MoirError
from moir.files.recognition import framework_of_file
from moir.frontends.tensorflow_js.weights import read_weights
from tests.unit.frontends.tensorflow_js.exporter import functional, input_layer, keras_topology, layer, written_model, written_weights

VALUES = {"fc/kernel": np.ones((4, 3), np.float32), "fc/bias": np.zeros(3, np.float32)}
TOPOLOGY = keras_topology(functional([input_layer("x", [4]), layer("Dense", "fc", ["x"], units=3, use_bias=True)], ["x"], ["fc"]))
GRAPH = {"node": [{"name": "x", "op": "Placeholder", "attr": {"dtype": {"type": "DT_FLOAT"}}}]}


def refused(path: Path, reason: str) -> None:
    """Assert that a model is refused with a reason, in one line that names the file."""
    with pytest.raises(MoirError, match=reason) as raised:
        moir.read_model(path)
    assert "\n" not in str(raised.value)
    assert len(str(raised.value)) < 600


def model(folder: Path, **entry: Any) -> Path:
    """A model whose first weight has other fields in the manifest."""
    manifest = written_weights(folder, [VALUES])
    manifest[0]["weights"][0] |= entry
    return written_model(folder, TOPOLOGY, manifest)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"shape": [400, 3]}, "'fc/kernel': it is at bytes 0 to 4800, its group has 1 files with 60 bytes"),
        ({"shape": [1 << 40, 1 << 40]}, "larger than any memory"),
        ({"shape": [-1, 3]}, "is not a shape"),
        ({"shape": [True]}, "is not a shape"),
        ({"shape": "4"}, "'shape' is str"),
        ({"shape": [1] * 70}, "is not a shape"),
        ({"dtype": "float128"}, "the type 'float128' is none of"),
        ({"dtype": None}, "'dtype' is missing|'dtype' is NoneType"),
        ({"dtype": "string"}, "bytes"),
        ({"name": 3}, "'name' is int"),
        ({"name": "fc/bias"}, "there are two weights 'fc/bias'"),
        ({"quantization": {"dtype": "uint4", "scale": 1, "min": 0}}, "cannot be quantized to 'uint4'"),
        ({"quantization": {"dtype": "uint8", "scale": 1}}, "has no number 'min'"),
        ({"quantization": {"dtype": "uint8", "scale": "1", "min": 0}}, "has no number 'scale'"),
        ({"quantization": {"dtype": "float16"}, "dtype": "int32"}, "int32 cannot be quantized to 'float16'"),
        ({"quantization": 3}, "'quantization' is int"),
    ],
)
def test_damaged_entries(entry: dict[str, Any], reason: str, tmp_path: Path) -> None:
    refused(model(tmp_path, **entry), reason)


@pytest.mark.parametrize(
    ("paths", "reason"),
    [
        (["../secret.bin"], "does not lead to a file in the folder"),
        (["/etc/passwd"], "does not lead to a file in the folder"),
        (["C:\\secret.bin"], "does not lead to a file in the folder"),
        (["a\0b"], "does not lead to a file in the folder"),
        (["https://example.com/group1-shard1of1.bin"], "download them"),
        (["absent.bin"], "'absent.bin' with weights of the model is missing"),
        (["9" * 300], "with weights of the model is missing"),
        (["9/" * 3000], "does not lead to a file in the folder"),
        (["group1-shard1of1.bin"] * 2, "named twice"),
        ([3], "a path is not a string"),
        ([], "its group names no files"),
        (["."], "not a regular file"),
        (["link.bin"], "link out of the folder"),
    ],
)
def test_paths(paths: list[Any], reason: str, tmp_path: Path) -> None:
    (tmp_path / "secret.bin").write_bytes(bytes(100))
    folder = tmp_path / "model"
    manifest = written_weights(folder, [VALUES])
    os.symlink(tmp_path / "secret.bin", folder / "link.bin")
    refused(written_model(folder, TOPOLOGY, [manifest[0] | {"paths": paths}]), reason)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (json.dumps([{"paths": ["a.bin"], "weights": []}]), "the list of the weights of a TensorFlow.js model"),
        (json.dumps({"weightsManifest": []}), "without the layers or the graph"),
        (json.dumps({"format": "layers-model", "modelTopology": None, "weightsManifest": []}), "without the layers or the graph"),
        (json.dumps({"modelTopology": 3}), "its modelTopology is not a JSON object"),
        (json.dumps({"modelTopology": {"a": 1}, "weightsManifest": []}), "its modelTopology has a; the layers of Keras"),
        (json.dumps({"modelTopology": TOPOLOGY}), "without a list of weights"),
        (json.dumps({"modelTopology": GRAPH}), "without a list of weights"),
        (json.dumps({"modelTopology": TOPOLOGY, "weightsManifest": {}}), "weightsManifest is not a list"),
        (json.dumps({"modelTopology": TOPOLOGY, "weightsManifest": [3]}), r"weightsManifest\[0\] is not an object"),
        (json.dumps({"modelTopology": {"node": 3}, "weightsManifest": []}), "the graph is not a message GraphDef in JSON"),
        (json.dumps({"modelTopology": GRAPH, "weightsManifest": [], "signature": {"outputs": 1}}), "the signature is not a message"),
        ('{"format": "graph-model", "modelTopology": ' + "[" * 100_000, "not valid JSON"),
        ('{"modelTopology": {"node": []}', "not valid JSON"),
        (json.dumps(TOPOLOGY["model_config"]), r"the layers of a Keras model without its weights.*--weights"),
    ],
)
def test_texts(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "model.json"
    path.write_text(text)
    refused(path, reason)


def test_the_weights_name_the_model_beside_them(tmp_path: Path) -> None:
    path = model(tmp_path)
    manifest = tmp_path / "weights_manifest.json"
    manifest.write_text(json.dumps(json.loads(path.read_text())["weightsManifest"]))
    refused(manifest, "give the model beside it: .*model.json")


def test_a_weight_that_the_manifest_lacks(tmp_path: Path) -> None:
    nodes = [{"name": "w", "op": "Const", "attr": {"value": {"tensor": {"dtype": "DT_FLOAT", "tensorShape": {"dim": [{"size": "3"}]}}}}}]
    topology = {"node": [*nodes, {"name": "y", "op": "Identity", "input": ["w"]}]}
    refused(written_model(tmp_path, topology, []), "'w': it is not in the list of weights")
    refused(written_model(tmp_path, topology, written_weights(tmp_path, [{"w": np.ones(2, np.float32)}])), r"shape \[3\], and \[2\]")
    refused(written_model(tmp_path, topology, written_weights(tmp_path, [{"w": np.array(["a"] * 3, object)}])), "FLOAT, and string")


def test_recognition(tmp_path: Path) -> None:
    """The keys of the topology decide, wherever they are."""
    padding = [{"paths": [f"{index}.bin"], "weights": []} for index in range(100)]
    for topology, dialect in ((TOPOLOGY, "keras"), (TOPOLOGY["model_config"], "keras"), (GRAPH, "tf")):
        path = tmp_path / "other name"
        path.write_text(json.dumps({"weightsManifest": padding, "format": "unknown", "modelTopology": topology}))
        assert framework_of_file(path).dialect == dialect
    path.write_text('{"a": 1}')
    with pytest.raises(ModelFileError, match="this is JSON text"):
        framework_of_file(path)


def test_values(tmp_path: Path) -> None:
    """Integers are rounded as JavaScript does; a weight without elements takes no bytes."""
    values = {"i": np.array([-2, 0, 3], np.int32), "e": np.ones((0, 4), np.float32), "b": np.array([True, False])}
    manifest = written_weights(tmp_path, [values, {"q": np.zeros(3, np.uint8)}], shard=5)
    manifest[1]["weights"][0] |= {"dtype": "int32", "quantization": {"dtype": "uint8", "scale": 1.0, "min": 2.5}}
    weights = read_weights(manifest, tmp_path / "model.json")
    assert weights["i"].data.array.tolist() == [-2, 0, 3]
    assert weights["e"].data.array.shape == (0, 4)
    assert weights["b"].data.array.tolist() == [True, False]
    assert weights["q"].data.array.tolist() == [3, 3, 3]
