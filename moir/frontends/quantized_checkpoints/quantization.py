"""The quantization of a checkpoint, as its config.json says it: which method, and the settings of the method.

{"quant_method": "gptq", "bits": 4, "group_size": 128, …}
model.layers.0.self_attn.q_proj.{qweight, qzeros, scales, g_idx}  ->  StoredWeight(codes, scale, zero point)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Protocol, cast

from moir.architectures.stored_weight import StoredWeight
from moir.dialects.data import DataAttr
from moir.errors import ModelFileError
from moir.support import tables
from moir.support.suggestions import did_you_mean

METHODS = {
    "gptq": "gptq",
    "awq": "awq",
    "compressed-tensors": "compressed_tensors",
    "fp8": "scaled_floats",
    "fbgemm_fp8": "scaled_floats",
    "modelopt": "scaled_floats",
    "modelopt_fp4": "scaled_floats",
    "mxfp4": "mxfp4",
    "bitsandbytes": "bitsandbytes",
    "hqq": "hqq",
    "auto-round": "auto_round",
}
"""The files of this folder by `quant_method`."""


UNREAD = tables.words(
    "input_scale input_scale_ub input_zero_point input_global_scale output_scale output_zero_point activation_scale "
    "k_scale v_scale q_scale kv_scale k_zero_point v_zero_point prob_scale"
)
"""Last parts of the names of tensors for the quantization of activations and caches, which moir does not do."""


class Layer:
    """The tensors of a layer of a checkpoint, which have a prefix of their names in common.

    Args:
        name: the beginning of their names, without the separator.
        take: returns a tensor by its full name and marks it as read; None if there is none.
        location: the file or the folder, for messages.
        separator: the text between the prefix and the rest of a name.
    """

    def __init__(self, name: str, take: Callable[[str], DataAttr | None], location: str, separator: str = ".") -> None:
        self.name = name
        self.location = location
        self._separator = separator
        self._take = take

    def tensor(self, *names: str) -> DataAttr | None:
        """The tensor of a layer with the first of some alternative names; None if it has none of them."""
        for name in names:
            if (tensor := self._take(f"{self.name}{self._separator}{name}")) is not None:
                return tensor
        return None

    def required(self, name: str, rank: int | None = None) -> DataAttr:
        """The tensor `name` of a layer.

        Raises ModelFileError if it is missing, or has another number of dimensions than `rank`.
        """
        tensor = self.tensor(name)
        if tensor is None:
            raise self.error(f"the tensor {self.name}{self._separator}{name} is missing", "are all files of the model in the folder?")
        if rank is not None and len(tensor.shape) != rank:
            raise self.error(f"{self.name}{self._separator}{name} has the shape {list(tensor.shape)}, not {rank} dimensions")
        return tensor

    def expect(self, holds: bool, reason: str) -> None:
        """Raises ModelFileError with a reason if a condition on a layer's tensors that the method requires does not
        hold.
        """
        if not holds:
            raise self.error(reason)

    def error(self, reason: str, hint: str | None = None) -> ModelFileError:
        """An error about the layer."""
        return ModelFileError(
            reason, node=self.name, location=self.location, hint=hint or "do the weights belong to this config.json, or are they damaged?"
        )


class Settings:
    """The object `quantization_config` of a config.json.

    Args:
        values: its keys and values.
        location: the file, for messages.
    """

    def __init__(self, values: Mapping[str, Any], location: str) -> None:
        self.values = values
        self.location = location

    def integer(self, *keys: str, default: int | None = None) -> int:
        """The integer under the first of `keys` that is present, else `default`.

        Raises ModelFileError if the value is not an integer.
        """
        for key in keys:
            if (value := self.values.get(key)) is not None:
                if isinstance(value, bool) or not isinstance(value, int) or not -1 <= value < 1 << 31:
                    raise self.error(f"quantization_config.{key} is {value!r}, not a size")
                return value
        if default is None:
            raise self.error(f"quantization_config has no {keys[0]!r}")
        return default

    def text(self, key: str, default: str = "") -> str:
        """A string of the quantization's configuration, in lower case. Raises ModelFileError for a value of another
        type.
        """
        value = self.values.get(key)
        if value is not None and not isinstance(value, str):
            raise self.error(f"quantization_config.{key} is {value!r}, not a text")
        return default if value is None else value.lower()

    def table(self, key: str) -> Mapping[str, Any]:
        """An object of the quantization's configuration, empty if absent or null. Raises ModelFileError for another
        type.
        """
        value = self.values.get(key)
        if value is not None and not isinstance(value, Mapping):
            raise self.error(f"quantization_config.{key} is {value!r}, not an object")
        return cast("Mapping[str, Any]", value or {})

    def error(self, reason: str, hint: str | None = None) -> ModelFileError:
        """An error about the settings."""
        return ModelFileError(reason, location=self.location, hint=hint)


class Quantization(Protocol):
    """A quantization method of checkpoints: makes the weight of a layer from its tensors."""

    def weight(self, layer: Layer) -> StoredWeight | None:
        """The quantized weight of a layer; None if the layer is not quantized and has a tensor `weight` of
        floating-point numbers.

        Raises ModelFileError if tensors are missing, do not fit together, or are of a form that is not supported.
        """
        ...


def quantization_of(values: object, location: str) -> Quantization:
    """The quantization that an object `quantization_config` describes.

    Raises ModelFileError for a quantization that is not supported.
    """
    if not isinstance(values, Mapping):
        raise ModelFileError("quantization_config is not an object", location=location)
    settings = Settings(cast("Mapping[str, Any]", values), location)
    name = settings.text("quant_method")
    if name not in METHODS:
        listed = f"those that are: {', '.join(METHODS)}"
        raise settings.error(f"the quantization {name!r} is not supported", did_you_mean(name, METHODS, listed))
    return import_module(f"moir.frontends.quantized_checkpoints.{METHODS[name]}").method(settings)
