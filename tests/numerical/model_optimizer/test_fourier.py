"""A network for magnetic resonance images, in the style of 2021: complex data is real data with a last dimension of two.

Its convolutions make the layout change, so that the transform gets [N, 2, H, W], as Model Optimizer gave it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import tensorflow as tf

from tests.numerical.model_optimizer.conversion import Converted, write
from tests.numerical.model_optimizer.kernels import Attributes, kernel, run_with
from tests.numerical.runtime import Array, compare
from tests.numerical.tensorflow import conversion as tensorflow_conversion

FILES = {
    "ops/FFT.py": """
        from mo.front.common.partial_infer.elemental import copy_shape_infer
        from mo.graph.graph import Graph
        from mo.ops.op import Op

        class FFT(Op):
            op = 'FFT'
            enabled = False

            def __init__(self, graph: Graph, attrs: dict):
                super().__init__(graph, {
                    'type': self.op,
                    'op': self.op,
                    'version': 'custom_opset',
                    'inverse': None,
                    'in_ports_count': 1,
                    'out_ports_count': 1,
                    'infer': copy_shape_infer
                }, attrs)

            def backend_attrs(self):
                return ['inverse']
        """,
    "front/tf/FFT_ext.py": """
        from mo.front.extractor import FrontExtractorOp
        from my_extension.ops.FFT import FFT

        class FFT2DExtractor(FrontExtractorOp):
            op = 'FFT2D'
            enabled = True

            @classmethod
            def extract(cls, node):
                FFT.update_node_stat(node, {'inverse': 0})
                return True
        """,
    "front/tf/Complex.py": """
        import logging as log

        from mo.front.subgraph_matcher import SubgraphMatch
        from mo.front.common.replacement import FrontReplacementSubgraph
        from mo.graph.graph import Graph

        class Complex(FrontReplacementSubgraph):
            enabled = True

            def pattern(self):
                return dict(
                    nodes=[
                        ('strided_slice_real', dict(op='StridedSlice')),
                        ('strided_slice_imag', dict(op='StridedSlice')),
                        ('complex', dict(op='Complex')),
                    ],
                    edges=[
                        ('strided_slice_real', 'complex', {'in': 0}),
                        ('strided_slice_imag', 'complex', {'in': 1}),
                    ])

            @staticmethod
            def replace_sub_graph(graph: Graph, match: dict):
                strided_slice_real = match['strided_slice_real']
                strided_slice_imag = match['strided_slice_imag']
                complex_node = match['complex']
                assert strided_slice_real.in_port(0).get_source().node.id == strided_slice_imag.in_port(0).get_source().node.id
                source = strided_slice_real.in_port(0).get_source()
                complex_node.out_port(0).get_connection().set_source(source)
        """,
    "front/tf/ComplexAbs.py": """
        import numpy as np

        from extensions.ops.elementwise import Pow
        from extensions.ops.ReduceOps import ReduceSum
        from mo.front.common.partial_infer.utils import int64_array
        from mo.front.common.replacement import FrontReplacementOp
        from mo.graph.graph import Graph, Node
        from mo.ops.const import Const

        class ComplexAbs(FrontReplacementOp):
            op = 'ComplexAbs'
            enabled = True

            def replace_op(self, graph: Graph, node: Node):
                pow_2 = Const(graph, {'value': np.float32(2.0)}).create_node()
                reduce_axis = Const(graph, {'value': int64_array(-1)}).create_node()
                pow_0_5 = Const(graph, {'value': 0.5}).create_node()

                sq = Pow(graph, dict(name=node.in_node(0).name + '/sq', power=2.0)).create_node([node.in_node(0), pow_2])
                sum = ReduceSum(graph, dict(name=sq.name + '/sum')).create_node([sq, reduce_axis])
                sqrt = Pow(graph, dict(name=sum.name + '/sqrt', power=0.5)).create_node([sum, pow_0_5])
                return [sqrt.id]
        """,
}


def transformed(attributes: Attributes, inputs: list[Array]) -> Array:
    """The transform over height and width of [N, 2, H, W], real parts in the first channel."""
    (data,) = inputs
    assert data.shape[1] == 2
    assert attributes["inverse"] == 0
    result = np.fft.fft2(data[:, 0] + 1j * data[:, 1])
    return np.stack((result.real, result.imag), axis=1)


FFT = kernel("FFT", {"inverse": 0}, lambda _, shapes: shapes[0], transformed)

RNG = np.random.default_rng(5)
WEIGHTS = RNG.normal(size=(3, 3, 3, 2)).astype(np.float32)


def spectrum(x: Any) -> Any:
    data = tf.nn.conv2d(x, WEIGHTS, 1, "SAME")
    return tf.raw_ops.ComplexAbs(x=tf.signal.fft2d(tf.complex(data[..., 0], data[..., 1])))


def test_fourier_transform_of_complex_data(tmp_path):
    x = RNG.normal(size=(1, 6, 5, 3)).astype(np.float32)
    graph, names = tensorflow_conversion.build(spectrum, {"x": x})
    converted = Converted.of(graph, tmp_path, extensions=[write(tmp_path / "my_extension", FILES)])
    assert converted.attributes("FFT") == {"inverse": "0"}
    assert converted.layer("FFT").get("version") == "custom_opset"
    assert converted.shape("FFT") == [1, 2, 6, 5]
    # One transposition for the input; after the transform, the axis of the sum is that of the channels.
    assert converted.types.count("Transpose") == 1
    # An operation that is written in Python is of the operation set `extension`.
    converted.path.write_text(converted.path.read_text().replace("custom_opset", "extension"))
    actual = run_with(converted, {"x": x}, FFT)
    compare(actual, tensorflow_conversion.expected_results(graph, names, {"x": x}), rtol=1e-3)
