"""A folder of Hugging Face Transformers -> module in the `transformers` dialect.

config.json                      model_type, sizes
model.safetensors                weights; or several files with model.safetensors.index.json
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, cast

from xdsl.dialects.builtin import ModuleOp

from moir.architectures.families import FILES, family_of
from moir.architectures.family import Family
from moir.architectures.network import network
from moir.errors import ModelFileError
from moir.files.reading import read_whole
from moir.frontends.huggingface.checkpoint import FolderCheckpoint
from moir.frontends.huggingface.configuration import configured
from moir.frontends.huggingface.keys import Keys
from moir.frontends.quantized_checkpoints import Quantization, quantization_of
from moir.support.suggestions import did_you_mean

QUANTIZATION, COMPRESSION = "quantization_config", "compression_config"
"""The keys of config.json that describe the quantization of the weights."""

INFINITIES = {"Infinity": math.inf, "-Infinity": -math.inf}

MODEL_OPTIMIZER = "hf_quant_config.json"
"""The file beside config.json in which older versions of NVIDIA's Model Optimizer write how weights are quantized."""


def read_model(path: str | Path) -> ModuleOp:
    """Read a language model.

    Args:
        path: the folder with config.json and *.safetensors.

    Returns a module with one `moir.model`. Raises ModelFileError for files that are missing, damaged or of a family
    that moir does not know, for keys of config.json and tensors that it does not know.
    """
    path = Path(path)
    keys = read_configuration(path)
    family = known_family(keys)
    architecture, configuration, family = configured(family, keys)
    checkpoint = FolderCheckpoint(path, family, keys, _quantization(path, keys))
    if architecture.task == "generation" and configuration.is_tied and checkpoint.has_own_head():
        configuration = configuration.with_fields(is_tied=False)
    return network(architecture, configuration, checkpoint, path.resolve().name or "model")


def read_configuration(folder: Path) -> Keys:
    """The entries of the config.json of a folder; of a multimodal model those of its language model.

    Raises ModelFileError if there is no such file, or it is no JSON object.
    """
    path = folder / "config.json"
    if not path.is_file():
        raise ModelFileError("the folder has no config.json", location=str(folder), hint="copy it from where the weights come from")
    values = _object(path)
    inner = values.get("text_config")
    is_part = isinstance(inner, dict) and "model_type" in inner
    if is_part:
        # A multimodal model: its language model.
        outer = {key: values[key] for key in ("architectures", QUANTIZATION, COMPRESSION) if key in values}
        values = {**cast("dict[str, Any]", inner), **outer}
    return Keys(values, str(path), is_part=is_part or isinstance(values.get("vision_config"), dict))


def _object(path: Path) -> dict[str, Any]:
    """The JSON object in a file. Raises ModelFileError if the file is no JSON, or no object."""
    try:
        text = read_whole(path, "the configuration of a model")
        content: Any = json.loads(text, object_hook=_number, parse_int=_integer)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"it is not JSON: {error}", location=str(path)) from None
    if not isinstance(content, dict):
        raise ModelFileError("it is not an object of JSON", location=str(path))
    return cast("dict[str, Any]", content)


def _number(content: dict[str, Any]) -> Any:
    """The infinity that a JSON object `{"__float__": "Infinity"}` of Transformers 5 denotes; any other object
    unchanged.
    """
    text = content.get("__float__")
    return INFINITIES.get(text, content) if len(content) == 1 and isinstance(text, str) else content


def _quantization(folder: Path, keys: Keys) -> Quantization | None:
    """The method by which the weights are quantized; None if config.json names none.

    Raises ModelFileError for an unsupported method.
    """
    settings = keys.value(COMPRESSION)
    if settings is None:
        settings = keys.value(QUANTIZATION)
    path = folder / MODEL_OPTIMIZER
    if settings is None and path.is_file():
        settings = _object(path).get("quantization")
        if isinstance(settings, dict):
            return quantization_of({"quant_method": "modelopt", **cast("dict[str, Any]", settings)}, str(path))
    return None if settings is None else quantization_of(settings, keys.location)


def known_family(keys: Keys) -> Family:
    """The family that config.json names. Raises ModelFileError for one that has no record."""
    model_type = keys.text("model_type")
    family = family_of(model_type)
    if family is None:
        hint = did_you_mean(model_type, FILES, "export it, and convert the .onnx or .pt2, with --generation if it has a cache")
        raise keys.error(f"there is no record of the family {model_type!r}", hint)
    return family


def _integer(text: str) -> int | float:
    """An integer of JSON; a float, perhaps infinite, if it has more than 64 bits, as no integer of a model has."""
    number = int(text)
    return number if -(1 << 63) <= number < 1 << 64 else float(text)
