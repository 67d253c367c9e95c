"""The options of Model Optimizer's command line with their defaults, as extensions read them.

They are in `graph.graph["cmd_params"]`. The options of all releases are present, since an extension reads those of the
release that it was written for. Source: the command line of Model Optimizer 2019 to 2024.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Any

_WITHOUT_VALUE = (
    "input_model framework model_name input output input_shape placeholder_shapes placeholder_data_types batch scale layout "
    "source_layout target_layout extensions transformations_config freeze_placeholder_with_value finegrain_fusing "
    "input_checkpoint input_meta_graph saved_model_dir saved_model_tags tensorflow_custom_operations_config_update "
    "tensorflow_use_custom_operations_config tensorflow_object_detection_api_pipeline_config "
    "tensorflow_custom_layer_libraries tensorboard_logdir input_proto caffe_parser_path k mean_file mean_file_offsets "
    "input_symbol nd_prefix_name pretrained_model_name counts"
)
_FLAGS = (
    "static_shape reverse_input_channels compress_to_fp16 disable_fusing disable_gfusing disable_resnet_optimization "
    "disable_nhwc_to_nchw disable_omitting_optional disable_weights_compression enable_concat_optimization "
    "enable_flattening_nested_params enable_ssd_gluoncv generate_deprecated_IR_V2 generate_deprecated_IR_V7 "
    "input_model_is_text legacy_ir_generation legacy_mxnet_model move_to_preprocess progress remove_memory "
    "remove_output_softmax save_params_from_nd silent stream_output use_legacy_frontend use_new_frontend"
)

DEFAULTS: Mapping[str, Any] = {
    **dict.fromkeys(_WITHOUT_VALUE.split()),
    **dict.fromkeys(_FLAGS.split(), False),
    **dict.fromkeys(("blobs_as_inputs", "generate_experimental_IR_V10", "keep_shape_ops"), True),
    "data_type": "float",
    "log_level": "ERROR",
    "mean_values": (),
    "output_dir": ".",
    "scale_values": (),
    "transform": "",
}


def command_line(**options: Any) -> Namespace:
    """The options of a conversion: the given ones, and the defaults of all others.

    `mean_scale_values`, which Model Optimizer combined from the options, is empty: moir scales inputs itself.
    """
    return Namespace(**{**DEFAULTS, "mean_scale_values": {}, **options})
