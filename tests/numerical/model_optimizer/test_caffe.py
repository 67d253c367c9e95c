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
