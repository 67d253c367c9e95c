"""Facts about fields of Caffe's messages that a text does not contain: defaults, enumerations, and which fields are
repeated.

    node.pb.pooling_param.pool == 0, for `pool: MAX` and where the text has no `pool`
    node.pb.convolution_param.bias_term, where the text has no `bias_term`: True
    node.pb.prior_box_param.max_size == [], where the text has no `max_size`, and [90.0] for `max_size: 90`

Only defaults that are not 0, empty or false are here.

Source: caffe.proto of BVLC Caffe 1.0 and of the forks for SSD, Faster R-CNN, R-FCN, YOLO and FlowNet.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple, TypeAlias

Default: TypeAlias = "bool | int | float | str"

_DEFAULTS = """
accuracy_param: top_k=1 axis=1
argmax_param: top_k=1
augmentation_param: max_multiplier=255.0 mean_per_pixel=true mode="add"
batch_norm_param: moving_average_fraction=0.999 eps=1e-5
bias_param: axis=1 num_axes=1
concat_param: axis=1 concat_dim=1
convolution_param: bias_term=true group=1 axis=1
correlation_param: stride_1=1 stride_2=1
crop_param: axis=2
ctc_decoder_param: blank_index=-1 ctc_merge_repeated=true
detection_output_param: share_location=true code_type=1 keep_top_k=-1 input_width=-1 input_height=-1 normalized=true
    objectness_score=0.01
detection_output_param.nms_param: nms_threshold=0.3 eta=1.0
detection_output_param.save_output_param.resize_param: prob=1.0 resize_mode=1 pad_mode=1
dropout_param: dropout_ratio=0.5
eltwise_param: operation=1 stable_prod_grad=true
elu_param: alpha=1.0
embed_param: bias_term=true
exp_param: base=-1.0 scale=1.0
flatten_param: axis=1 end_axis=-1
flow_warp_param: fill_value=1
grn_param: bias=1.0
inner_product_param: bias_term=true axis=1
interp_param: zoom_factor=1 shrink_factor=1
log_param: base=-1.0 scale=1.0
lrn_param: local_size=5 alpha=1.0 beta=0.75 k=1.0
mvn_param: normalize_variance=true eps=1e-9
norm_param: across_spatial=true channel_shared=true eps=1e-10
pooling_param: stride=1 ceil_mode=true
power_param: power=1.0 scale=1.0
prior_box_param: flip=true offset=0.5
proposal_param: feat_stride=16 base_size=16 min_size=16 pre_nms_topn=6000 post_nms_topn=300 nms_thresh=0.7
reduction_param: operation=1 coeff=1.0
region_yolo_param: coords=4 classes=20 num=1 do_softmax=true
relu6_param: n=6.0
reorg_yolo_param: stride=1
resample_param: antialias=true type=2 factor=1.0
reshape_param: num_axes=-1
roi_pooling_param: spatial_scale=1.0
roi_warping_param: spatial_scale=1.0
roi_warping_test_param: spatial_scale=1.0
scale_param: axis=1 num_axes=1
slice_param: axis=1 slice_dim=1
softmax_param: axis=1
st_param: transform_type="affine" sampler_type="bilinear" to_compute_dU=true
tile_param: axis=1
transform_param: scale=1.0
"""

_ENUMERATIONS = """
convolution_param.engine: ConvolutionParameter.DEFAULT=0 CAFFE=1 CUDNN=2
correlation_param.correlation_type: CorrelationParameter.MULTIPLY=0 SUBTRACT=1
detection_output_param.save_output_param.resize_param.interp_mode: ResizeParameter.LINEAR=1 AREA=2 NEAREST=3 CUBIC=4 LANCZOS4=5
detection_output_param.save_output_param.resize_param.pad_mode: ResizeParameter.CONSTANT=1 MIRRORED=2 REPEAT_NEAREST=3
detection_output_param.save_output_param.resize_param.resize_mode: ResizeParameter.WARP=1 FIT_SMALL_SIZE=2 FIT_LARGE_SIZE_AND_PAD=3
detection_output_param.code_type: PriorBoxParameter.CORNER=1 CENTER_SIZE=2 CORNER_SIZE=3
eltwise_param.operation: EltwiseParameter.PROD=0 SUM=1 MAX=2
flow_warp_param.fill_value: FlowWarpParameter.ZERO=1 NOT_A_NUMBER=2
lrn_param.engine: LRNParameter.DEFAULT=0 CAFFE=1 CUDNN=2
lrn_param.norm_region: LRNParameter.ACROSS_CHANNELS=0 WITHIN_CHANNEL=1
phase: TRAIN=0 TEST=1
pooling_param.engine: PoolingParameter.DEFAULT=0 CAFFE=1 CUDNN=2
pooling_param.pool: PoolingParameter.MAX=0 AVE=1 STOCHASTIC=2
prior_box_param.code_type: PriorBoxParameter.CORNER=1 CENTER_SIZE=2 CORNER_SIZE=3
reduction_param.operation: ReductionParameter.SUM=1 ASUM=2 SUMSQ=3 MEAN=4
relu_param.engine: ReLUParameter.DEFAULT=0 CAFFE=1 CUDNN=2
resample_param.type: ResampleParameter.NEAREST=1 LINEAR=2 CUBIC=3 AREA=4
sigmoid_param.engine: SigmoidParameter.DEFAULT=0 CAFFE=1 CUDNN=2
softmax_param.engine: SoftmaxParameter.DEFAULT=0 CAFFE=1 CUDNN=2
spp_param.engine: SPPParameter.DEFAULT=0 CAFFE=1 CUDNN=2
spp_param.pool: SPPParameter.MAX=0 AVE=1 STOCHASTIC=2
tanh_param.engine: TanHParameter.DEFAULT=0 CAFFE=1 CUDNN=2
"""

_REPEATED = """
augmentation_param: mean chromatic_eigvec
convolution_param: pad kernel_size stride dilation
crop_param: offset dimsize
eltwise_param: coeff
input_param: shape
permute_param: order
prior_box_param: min_size max_size aspect_ratio variance width height fixed_size fixed_ratio density
proposal_param: ratio scale
region_yolo_param: anchors mask
reshape_param.shape: dim
detection_output_param.save_output_param.resize_param: pad_value interp_mode
slice_param: slice_point
transform_param: mean_value
"""


def _lines(table: str) -> list[tuple[str, str]]:
    """The pairs (path, entries) in the lines `path: entries` of a table; an indented line continues the one
    before it.
    """
    lines = table.strip().replace("\n    ", " ").splitlines()
    return [(path, entries) for path, _, entries in (line.partition(": ") for line in lines)]


@cache
def defaults() -> Mapping[str, Mapping[str, Default]]:
    """Path of a message within a layer, `detection_output_param.nms_param` -> its fields with their defaults."""
    return {
        path: {name: json.loads(text) for name, text in (entry.split("=", 1) for entry in entries.split())}
        for path, entries in _lines(_DEFAULTS)
    }


class Enumeration(NamedTuple):
    """The enumeration of a field.

    Args:
        scope: the message that declares it; the full names of the numbers begin with it.
        numbers: names and numbers.
    """

    scope: str
    numbers: Mapping[str, int]

    def full_name(self, number: int) -> str:
        """The name of a number in full, e.g. `caffe.PoolingParameter.MAX`."""
        name = next((name for name, each in self.numbers.items() if each == number), str(number))
        return ".".join(filter(None, ("caffe", self.scope, name)))


@cache
def enumerations() -> Mapping[str, Enumeration]:
    """Path of a field within a layer -> its enumeration."""
    by_path: dict[str, Enumeration] = {}
    for path, entries in _lines(_ENUMERATIONS):
        scope, _, names = entries.rpartition(".")
        by_path[path] = Enumeration(scope, {name: int(number) for name, number in (entry.split("=") for entry in names.split())})
    return by_path


@cache
def repeated() -> frozenset[str]:
    """The paths of the fields that are lists."""
    return frozenset(f"{path}.{name}" for path, names in _lines(_REPEATED) for name in names.split())


@cache
def messages() -> frozenset[str]:
    """The paths of all known messages, including those that only contain other messages."""
    fields = {path.rpartition(".")[0] for path in (*enumerations(), *repeated())}
    known = {*defaults(), *fields} - {""}
    return frozenset(".".join(names[:count]) for names in (path.split(".") for path in known) for count in range(1, len(names) + 1))
