"""Operations that extensions make with the classes of Model Optimizer, in its forms of all years, and what they compute."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from moir.errors import ConversionError
from tests.numerical.model_optimizer.conversion import Converted, convert, write
from tests.numerical.onnx.conversion import node
from tests.numerical.runtime import compare
from tests.numerical.tensorflow import conversion as tensorflow_conversion

X = np.random.default_rng(0).normal(size=(1, 4, 6, 6)).astype(np.float32)

AFTER = """
import numpy as np
from mo.{module}.replacement import {base}ReplacementPattern
from mo.front.common.partial_infer.utils import int64_array as ints, float_array
from mo.front.tf.graph_utils import create_op_with_const_inputs as const, create_op_node_with_second_input as second
{imports}

class After({base}ReplacementPattern):
    enabled = True

    def find_and_replace_pattern(self, graph):
        for node in graph.get_op_nodes(op='ReLU'):
            made = {made}
            node.out_port(0).get_connection().set_source(made.out_port(0))
            made.in_port(0).connect(node.out_port(0))
"""


def normalized(r, size, alpha, beta, bias):
    """Local response normalization across channels."""
    squares = np.pad(r**2, [(0, 0), (size // 2, size // 2), (0, 0), (0, 0)])
    total = sum(squares[:, start : start + r.shape[1]] for start in range(size))
    return r / (bias + alpha / size * total) ** beta


def blocks_first(r, block):
    count, channels, height, width = r.shape
    parts = r.reshape(count, block, block, channels // block**2, height, width).transpose(0, 3, 4, 1, 5, 2)
    return parts.reshape(count, channels // block**2, height * block, width * block)


def patches(r):
    return r.reshape(1, 4, 3, 2, 3, 2).transpose(0, 3, 5, 1, 2, 4).reshape(1, 16, 3, 3)


MADE = {
    "gather_in": (
        "from mo.ops.gather import Gather",
        "const(graph, Gather, {1: ints([1, 0]), 2: ints(2)}, {'name': 'g'})",
        lambda r: r[:, :, [1, 0]],
    ),
    "gather_attr": (
        "from mo.ops.gather import AttributedGather",
        "const(graph, AttributedGather, {1: ints([1, 0])}, {'axis': 2})",
        lambda r: r[:, :, [1, 0]],
    ),
    "gather_2019": (
        "from extensions.ops.gather import Gather",
        "const(graph, Gather, {1: ints([1, 0])}, {'axis': 2})",
        lambda r: r[:, :, [1, 0]],
    ),
    "pad_in": (
        "from extensions.ops.pad import Pad",
        "const(graph, Pad, {1: ints([0,0,1,0]), 2: ints([0,0,0,2]), 3: 0.5}, {'mode': 'constant'})",
        lambda r: np.pad(r, [(0, 0), (0, 0), (1, 0), (0, 2)], constant_values=0.5),
    ),
    "pad_no_value": (
        "from mo.ops.pad import Pad",
        "const(graph, Pad, {1: ints([0,0,1,0]), 2: ints([0,0,0,2])}, {'mode': 'reflect'})",
        lambda r: np.pad(r, [(0, 0), (0, 0), (1, 0), (0, 2)], mode="reflect"),
    ),
    "pad_attr": (
        "from mo.ops.pad import AttributedPad",
        "AttributedPad(graph, {'mode': 'edge', 'pads': np.array([[0,0],[0,0],[1,0],[0,2]])}).create_node()",
        lambda r: np.pad(r, [(0, 0), (0, 0), (1, 0), (0, 2)], mode="edge"),
    ),
    "pad_2019": (
        "from mo.ops.pad import Pad",
        "Pad(graph, {'mode': 'constant', 'fill_value': 0.25, 'pads': np.array([[0,0],[0,0],[1,0],[0,2]])}).create_node()",
        lambda r: np.pad(r, [(0, 0), (0, 0), (1, 0), (0, 2)], constant_values=0.25),
    ),
    "tfpad": (
        "from mo.ops.pad import TFPad",
        "const(graph, TFPad, {1: ints([[0,0],[0,0],[1,0],[0,2]])}, {'mode': 'constant'})",
        lambda r: np.pad(r, [(0, 0), (0, 0), (1, 0), (0, 2)]),
    ),
    "split_in": (
        "from mo.ops.split import Split",
        "const(graph, Split, {1: ints(1)}, {'num_splits': 2})",
        lambda r: r[:, :2],
    ),
    "split_attr": (
        "from mo.ops.split import AttributedSplit",
        "AttributedSplit(graph, {'axis': 1, 'num_splits': 2}).create_node()",
        lambda r: r[:, :2],
    ),
    "split_2019": (
        "from mo.ops.split import Split",
        "Split(graph, {'axis': 1, 'num_split': 2, 'num_splits': 2}).create_node()",
        lambda r: r[:, :2],
    ),
    "vsplit": (
        "from mo.ops.split import VariadicSplit",
        "const(graph, VariadicSplit, {1: ints(1), 2: ints([1, 3])}, {'out_ports_count': 2})",
        lambda r: r[:, :1],
    ),
    "vsplit_attr": (
        "from mo.ops.split import AttributedVariadicSplit",
        "AttributedVariadicSplit(graph, {'axis': 1, 'size_splits': ints([1, 3])}).create_node()",
        lambda r: r[:, :1],
    ),
    "lrn": (
        "from mo.ops.lrn import LRN",
        "LRN(graph, {'alpha': .1, 'beta': .75, 'bias': 1., 'local_size': 3, 'region': 'across'}).create_node()",
        lambda r: normalized(r, 3, 0.1, 0.75, 1.0),
    ),
    "lrn2": (
        "from mo.ops.lrn import AttributedLRN",
        "AttributedLRN(graph, {'alpha': .1, 'beta': .75, 'local_size': 3}).create_node()",
        lambda r: normalized(r, 3, 0.1, 0.75, 1.0),
    ),
    "power": (
        "from mo.ops.power import AttributedPower",
        "AttributedPower(graph, {'scale': 2., 'power': 2., 'shift': 1.}).create_node()",
        lambda r: (2 * r + 1) ** 2,
    ),
    "clamp": (
        "from mo.ops.clamp import AttributedClamp",
        "AttributedClamp(graph, {'min': .2, 'max': .7}).create_node()",
        lambda r: np.clip(r, 0.2, 0.7),
    ),
    "clamp_in": (
        "from mo.ops.clamp import Clamp",
        "const(graph, Clamp, {1: .2, 2: .7}, {})",
        lambda r: np.clip(r, 0.2, 0.7),
    ),
    "tile": (
        "from mo.ops.tile import Tile",
        "const(graph, Tile, {1: ints([1,2,1,1])}, {})",
        lambda r: np.tile(r, (1, 2, 1, 1)),
    ),
    "attr_tile": (
        "from mo.ops.tile import AttributedTile",
        "AttributedTile(graph, {'axis': 1, 'tiles': 2}).create_node()",
        lambda r: np.tile(r, (1, 2, 1, 1)),
    ),
    "squeeze": (
        "from mo.ops.squeeze import Squeeze",
        "const(graph, Squeeze, {1: ints([0])}, {})",
        lambda r: r[0],
    ),
    "unsq": (
        "from mo.ops.unsqueeze import Unsqueeze",
        "const(graph, Unsqueeze, {1: ints([0, 2])}, {})",
        lambda r: r[None, :, None],
    ),
    "expand": (
        "from mo.ops.expand_dims import ExpandDims",
        "ExpandDims(graph, {'expand_axis': ints([1])}).create_node()",
        lambda r: r[:, None],
    ),
    "flatten": (
        "from mo.ops.flatten import Flatten",
        "Flatten(graph, {'axis': 1, 'end_axis': -1}).create_node()",
        lambda r: r.reshape(1, -1),
    ),
    "reshape": (
        "from mo.ops.reshape import Reshape",
        "second(graph, Reshape, ints([0, -1]), {})",
        lambda r: r.reshape(1, -1),
    ),
    "reshape_dim": (
        "from mo.ops.reshape import Reshape",
        "Reshape(graph, {'dim': ints([0, -1])}).create_node()",
        lambda r: r.reshape(1, -1),
    ),
    "transpose": (
        "from extensions.ops.transpose import Transpose",
        "const(graph, Transpose, {1: ints([0,2,3,1])}, {})",
        lambda r: r.transpose(0, 2, 3, 1),
    ),
    "permute": (
        "from mo.ops.permute import Permute",
        "Permute(graph, {'order': ints([0,2,3,1])}).create_node()",
        lambda r: r.transpose(0, 2, 3, 1),
    ),
    "conv": (
        "from mo.ops.convolution import Convolution",
        "const(graph, Convolution, {1: np.ones((3, 4, 1, 1), np.float32)}, dict(stride=ints([1, 1, 2, 2]), pad=np.zeros((4, 2), int), "
        "dilation=ints([1, 1, 1, 1]), group=1, kernel_spatial=ints([1, 1]), spatial_dims=ints([2, 3]), channel_dims=ints([1]), "
        "batch_dims=ints([0]), kernel_spatial_idx=[2, 3], input_feature_channel=1, output_feature_channel=0, layout='NCHW'))",
        lambda r: np.repeat(r[:, :, ::2, ::2].sum(1, keepdims=True), 3, 1),
    ),
    "reduce": (
        "from extensions.ops.ReduceOps import ReduceMax",
        "const(graph, ReduceMax, {1: ints([2, 3])}, {'keep_dims': True})",
        lambda r: r.max((2, 3), keepdims=True),
    ),
    "reduce_attr": (
        "from extensions.ops.ReduceOps import ReduceMax",
        "ReduceMax(graph, {'axis': ints([2, 3]), 'keep_dims': False}).create_node()",
        lambda r: r.max((2, 3)),
    ),
    "cumsum": (
        "from extensions.ops.cumsum import CumSum",
        "const(graph, CumSum, {1: ints(2)}, {'exclusive': True, 'reverse': False})",
        lambda r: np.cumsum(r, 2) - r,
    ),
    "normalize": (
        "from extensions.ops.normalize_l2 import NormalizeL2Op",
        "const(graph, NormalizeL2Op, {1: ints([1])}, {'eps': 1e-6, 'eps_mode': 'add'})",
        lambda r: r / np.sqrt((r**2).sum(1, keepdims=True) + 1e-6),
    ),
    "roll": (
        "from extensions.ops.roll import Roll",
        "const(graph, Roll, {1: ints([1]), 2: ints([2])}, {})",
        lambda r: np.roll(r, 1, 2),
    ),
    "bcast": (
        "from mo.ops.broadcast import Broadcast",
        "const(graph, Broadcast, {1: ints([3,4,6,6])}, {'mode': 'numpy'})",
        lambda r: np.broadcast_to(r, (3, 4, 6, 6)),
    ),
    "crop": (
        "from mo.ops.crop import Crop",
        "Crop(graph, {'axis': ints([2,3]), 'offset': ints([1,2]), 'dim': ints([3,3])}).create_node()",
        lambda r: r[:, :, 1:4, 2:5],
    ),
    "crop2": (
        "from mo.ops.crop import Crop",
        "Crop(graph, {'axis': ints([2,3]), 'crop_begin': ints([1,2]), 'crop_end': ints([2,1])}).create_node()",
        lambda r: r[:, :, 1:4, 2:5],
    ),
    "strided slice": (
        "from mo.ops.strided_slice import StridedSlice",
        "const(graph, StridedSlice, {1: ints([0, 1]), 2: ints([0, 3]), 3: ints([1, 1])}, dict(begin_mask=ints([0, 1]), "
        "end_mask=ints([0, 1]), new_axis_mask=ints([0]), shrink_axis_mask=ints([0]), ellipsis_mask=ints([0])))",
        lambda r: r[:, 1:3],
    ),
    "slice": (
        "from mo.ops.slice import Slice",
        "const(graph, Slice, {1: ints([1]), 2: ints([3]), 3: ints([1]), 4: ints([1])}, {})",
        lambda r: r[:, 1:3],
    ),
    "attr_slice": (
        "from mo.ops.slice import AttributedSlice",
        "AttributedSlice(graph, {'starts': ints([1]), 'ends': ints([3]), 'axes': ints([1])}).create_node()",
        lambda r: r[:, 1:3],
    ),
    "mvn": (
        "from extensions.ops.mvn import MVN",
        "const(graph, MVN, {1: ints([2,3])}, {'eps': 1e-3, 'eps_mode': 'inside_sqrt', 'normalize_variance': 1})",
        lambda r: (r - r.mean((2, 3), keepdims=True)) / np.sqrt(r.var((2, 3), keepdims=True) + 1e-3),
    ),
    "matmul": (
        "from extensions.ops.MatMul import MatMul",
        "const(graph, MatMul, {1: np.ones((6, 2), np.float32)}, {'transpose_a': False})",
        lambda r: r @ np.ones((6, 2), np.float32),
    ),
    "select": (
        "from extensions.ops.select import Select\nfrom extensions.ops.elementwise import Greater",
        "const(graph, Greater, {1: 0.5}, {})",
        lambda r: r > 0.5,
    ),
    "eltwise": (
        "from mo.ops.eltwise import Eltwise",
        "const(graph, Eltwise, {1: float_array([2.0])}, {'operation': 'max'})",
        lambda r: np.maximum(r, 2),
    ),
    "elt_n": (
        "from mo.ops.eltwise_n import EltwiseNAdd",
        "const(graph, EltwiseNAdd, {1: 1.0, 2: 2.0}, dict(in_ports_count=3))",
        lambda r: r + 3,
    ),
    "scatter": (
        "from extensions.ops.scatter import ScatterElementsUpdate",
        "const(graph, ScatterElementsUpdate, {1: np.zeros((1,1,6,6),np.int64), 2: np.ones((1,1,6,6),np.float32), 3: ints(1)}, {})",
        lambda r: np.concatenate([np.ones((1, 1, 6, 6), np.float32), r[:, 1:]], 1),
    ),
    "topk": (
        "from extensions.ops.topk import TopK",
        "const(graph, TopK, {1: ints(2)}, {'axis': 2, 'mode': 'max', 'sort': 'value', 'remove_values_output': False})",
        lambda r: -np.sort(-r, 2)[:, :, :2],
    ),
    "depth to space": (
        "from extensions.ops.depth_to_space import DepthToSpaceOp",
        "DepthToSpaceOp(graph, {'block_size': 2, 'mode': 'blocks_first'}).create_node()",
        lambda r: blocks_first(r, 2),
    ),
    "prelu": (
        "from extensions.ops.prelu import PReLU",
        "const(graph, PReLU, {1: np.full(4, .3, np.float32)}, {})",
        lambda r: r,
    ),
    "act": ("from extensions.ops.activation_ops import *", "Elu(graph, {'alpha': 1.0}).create_node()", lambda r: r),
    "leaky": (
        "from extensions.ops.activation_ops import LeakyReLU",
        "LeakyReLU(graph, {'negative_slope': 0.1}).create_node()",
        lambda r: r,
    ),
    "swish": ("from extensions.ops.activation_ops import Swish", "Swish(graph, {}).create_node()", lambda r: r / (1 + np.exp(-r))),
    "swishb": (
        "from extensions.ops.activation_ops import Swish",
        "const(graph, Swish, {1: 2.0}, {})",
        lambda r: r / (1 + np.exp(-2 * r)),
    ),
    "softplus": ("from extensions.ops.activation_ops import SoftPlus", "SoftPlus(graph, {}).create_node()", lambda r: np.log1p(np.exp(r))),
    "logsoftmax": (
        "from extensions.ops.log_softmax import LogSoftmax",
        "LogSoftmax(graph, {'axis': 1}).create_node()",
        lambda r: r - np.log(np.exp(r).sum(1, keepdims=True)),
    ),
    "softmax": (
        "from mo.ops.softmax import Softmax",
        "Softmax(graph, {'axis': 1}).create_node()",
        lambda r: np.exp(r) / np.exp(r).sum(1, keepdims=True),
    ),
    "ceiling": ("from extensions.ops.activation_ops import Ceiling", "Ceiling(graph, {}).create_node()", np.ceil),
    "exp": ("from extensions.ops.activation_ops import Exp", "Exp(graph, {}).create_node()", np.exp),
    "fq": (
        "from extensions.ops.fakequantize import FakeQuantize",
        "const(graph, FakeQuantize, {1: 0.0, 2: 1.0, 3: 0.0, 4: 1.0}, {'levels': 256})",
        lambda r: np.round(np.clip(r, 0, 1) * 255) / 255,
    ),
    "gather elements": (
        "from extensions.ops.gatherelements import GatherElements",
        "const(graph, GatherElements, {1: np.zeros((1,4,1,6),np.int64)}, {'axis': 2})",
        lambda r: r[:, :, :1],
    ),
    "gathernd": (
        "from extensions.ops.gathernd import GatherND",
        "const(graph, GatherND, {1: ints([[0, 1], [0, 0]])}, {'batch_dims': 0})",
        lambda r: r[0, [1, 0]],
    ),
    "rev": (
        "from extensions.ops.reverse_sequence import ReverseSequence",
        "const(graph, ReverseSequence, {1: ints([3])}, {'seq_axis': 2, 'batch_axis': 0})",
        lambda r: np.concatenate([r[:, :, :3][:, :, ::-1], r[:, :, 3:]], 2),
    ),
    "s2b": (
        "from extensions.ops.space_to_batch import SpaceToBatch",
        "const(graph, SpaceToBatch, {1: ints([1,1,2,2]), 2: ints([0,0,0,0]), 3: ints([0,0,0,0])}, {})",
        lambda r: r.reshape(1, 4, 3, 2, 3, 2).transpose(3, 5, 0, 1, 2, 4).reshape(4, 4, 3, 3),
    ),
    "pool_old": (
        "from mo.ops.pooling import Pooling",
        "Pooling(graph, {'window': ints([1,1,2,2]), 'stride': ints([1,1,2,2]), 'pad': np.zeros((4,2),int), 'pool_method': 'max', "
        "'spatial_dims': ints([2,3]), 'layout': 'NCHW'}).create_node()",
        lambda r: r.reshape(1, 4, 3, 2, 3, 2).max((3, 5)),
    ),
    "scale shift": (
        "from mo.ops.scale_shift import ScaleShiftOp",
        "const(graph, ScaleShiftOp, {1: np.arange(4, dtype=np.float32), 2: np.ones(4, np.float32)}, {})",
        lambda r: r * np.arange(4).reshape(1, 4, 1, 1) + 1,
    ),
    "sub": (
        "from extensions.ops.elementwise import Sub, Maximum",
        "const(graph, Sub, {1: 1.0}, {})",
        lambda r: r - 1,
    ),
    "cast": ("from extensions.ops.Cast import Cast", "Cast(graph, {'dst_type': np.int32}).create_node()", lambda r: r.astype(np.int32)),
    "identity": ("from extensions.ops.identity import Identity", "Identity(graph, {}).create_node()", lambda r: r),
    "extract": (
        "from extensions.ops.ExtractImagePatches import ExtractImagePatches",
        "ExtractImagePatches(graph, {'sizes': [1, 1, 2, 2], 'strides': [1, 1, 2, 2], 'rates': [1, 1, 1, 1], "
        "'auto_pad': 'valid', 'spatial_dims': ints([2, 3])}).create_node()",
        patches,
    ),
    "shuffle": (
        "from extensions.ops.shufflechannel import ShuffleChannels",
        "ShuffleChannels(graph, {'group': 2, 'axis': 1}).create_node()",
        lambda r: r.reshape(1, 2, 2, 6, 6).transpose(0, 2, 1, 3, 4).reshape(1, 4, 6, 6),
    ),
    "grn": (
        "from extensions.ops.grn import GRNOp",
        "GRNOp(graph, {'bias': 0.1}).create_node()",
        lambda r: r / np.sqrt((r**2).sum(1, keepdims=True) + 0.1),
    ),
    "hsig": (
        "from extensions.ops.activation_ops import HSigmoid, HSwish",
        "HSwish(graph, {}).create_node()",
        lambda r: r * np.clip(r + 3, 0, 6) / 6,
    ),
    "size": ("from extensions.ops.size import Size", "Size(graph, {'output_type': np.int64}).create_node()", lambda r: np.array(r.size)),
    "rank": ("from extensions.ops.rank import Rank", "Rank(graph, {'output_type': np.int32}).create_node()", lambda _: np.array(4)),
    "nonzero": (
        "from extensions.ops.non_zero import NonZero",
        "NonZero(graph, {'output_type': np.int64}).create_node()",
        lambda r: np.array(np.nonzero(r)),
    ),
}
PHASES = {"front": "front.common", "middle": "middle", "back": "back"}


@pytest.mark.parametrize("name", MADE)
def test_what_it_computes(tmp_path, name):
    """Each in one phase, in turn: what is made is lowered in the same way."""
    imports, made, expected = MADE[name]
    phase = list(PHASES)[list(MADE).index(name) % len(PHASES)]
    text = AFTER.format(module=PHASES[phase], base=phase.capitalize(), imports=imports, made=made)
    converted = convert(tmp_path, {f"{phase}/after.py": text}, [node("Relu", ["x"], ["y"], "relu")], {"x": X})
    (actual,) = converted.run({"x": X})
    want = np.asarray(expected(np.maximum(X, 0)))
    compare([actual], [want.astype(actual.dtype)])


@pytest.mark.parametrize("kind", ["If", "Loop", "TensorIterator"])
def test_an_operation_with_bodies_cannot_be_made(tmp_path, kind):
    imports = f"from openvino.tools.mo.ops.{kind} import {kind}"
    made = f"{kind}(graph, {{'in_ports_count': 1}}).create_node()"
    text = AFTER.format(module="middle", base="Middle", imports=imports, made=made)
    with pytest.raises(ConversionError, match=rf"after\.py:\d+ .*an extension cannot make a {kind}: it would have no bodies; edit"):
        convert(tmp_path, {"middle/after.py": text}, [node("Relu", ["x"], ["y"], "relu")], {"x": X})


# In a channel-last model, after a convolution: what is computed of [N, H, W, C].
CHANNEL_LAST = {
    "slopes": ("from extensions.ops.prelu import PReLU", "const(graph, PReLU, {1: np.full(4, 0.3)}, {})", lambda x: tf.maximum(x, 0)),
    "depth to space": (
        "from extensions.ops.depth_to_space import DepthToSpaceOp",
        "DepthToSpaceOp(graph, {'block_size': 2, 'mode': 'blocks_first'}).create_node()",
        lambda x: tf.nn.depth_to_space(tf.maximum(x, 0), 2),
    ),
    "local response normalization": (
        "from mo.ops.lrn import AttributedLRN",
        "AttributedLRN(graph, {'alpha': 0.1, 'beta': 0.75, 'local_size': 3}).create_node()",
        lambda x: tf.nn.lrn(tf.maximum(x, 0), 1, 1.0, 0.1 / 3, 0.75),
    ),
    "patches": (
        "from extensions.ops.ExtractImagePatches import ExtractImagePatches",
        "ExtractImagePatches(graph, {'sizes': [1, 2, 2, 1], 'strides': [1, 2, 2, 1], 'rates': [1, 1, 1, 1], 'auto_pad': 'valid', "
        "'spatial_dims': ints([1, 2])}).create_node()",
        lambda x: tf.image.extract_patches(tf.maximum(x, 0), [1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1], "VALID"),
    ),
    "across channels": (
        "from extensions.ops.grn import GRNOp",
        "GRNOp(graph, {'bias': 0.1}).create_node()",
        lambda x: tf.maximum(x, 0) / tf.sqrt(tf.reduce_sum(tf.maximum(x, 0) ** 2, 3, keepdims=True) + 0.1),
    ),
}


@pytest.mark.parametrize("phase", ["front", "middle"])
@pytest.mark.parametrize("name", CHANNEL_LAST)
def test_what_it_computes_of_channel_last_data(tmp_path, name, phase):
    imports, made, expected = CHANNEL_LAST[name]
    files = {f"{phase}/after.py": AFTER.format(module=PHASES[phase], base=phase.capitalize(), imports=imports, made=made)}
    x, weights = X.transpose(0, 2, 3, 1), np.ones((1, 1, 4, 4), np.float32)
    graph, _ = tensorflow_conversion.build(lambda x: tf.nn.elu(tf.nn.relu(tf.nn.conv2d(x, weights, 1, "SAME"))), {"x": x})
    converted = Converted.of(graph, tmp_path, extensions=[write(tmp_path / "my_extension", files)])
    compare(converted.run({"x": x}), [tf.nn.elu(expected(tf.nn.conv2d(x, weights, 1, "SAME"))).numpy()], rtol=1e-4)
