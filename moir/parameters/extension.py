"""The parameters that select extensions."""

from __future__ import annotations

from moir.parameters.arguments import EXTENSION_LAYOUT as EXPECTED_EXTENSION_LAYOUT
from moir.parameters.arguments import Expected
from moir.parameters.kinds import FILE, FILES, LIST, choice, or_none
from moir.parameters.parameter import Parameter

_GROUP = "extensions"

EXTENSIONS = Parameter(
    "extensions",
    FILES,
    (),
    "directories of extensions, or names of installed ones (entry points moir.extensions)",
    metavar="DIR[,DIR]",
    group=_GROUP,
)
TRANSFORMATIONS_CONFIG = Parameter(
    "transformations_config",
    or_none(FILE),
    None,
    "JSON file that says which sub-graphs transformations replace",
    metavar="FILE",
    former=("--tensorflow_use_custom_operations_config",),
    group=_GROUP,
)
PIPELINE_CONFIG = Parameter(
    "tensorflow_object_detection_api_pipeline_config",
    or_none(FILE),
    None,
    "pipeline.config of a model of the TensorFlow Object Detection API, for the detection passes of --transformations-config",
    metavar="FILE",
    group=_GROUP,
)
_DETECTIONS = ("auto", "output", "plain")
DETECTION: Parameter[str] = Parameter(
    "detection",
    choice(dict(zip(_DETECTIONS, _DETECTIONS, strict=True)), Expected("'auto', 'output' or 'plain'", lambda value: value in _DETECTIONS)),
    "auto",
    "the post-processing of detection networks; auto (default): as --transformations-config says; output: a DetectionOutput, "
    "also without a configuration; plain: plain operations, whatever the configuration says",
    group=_GROUP,
)
ENABLE = Parameter("enable", LIST, (), "transformations to run that are not enabled by themselves", metavar="ID[,ID]", group=_GROUP)
DISABLE = Parameter("disable", LIST, (), "transformations and passes not to run", metavar="ID[,ID]", group=_GROUP)
EXTENSION_LAYOUT = Parameter(
    "extension_layout",
    choice({"model-optimizer": "model-optimizer", "framework": "framework"}, EXPECTED_EXTENSION_LAYOUT),
    "model-optimizer",
    "layout in which operations of Model Optimizer extensions get data of channel-last models: channels first, or as in the model",
    group=_GROUP,
)

EXTENSION_PARAMETERS = (EXTENSIONS, TRANSFORMATIONS_CONFIG, PIPELINE_CONFIG, DETECTION, ENABLE, DISABLE, EXTENSION_LAYOUT)
