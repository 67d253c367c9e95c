"""JSON configurations work for Caffe and MXNet: the transformation gets their custom attributes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import moir
from tests.numerical.caffe.networks import input_layer, layer
from tests.numerical.caffe.networks import write as write_network
from tests.numerical.model_optimizer.conversion import write
from tests.numerical.mxnet.models import results
from tests.numerical.mxnet.models import write as write_symbol

TRANSFORMATION = """
    import numpy as np
    from mo.front.tf.replacement import FrontReplacementFromConfigFileGeneral
    from mo.ops.const import Const
    from extensions.ops.elementwise import Mul

    class Enlarge(FrontReplacementFromConfigFileGeneral):
        replacement_id = 'Enlarge'
        enabled = True

        def transform_graph(self, graph, replacement_descriptions):
            node = graph.get_op_nodes(name=replacement_descriptions['node'])[0]
            factor = Const(graph, {'value': np.float32(replacement_descriptions['factor'])}).create_node()
            product = Mul(graph, {'name': 'enlarged'}).create_node()
            node.out_port(0).get_connection().set_source(product.out_port(0))
            node.out_port(0).connect(product.in_port(0))
            factor.out_port(0).connect(product.in_port(1))
"""
CONFIGURATION = [{"id": "Enlarge", "match_kind": "general", "custom_attributes": {"node": "shift", "factor": 3}}]


def caffe_model(folder: Path) -> Path:
    shift = layer("Power", "power_param { shift: 1 }", ["x"], ["s"], "shift")
    return write_network(folder, input_layer(x=(2, 3)) + shift + layer("ReLU", "", ["s"], ["y"], "relu"), {"shift": []})


def mxnet_model(folder: Path) -> Path:
    nodes = [
        {"op": "null", "name": "x", "attrs": {"__shape__": "(2, 3)"}, "inputs": []},
        {"op": "_plus_scalar", "name": "shift", "attrs": {"scalar": "1"}, "inputs": [[0, 0, 0]]},
        {"op": "relu", "name": "y", "inputs": [[1, 0, 0]]},
    ]
    return write_symbol(folder, {"nodes": nodes, "arg_nodes": [0], "heads": [[2, 0, 0]]}, {})


@pytest.mark.parametrize("framework", ["caffe", "mxnet"])
def test_general_configuration(framework: str, tmp_path: Path) -> None:
    path = caffe_model(tmp_path) if framework == "caffe" else mxnet_model(tmp_path)
    directory = write(tmp_path / "extensions", {f"front/{framework}/enlarge.py": TRANSFORMATION})
    configuration = tmp_path / "enlarge.json"
    configuration.write_text(json.dumps(CONFIGURATION))
    module = moir.convert_model(path, extensions=directory, transformations_config=configuration)
    x = np.arange(6, dtype=np.float32).reshape(2, 3) - 3
    actual = results(moir.to_openvino(module), {"x": x})
    np.testing.assert_allclose(actual["y" if framework == "caffe" else "y_output"], np.maximum(3 * (x + 1), 0))
