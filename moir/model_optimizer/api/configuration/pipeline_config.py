"""The configuration of a model of the TensorFlow Object Detection API: `pipeline.config`, in protobuf's text format.

    config = PipelineConfig("pipeline.config")
    config.get_param("num_classes"), config.get_param("resizer_image_height")

Source of the fields: https://github.com/tensorflow/models/tree/master/research/object_detection/protos.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, cast

from moir.files.protobuf.text_format import TextMessage, read_configuration
from moir.model_optimizer.api.errors import Error

_PARAMETERS: dict[str, tuple[str, Any]] = {
    "num_classes": ("num_classes", None),
    "initial_crop_size": ("initial_crop_size", None),
    "use_matmul_crop_and_resize": ("use_matmul_crop_and_resize", False),
    "add_background_class": ("add_background_class", True),
    "first_stage_nms_score_threshold": (r".*_nms_score_threshold", None),
    "first_stage_nms_iou_threshold": (r".*_nms_iou_threshold", None),
    "first_stage_max_proposals": (r".*_max_proposals", None),
    "resizer_image_height": ("image_resizer/fixed_shape_resizer/height", None),
    "resizer_image_width": ("image_resizer/fixed_shape_resizer/width", None),
    "resizer_min_dimension": ("image_resizer/keep_aspect_ratio_resizer/min_dimension", None),
    "resizer_max_dimension": ("image_resizer/keep_aspect_ratio_resizer/max_dimension", None),
    "pad_to_max_dimension": ("image_resizer/keep_aspect_ratio_resizer/pad_to_max_dimension", False),
    **{
        f"anchor_generator_{name}": (f"first_stage_anchor_generator/grid_anchor_generator/{name}", default)
        for name, default in (
            ("height", 256),
            ("width", 256),
            ("height_stride", 16),
            ("width_stride", 16),
            ("scales", None),
            ("aspect_ratios", None),
        )
    },
    **{
        f"multiscale_anchor_generator_{name}": (f"anchor_generator/multiscale_anchor_generator/{name}", None)
        for name in ("min_level", "max_level", "anchor_scale", "aspect_ratios", "scales_per_octave")
    },
    **{
        f"ssd_anchor_generator_{name}": (f"anchor_generator/ssd_anchor_generator/{field}", default)
        for name, field, default in (
            ("min_scale", "min_scale", 0.2),
            ("max_scale", "max_scale", 0.95),
            ("num_layers", "num_layers", None),
            ("aspect_ratios", "aspect_ratios", None),
            ("scales", "scales", None),
            ("interpolated_scale_aspect_ratio", "interpolated_scale_aspect_ratio", 1.0),
            ("reduce_lowest", "reduce_boxes_in_lowest_layer", None),
            ("base_anchor_height", "base_anchor_height", 1.0),
            ("base_anchor_width", "base_anchor_width", 1.0),
        )
    },
    **{
        name: (f".*/rfcn_box_predictor/{name}", None)
        for name in ("num_spatial_bins_height", "num_spatial_bins_width", "crop_height", "crop_width")
    },
    "postprocessing_score_converter": (".*/score_converter", None),
    **{
        f"postprocessing_{name}": (f".*/batch_non_max_suppression/{name}", None)
        for name in ("score_threshold", "iou_threshold", "max_detections_per_class", "max_total_detections")
    },
    "share_box_across_classes": ("second_stage_box_predictor/.*/share_box_across_classes", False),
    **{
        f"frcnn_variance_{name}": (f"box_coder/faster_rcnn_box_coder/{field}", default)
        for name, field, default in (
            ("x", "x_scale", 10.0),
            ("y", "y_scale", 10.0),
            ("width", "width_scale", 5.0),
            ("height", "height_scale", 5.0),
        )
    },
}
"""Parameter -> the path of its field in the message of the model (a regular expression for each level), and the value
if the field is missing.

A default of None means that `get_param` returns None.
"""


class PipelineConfig:
    """The parameters of a model.

    Args:
        file_name: the file.

    Raises ModelFileError, with the line, for a file that is not in protobuf's text format, and Error for one without
    the message `model`.
    """

    def __init__(self, file_name: str | Path) -> None:
        message = read_configuration(Path(file_name), "a pipeline.config")
        models = [_fields(nested) for model in message.messages("model") for name in model.fields for nested in model.messages(name)]
        if not models:
            raise Error("{}: there is no message 'model' with the parameters of a detection model", file_name)
        self._parameters: dict[str, Any] = {}
        for name, (path, default) in _PARAMETERS.items():
            value = _at(models[0], path.split("/"))
            if value is not None or default is not None:
                self._parameters[name] = default if value is None else value

    def get_param(self, param: str) -> Any:
        """The parameter `param` of the model: a number, text, boolean or list of such; None if the file does not have
        it and there is no default.
        """
        return self._parameters.get(param)


def _fields(message: TextMessage) -> dict[str, Any]:
    """The fields of a message: the value of a field that occurs once, else a list of its values."""
    fields: dict[str, Any] = {}
    for name, values in message.fields.items():
        plain = [_fields(value) if isinstance(value, TextMessage) else value for value in values]
        fields[name] = plain[0] if len(plain) == 1 else plain
    return fields


def _at(fields: object, path: list[str]) -> Any:
    """The value at a path of nested fields; None if there is none.

    Element i of `path` is a regular expression for the whole name of a field at depth i; the first field with a value
    counts.
    """
    if not isinstance(fields, dict):
        return None
    for name, value in cast("dict[str, Any]", fields).items():
        if re.fullmatch(path[0], name):
            inner = value if len(path) == 1 else _at(value, path[1:])
            if inner is not None:
                return inner
    return None
