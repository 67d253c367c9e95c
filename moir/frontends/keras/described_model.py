"""A model whose layers are described in a JSON text, and whose weights are in other files.

    {"class_name": "Functional", "config": {…}, "keras_version": "2.15.0"}     model.to_json(), beside a file of weights
    {"format": "layers-model", "modelTopology": {"model_config": {…}}, "weightsManifest": […]}     TensorFlow.js

A layers model of TensorFlow.js has the layers of Keras 2, and weights with the names that they have in an HDF5 file,
without the names of the models around their layers.

Source: tfjs-converter/python/tensorflowjs/converters/keras_h5_conversion.py and tfjs-layers/src/engine/container.ts of
TensorFlow.js 4.22.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any, cast

from moir.dialects.data import DataAttr
from moir.errors import ConversionError, ModelFileError
from moir.files.json_texts import JsonModel
from moir.frontends.keras.model_file import ModelFile, generation_of, weights_of_file
from moir.frontends.keras.weights import NamedWeights, parts_of
from moir.frontends.tensorflow_js.weights import Weight, read_weights


def read_described_model(path: Path, model: JsonModel, weights: Path | None = None) -> ModelFile:
    """The parts of a model that a JSON text describes.

    Args:
        path: the text.
        model: its content.
        weights: the file with the weights; None if the text names the files.

    Raises ModelFileError if the text or a file of weights is damaged, or there are no weights.
    """
    topology = model.topology
    config: Any = topology.get("model_config", topology)
    if not isinstance(config, dict):
        raise ModelFileError("its model_config is not a JSON object; the file is damaged", location=str(path))
    config = cast("dict[str, Any]", config)
    generation = generation_of(topology.get("keras_version") or config.get("keras_version"), config)
    if not model.is_tensorflow_js:
        if weights is None:
            reason = "these are the layers of a Keras model without its weights"
            raise ModelFileError(reason, location=str(path), hint=f"give the file with the weights: moir {path.name} --weights FILE.h5")
        return ModelFile(config, generation, weights_of_file(weights), {})
    if weights is not None:
        hint = "leave out the option weights"
        raise ConversionError("a model.json of TensorFlow.js names the files of its weights", location=str(path), hint=hint)
    manifest = model.fields.get("weightsManifest")
    if manifest is None:
        reason = "this is a model.json of TensorFlow.js without a list of weights"
        raise ModelFileError(reason, location=str(path), hint="give a model.json with a weightsManifest, and the files that it names")
    read = read_weights(manifest, path)
    return ModelFile(config, generation, NamedWeights([(parts_of(name), partial(_data, weight)) for name, weight in read.items()]), {})


def _data(weight: Weight) -> DataAttr:
    return weight.data
