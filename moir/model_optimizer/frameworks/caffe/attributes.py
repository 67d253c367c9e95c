"""The attributes of Caffe layers by the names that Model Optimizer's extractors gave them.

    caffe.Softmax {softmax_param = {axis = 2}}  ->  axis 2

Source: the attributes that Model Optimizer's nodes have in the front phase, 2018 to 2022.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Operation

from moir.dialects.properties import value_of
from moir.model_optimizer.frameworks.extracted import Extracted, as_integers, computed
from moir.model_optimizer.frameworks.spatial_windows import integers_of, spatial_window
from moir.model_optimizer.values.python_values import attribute_value, is_true


def caffe_entries(op: Operation, name: str) -> Sequence[int] | None:
    """The spatial entries of `name` of a Caffe convolution or pooling (`kernel`, `stride`, `pad`, …); None if it is
    absent.

    A single entry stands for both axes of an image.
    """
    messages = (op.properties.get(f"{each}_param") for each in ("convolution", "pooling"))
    none: Mapping[str, Attribute] = {}
    message = next((each.data for each in messages if isinstance(each, DictionaryAttr)), none)
    sides = [integers_of(message.get(f"{name}_{side}")) for side in "hw"]
    if any(sides):
        return [each[0] if each else 0 if name == "pad" else 1 for each in sides]
    listed = integers_of(message.get("kernel_size" if name == "kernel" else name))
    return listed * 2 if len(listed) == 1 else listed or None


def _fields(op: Operation, message: str) -> Mapping[str, Attribute]:
    value = op.properties.get(message)
    return value.data if isinstance(value, DictionaryAttr) else {}


def _field(message: str, name: str, default: Any, form: Callable[[Any], Any] | None = None) -> Extracted:
    """The record of an attribute that is field `name` of the layer's message `message`, or the default.

    `form` converts values that are read and values that an extension sets.
    """

    def read(op: Operation) -> Any:
        given = _fields(op, message).get(name)
        value = default if given is None else value_of(given)
        return value if form is None or value is None else form(value)

    def write(op: Operation, value: Any) -> Mapping[str, Any]:
        attribute = attribute_value(value if form is None else form(value))
        return {} if attribute is None else {message: DictionaryAttr({**_fields(op, message), name: attribute})}

    return Extracted("", of=read, write=write)


_WINDOW = {name: computed(function) for name, function in spatial_window(caffe_entries).items()}

ATTRIBUTES: dict[str, dict[str, Extracted]] = {
    **dict.fromkeys(("Convolution", "Deconvolution", "Pooling"), _WINDOW),
    "BatchNorm": {"eps": _field("batch_norm_param", "eps", 1e-5)},
    "Clip": {name: _field("clip_param", name, None) for name in ("min", "max")},
    "Concat": {"axis": _field("concat_param", "axis", 1)},
    "ELU": {"alpha": _field("elu_param", "alpha", 1.0)},
    "Flatten": {"axis": _field("flatten_param", "axis", 1), "end_axis": _field("flatten_param", "end_axis", -1)},
    "InnerProduct": {"out-size": _field("inner_product_param", "num_output", None)},
    "LRN": {
        "local_size": _field("lrn_param", "local_size", 5),
        "alpha": _field("lrn_param", "alpha", 1.0),
        "beta": _field("lrn_param", "beta", 0.75),
        "bias": _field("lrn_param", "k", 1.0),
    },
    "MVN": {
        "eps": _field("mvn_param", "eps", 1e-9),
        "normalize_variance": _field("mvn_param", "normalize_variance", True, is_true),
        "across_channels": _field("mvn_param", "across_channels", False, is_true),
    },
    "Permute": {"order": _field("permute_param", "order", None, as_integers)},
    "Power": {
        "power": _field("power_param", "power", 1.0),
        "scale": _field("power_param", "scale", 1.0),
        "shift": _field("power_param", "shift", 0.0),
    },
    "ReLU": {"negative_slope": _field("relu_param", "negative_slope", 0.0)},
    "Slice": {"axis": _field("slice_param", "axis", 1), "slice_point": _field("slice_param", "slice_point", None, as_integers)},
    "Softmax": {"axis": _field("softmax_param", "axis", 1)},
    "Tile": {"axis": _field("tile_param", "axis", 1), "tiles": _field("tile_param", "tiles", None)},
}
"""Kind of a layer -> the records of its attributes, by Model Optimizer's names."""
