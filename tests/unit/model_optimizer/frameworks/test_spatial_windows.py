"""Windows of Caffe and MXNet as extensions read them in the front phase."""

from __future__ import annotations

import pytest

CAFFE = """
%x = opset1.Parameter() {name = "x"} : tensor<1x4x8x8xf32>
%a = caffe.Convolution(%x) {name = "conv", convolution_param = {num_output = 4, kernel_size = 3, pad = 1, stride_h = 2, stride_w = 1}} : ?
%b = caffe.Pooling(%a) {name = "pool", pooling_param = {kernel_h = 2, kernel_w = 3}} : ?
opset1.Result(%b) {name = "r"}
"""
MXNET = """
%x = opset1.Parameter() {name = "x"} : tensor<1x4x8x8x8xf32>
%a = mxnet.Convolution(%x) {name = "conv", kernel = [3, 3, 1], pad = [1, 1, 0], num_filter = 4, num_group = 2} : ?
%b = mxnet.Pooling(%a) {name = "pool", kernel = [2, 2, 2], stride = [2, 2, 1], pool_type = "avg", pooling_convention = "full"} : ?
opset1.Result(%b) {name = "r"}
"""


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (
            CAFFE,
            "conv",
            {
                "kernel_spatial": [3, 3],
                "stride": [1, 1, 2, 1],
                "pad": [[0, 0], [0, 0], [1, 1], [1, 1]],
                "pad_spatial_shape": [[1, 1], [1, 1]],
                "dilation": [1, 1, 1, 1],
                "spatial_dims": [2, 3],
            },
        ),
        (CAFFE, "pool", {"window": [1, 1, 2, 3], "stride": [1, 1, 1, 1], "channel_dims": [1], "batch_dims": [0]}),
        (MXNET, "conv", {"kernel_spatial": [3, 3, 1], "pad": [[0, 0], [0, 0], [1, 1], [1, 1], [0, 0]], "group": 2, "output": 4}),
        (MXNET, "pool", {"window": [1, 1, 2, 2, 2], "stride": [1, 1, 2, 2, 1], "spatial_dims": [2, 3, 4]}),
    ],
)
def test_windows_have_an_entry_for_each_axis(graph_of, node, text, name, expected):
    actual = node(graph_of(text, "front"), name)
    assert {key: getattr(actual[key], "tolist", lambda value=actual[key]: value)() for key in expected} == expected


def test_methods_of_pooling(graph_of, node):
    pool = node(graph_of(MXNET, "front"), "pool")
    assert (pool.pool_method, pool.global_pool, pool.rounding_type, pool.layout) == ("avg", False, "ceil", "NCHW")
