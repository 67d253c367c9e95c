"""Writes models in TensorFlow.js's format: weights in groups, quantized and in several files."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]


def quantized(values: Array, dtype: str) -> tuple[Array, dict[str, Any]]:
    """The codes of a weight, and the entry of the manifest that says what they mean."""
    if dtype == "float16":
        return values.astype(np.float16), {"dtype": dtype, "original_dtype": "float32"}
    low, high = float(values.min()), float(values.max())
    scale = (high - low) / np.iinfo(dtype).max or 1.0
    codes = np.round((values.astype(np.float64) - low) / scale).astype(dtype)
    return codes, {"dtype": dtype, "scale": scale, "min": low, "original_dtype": "float32"}


def dequantized(values: Array, dtype: str) -> Array:
    """The values that a weight has after quantization."""
    codes, entry = quantized(values, dtype)
    return codes.astype(np.float32) if dtype == "float16" else (codes.astype(np.float64) * entry["scale"] + entry["min"]).astype(np.float32)


def stored(values: Array, quantization: str | None = None) -> tuple[bytes, dict[str, Any]]:
    """The bytes of a weight, and its entry in the manifest without the name."""
    if values.dtype == object:
        encoded = [str(each).encode() for each in values.ravel()]
        data = b"".join(len(each).to_bytes(4, "little") + each for each in encoded)
        return data, {"shape": list(values.shape), "dtype": "string"}
    if quantization is not None and values.dtype == np.float32:
        codes, entry = quantized(values, quantization)
        return codes.tobytes(), {"shape": list(values.shape), "dtype": "float32", "quantization": entry}
    narrowed = {"int64": "int32", "float64": "float32", "complex128": "complex64"}.get(values.dtype.name, values.dtype.name)
    return values.astype(narrowed).tobytes(), {"shape": list(values.shape), "dtype": narrowed}


def written_weights(
    folder: Path, groups: Sequence[Mapping[str, Array]], quantization: Mapping[str, str] | str | None = None, shard: int = 1 << 22
) -> list[dict[str, Any]]:
    """Write the files of the weights; returns the manifest.

    Args:
        folder: the folder of the model.
        groups: the weights of each group by their names.
        quantization: the type of the codes of weights of float32, for all of them or by name.
        shard: the size of a file in bytes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    manifest: list[dict[str, Any]] = []
    for number, group in enumerate(groups, 1):
        content, entries = b"", []
        for name, values in group.items():
            data, entry = stored(values, quantization.get(name) if isinstance(quantization, Mapping) else quantization)
            content += data
            entries.append({"name": name, **entry})
        count = -(-len(content) // shard)
        paths = [f"group{number}-shard{index + 1}of{count}.bin" for index in range(count)]
        for index, path in enumerate(paths):
            (folder / path).write_bytes(content[index * shard : (index + 1) * shard])
        manifest.append({"paths": paths, "weights": entries})
    return manifest


def written_model(folder: Path, topology: Any, manifest: Any, **fields: Any) -> Path:
    """Write a `model.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "model.json"
    path.write_text(json.dumps({**fields, "modelTopology": topology, "weightsManifest": manifest}))
    return path


def layer(kind: str, name: str, operands: Sequence[str] = (), **config: Any) -> dict[str, Any]:
    """The entry of a layer of a functional model of Keras 2 that is called with the results of other layers."""
    entry: dict[str, Any] = {"class_name": kind, "config": {"name": name, **config}}
    return entry | {"name": name, "inbound_nodes": [[[operand, 0, 0, {}] for operand in operands]] if operands else []}


def input_layer(name: str, shape: Sequence[int], dtype: str = "float32") -> dict[str, Any]:
    """The entry of an input."""
    return layer("InputLayer", name, batch_input_shape=[None, *shape], dtype=dtype, sparse=False)


def functional(layers: Sequence[Any], inputs: Sequence[str], outputs: Sequence[str], name: str = "m") -> dict[str, Any]:
    """A functional model of Keras 2."""
    config = {
        "name": name,
        "layers": [*layers],
        "input_layers": [[each, 0, 0] for each in inputs],
        "output_layers": [[each, 0, 0] for each in outputs],
    }
    return {"class_name": "Model", "config": config}


def keras_topology(config: Mapping[str, Any]) -> dict[str, Any]:
    """The topology of a layers model that was converted from Keras 2."""
    return {"keras_version": "2.15.0", "backend": "tensorflow", "model_config": config}
