"""Extensions for MXNet: extractors as they were written for Model Optimizer of 2019 to 2022."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import moir
from moir.errors import ConversionError
from tests.numerical.model_optimizer.conversion import write
from tests.numerical.mxnet.models import results
from tests.numerical.mxnet.models import write as write_model

OPERATION = """
    from {root}ops.op import Op

    class Scaled(Op):
        op = 'Scaled'

        def __init__(self, graph, attrs):
            super().__init__(graph, {{'type': None, 'op': self.op, 'in_ports_count': 1, 'out_ports_count': 1, 'infer': None}}, attrs)
"""
REPLACEMENT = """
    import numpy as np
    from {root}front.common.replacement import FrontReplacementOp
    from {elementwise} import Mul
    from {root}ops.const import Const

    class ScaledToMul(FrontReplacementOp):
        op = 'Scaled'
        enabled = True

        def replace_op(self, graph, node):
            factor = Const(graph, {{'value': np.float32(node.factor * sum(node.sizes))}}).create_node()
            return [Mul(graph, {{'name': node.name}}).create_node([node.in_node(0), factor]).id]
"""
PLAIN = """
    from {root}front.extractor import FrontExtractorOp
    from {root}front.mxnet.extractors.utils import get_mxnet_layer_attrs
    from extensions.ops.scaled import Scaled

    class ScaledExtractor(FrontExtractorOp):
        op = 'my_scaled'
        enabled = True

        {method}
            attrs = get_mxnet_layer_attrs(node.symbol_dict)
            assert attrs.bool('flag', False) and attrs.str('absent', 'none') == 'none' and not attrs.has('absent')
            Scaled.update_node_stat(node, {{'factor': attrs.float('factor', 1.0), 'sizes': attrs.tuple('sizes', int, (1,))}})
            return {owner}.enabled
"""
CUSTOM = """
    from {root}front.extractor import MXNetCustomFrontExtractorOp
    from {root}front.mxnet.extractors.utils import get_mxnet_layer_attrs

    class CustomExtractor(MXNetCustomFrontExtractorOp):
        op = 'MyCustomOp'
        enabled = True

        def extract(self, node):
            attrs = get_mxnet_layer_attrs(node.symbol_dict)
            return True, {{'op': 'Scaled', 'factor': attrs.float('my_attribute', 5.5), 'sizes': attrs.list('sizes', int, [1])}}
"""
GENERATIONS = {
    "2019": ("mo.", "extensions.ops.elementwise", "@staticmethod\n        def extract(node):", "ScaledExtractor"),
    "2021": ("mo.", "extensions.ops.elementwise", "@classmethod\n        def extract(cls, node):", "cls"),
    "2022": ("openvino.tools.mo.", "openvino.tools.mo.ops.elementwise", "@classmethod\n        def extract(cls, node):", "cls"),
}


def model(folder: Path, kind: str, attributes: dict[str, str]) -> Path:
    nodes = [
        {"op": "null", "name": "x", "attrs": {"__shape__": "(2, 3)"}, "inputs": []},
        {"op": "null", "name": "w", "inputs": []},
        {"op": "broadcast_add", "name": "sum", "inputs": [[0, 0, 0], [1, 0, 0]]},
        {"op": kind, "name": "y", "attrs": attributes, "inputs": [[2, 0, 0]]},
    ]
    symbol = {"nodes": nodes, "arg_nodes": [0, 1], "heads": [[3, 0, 0]]}
    return write_model(folder, symbol, {"w": np.ones((1, 3), np.float32)})


@pytest.mark.parametrize("generation", GENERATIONS)
def test_extractors_of_three_generations(generation: str, tmp_path: Path) -> None:
    root, elementwise, method, owner = GENERATIONS[generation]
    files = {
        "ops/scaled.py": OPERATION.format(root=root),
        "front/mxnet/scaled_ext.py": PLAIN.format(root=root, method=method, owner=owner),
        "front/mxnet/custom_ext.py": CUSTOM.format(root=root),
        "front/mxnet/scaled_to_mul.py": REPLACEMENT.format(root=root, elementwise=elementwise),
    }
    directory = write(tmp_path / "extensions", files)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for kind, attributes, factor in (
        ("my_scaled", {"factor": "1.5", "sizes": "(2, 3)", "flag": "True"}, 7.5),
        ("Custom", {"op_type": "MyCustomOp", "sizes": "(4,)"}, 22.0),
    ):
        path = model(tmp_path, kind, attributes)
        with pytest.raises(ConversionError, match=rf"mxnet\.{kind}"):
            moir.convert_model(path)
        found = results(moir.to_openvino(moir.convert_model(path, extensions=directory)), {"x": x})
        np.testing.assert_allclose(found["y_output"], factor * (x + 1))
