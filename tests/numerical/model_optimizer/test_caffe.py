"""Extensions for Caffe: extractors of layers, of those written in Python, and what they see of a layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.caffe.networks import input_layer, layer, results
from tests.numerical.caffe.networks import write as write_network
from tests.numerical.model_optimizer.conversion import write

EXTENSIONS = {
    "ops/doubling.py": """
        from openvino.tools.mo.ops.op import Op

        class Doubling(Op):
            op = 'Doubling'

            def __init__(self, graph, attrs):
                super().__init__(graph, {'type': None, 'op': self.op, 'in_ports_count': 1, 'out_ports_count': 1, 'infer': None}, attrs)

            def supported_attrs(self):
                return ['factor', 'terms']
    """,
    "front/caffe/doubling_python_ext.py": """
        from openvino.tools.mo.front.extractor import CaffePythonFrontExtractorOp
        from extensions.ops.doubling import Doubling

        class DoublingPythonExtractor(CaffePythonFrontExtractorOp):
            op = 'layers.twice.Twice'
            enabled = True

            @classmethod
            def extract(cls, node):
                Doubling.update_node_stat(node, {**cls.get_attrs(node.pb), 'terms': []})
                return cls.enabled
    """,
    "front/caffe/doubling_ext.py": """
        from openvino.tools.mo.front.extractor import FrontExtractorOp
        from extensions.ops.doubling import Doubling

        class DoublingExtractor(FrontExtractorOp):
            op = 'Twice'
            enabled = True

            @classmethod
            def extract(cls, node):
                param = node.pb.twice_param
                terms = [float(each) for each in param.terms] + list(param.absent) + [param.inner.size, len(node.model_pb.blobs[0].data)]
                Doubling.update_node_stat(node, {'factor': param.factor * param.other.scale or param.factor, 'terms': terms})
                return cls.enabled
    """,
    "front/caffe/doubling_to_add.py": """
        import numpy as np
        from openvino.tools.mo.front.common.replacement import FrontReplacementOp
        from openvino.tools.mo.ops.elementwise import Mul, Add
        from openvino.tools.mo.ops.const import Const

        class DoublingToMul(FrontReplacementOp):
            op = 'Doubling'
            enabled = True

            def replace_op(self, graph, node):
                factor = Const(graph, {'value': np.float32(node.factor)}).create_node()
                result = Mul(graph, {'name': node.name}).create_node([node.in_node(0), factor])
                for term in node.terms:
                    result = Add(graph, {}).create_node([result, Const(graph, {'value': np.float32(term)}).create_node()])
                return [result.id]
    """,
}


def test_layers_written_in_python(tmp_path: Path) -> None:
    parameters = 'python_param { module: "layers.twice" layer: "Twice" param_str: "{\'factor\': 2.5}" }'
    path = write_network(tmp_path, input_layer(x=(2, 3)) + layer("Python", parameters), {"layer": []})
    directory = write(tmp_path / "extensions", EXTENSIONS)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    model = moir.to_openvino(moir.convert_model(path, extensions=directory))
    np.testing.assert_allclose(results(model, {"x": x})["y"], 2.5 * x)
    with pytest.raises(ConversionError, match=r"caffe\.Python"):
        moir.convert_model(path)


def test_what_an_extractor_sees_of_a_layer(tmp_path: Path) -> None:
    parameters = "twice_param { factor: 3 terms: 0.5 inner { size: 4 } }"
    weights = [np.zeros((2, 5), np.float32)]
    path = write_network(tmp_path, input_layer(x=(2, 3)) + layer("Twice", parameters), {"layer": weights})
    model = moir.to_openvino(moir.convert_model(path, extensions=write(tmp_path / "extensions", EXTENSIONS)))
    x = np.ones((2, 3), np.float32)
    np.testing.assert_allclose(results(model, {"x": x})["y"], 3 * x + 0.5 + 4 + 10)


OWN_FORMS = {
    "front/caffe/own_forms_ext.py": """
        import numpy as np
        from extensions.ops.MatMul import FullyConnected
        from mo.front.caffe.collect_attributes import collect_attributes
        from mo.front.caffe.extractors.utils import get_spatial_attr, weights_biases
        from mo.front.common.extractors.utils import layout_attrs
        from mo.front.extractor import FrontExtractorOp
        from mo.ops.convolution import Convolution
        from mo.ops.crop import Crop
        from mo.ops.pooling import Pooling
        from mo.front.common.partial_infer.crop import crop_infer

        class OwnConvolution(FrontExtractorOp):
            op = 'Convolution'
            enabled = True

            @classmethod
            def extract(cls, node):
                param = node.pb.convolution_param
                assert param.bias_term and param.pad == [] and node.pb.bottom == ['x']
                kernel = get_spatial_attr([0, 0], 'kernel_size', 'kernel', param)
                attrs = {
                    'op': 'Conv2D', 'bias_addable': True, 'bias_term': param.bias_term, 'group': param.group, 'output': param.num_output,
                    'pad': np.array([[0, 0]] * 4), 'stride': np.array([1, 1, 2, 2]), 'dilation': np.array([1, 1, 1, 1]),
                    'kernel_spatial': np.array(kernel[::-1]), 'kernel_spatial_idx': np.array([2, 3]), 'reshape_kernel': True,
                }
                attrs.update(weights_biases(param.bias_term, node.model_pb, start_index=len(node.pb.bottom), proto=param))
                attrs.update(layout_attrs())
                Convolution.update_node_stat(node, attrs)
                return cls.enabled

        class OwnPooling(FrontExtractorOp):
            op = 'Pooling'
            enabled = True

            @classmethod
            def extract(cls, node):
                param = node.pb.pooling_param
                size, stride, pad = param.kernel_size, param.stride, param.pad
                assert collect_attributes(param)['pool'] == 'caffe.PoolingParameter.AVE' and param.ceil_mode
                Pooling.update_node_stat(node, {
                    'window': np.array([1, 1, size, size]), 'stride': np.array([1, 1, stride, stride]),
                    'pad': np.array([[0, 0], [0, 0], [pad, pad], [pad, pad]]), 'pool_method': ('max', 'avg')[param.pool],
                    'exclude_pad': param.pool == 0, 'rounding_type': 'ceil', 'pooling_convention': 'full',
                })
                return cls.enabled

        class OwnCrop(FrontExtractorOp):
            op = 'Crop'
            enabled = True

            @classmethod
            def extract(cls, node):
                param = node.pb.crop_param
                Crop.update_node_stat(node, {'type': 'Crop', 'axis': param.axis, 'offset': param.offset, 'dim': None, 'infer': crop_infer})
                return cls.enabled

        class OwnInnerProduct(FrontExtractorOp):
            op = 'InnerProduct'
            enabled = True

            @classmethod
            def extract(cls, node):
                param = node.pb.inner_product_param
                attrs = {'out-size': param.num_output, 'transpose_weights': not param.transpose}
                attrs.update(weights_biases(param.bias_term, node.model_pb))
                FullyConnected.update_node_stat(node, attrs)
                return cls.enabled
    """,
}


def test_users_extractors_of_known_layers_give_what_the_layers_are(tmp_path: Path) -> None:
    text = input_layer(x=(2, 4, 9, 8)) + (
        'layer { name: "c" type: "Convolution" bottom: "x" top: "c" convolution_param { num_output: 6 kernel_h: 3 kernel_w: 2 stride: 2'
        " group: 2 } }\n"
        'layer { name: "p" type: "Pooling" bottom: "c" top: "p" pooling_param { pool: AVE kernel_size: 3 stride: 2 pad: 1 } }\n'
        'layer { name: "k" type: "Crop" bottom: "c" bottom: "p" top: "k" crop_param { offset: 1 } }\n'
        'layer { name: "f" type: "InnerProduct" bottom: "k" top: "f" inner_product_param { num_output: 5 } }\n'
    )
    random = np.random.default_rng(3)

    def uniform(*shape: int) -> np.ndarray:
        return random.uniform(-1, 1, shape).astype(np.float32)

    weights = {"c": [uniform(6, 2, 3, 2), uniform(6)], "f": [uniform(5, 6 * 3 * 3), uniform(5)]}
    path = write_network(tmp_path, text, weights)
    x = uniform(2, 4, 9, 8)
    plain = results(moir.to_openvino(moir.convert_model(path)), {"x": x})
    own = results(moir.to_openvino(moir.convert_model(path, extensions=write(tmp_path / "extensions", OWN_FORMS))), {"x": x})
    np.testing.assert_allclose(own["f"], plain["f"], rtol=1e-5, atol=1e-5)
