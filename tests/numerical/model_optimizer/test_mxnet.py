"""Extensions for MXNet: extractors as they were written for Model Optimizer of 2019 to 2022."""

from __future__ import annotations

from pathlib import Path
from typing import Any

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
        actual = results(moir.to_openvino(moir.convert_model(path, extensions=directory)), {"x": x})
        np.testing.assert_allclose(actual["y_output"], factor * (x + 1))


FORMS = {
    "front/mxnet/forms.py": """
        import numpy as np
        from extensions.ops.elementwise import Mul
        from extensions.ops.instance_normalization import InstanceNormalization
        from extensions.ops.interpolate import Interpolate
        from extensions.ops.select import Select
        from mo.front.common.replacement import FrontReplacementOp
        from mo.front.extractor import FrontExtractorOp
        from mo.front.mxnet.extractors.utils import get_mxnet_layer_attrs, scalar_ops_replacer
        from mo.ops.const import Const
        from mo.ops.slice import MXSlice
        from mo.ops.reshape import Reshape
        from mo.ops.tile import Tile
        from extensions.ops.mxreshape import MXReshape

        def extractor(kind, operation, attributes):
            def extract(cls, node):
                operation.update_node_stat(node, attributes(get_mxnet_layer_attrs(node.symbol_dict)))
                return True
            return type(kind + 'Extractor', (FrontExtractorOp,), {'op': kind, 'enabled': True, 'extract': classmethod(extract)})

        TileExtractor = extractor('tile', Tile, lambda attrs: {'reps': attrs.tuple('reps', int, None)})
        WhereExtractor = extractor('where', Select, lambda attrs: {})
        NormExtractor = extractor('InstanceNorm', InstanceNormalization, lambda attrs: {'epsilon': attrs.float('eps', 1e-3)})
        ZerosExtractor = extractor('_zeros', Const, lambda attrs: {'value': np.zeros(attrs.tuple('shape', int, None))})
        SliceExtractor = extractor('slice', MXSlice, lambda attrs: {
            'crop_begin': np.array(attrs.tuple('begin', int, ())), 'crop_end': np.array(attrs.tuple('end', int, ())),
            'step': np.array(attrs.tuple('step', int, ()))})
        ReshapeExtractor = extractor('Reshape', MXReshape, lambda attrs: {
            'dim': np.array(attrs.tuple('shape', int, None)), 'reverse': attrs.bool('reverse', False)})
        SamplingExtractor = extractor('UpSampling', Interpolate, lambda attrs: {
            'factor': attrs.int('scale', 1), 'mode': 'nearest', 'antialias': 0, 'axes': np.array([2, 3])})

        class ScalarExtractor(FrontExtractorOp):
            op = '_plus_scalar'
            enabled = True

            @classmethod
            def extract(cls, node):
                node['scalar'] = np.array([get_mxnet_layer_attrs(node.symbol_dict).float('scalar', 1.0)], dtype=np.float32)
                return cls.enabled

        class SoftmaxAxis(FrontExtractorOp):
            op = 'softmax'
            enabled = True

            @classmethod
            def extract(cls, node):
                node['axis'] = 1 if node['axis'] == -1 else '1'
                return cls.enabled

        class Twice(FrontReplacementOp):
            op = '_mul_scalar'
            enabled = True

            def replace_op(self, graph, node):
                return [scalar_ops_replacer(graph, node, Mul).id]
    """,
}
X = np.random.default_rng(5).uniform(-2, 2, (2, 3, 4, 5)).astype(np.float32)
KINDS: dict[str, tuple[str, dict[str, str], int, Any]] = {
    "tile": ("tile", {"reps": "(1, 2, 1, 1)"}, 1, np.tile(X, (1, 2, 1, 1))),
    "where": ("where", {}, 3, X),
    "slice": ("slice", {"begin": "(0, 1)", "end": "(2, 3)", "step": "(1, 1)"}, 1, X[:, 1:3]),
    "reshape": ("Reshape", {"shape": "(-3, -2)"}, 1, X.reshape(6, 4, 5)),
    "reshape from the right": ("Reshape", {"shape": "(-1, 0, 0)", "reverse": "True"}, 1, X.reshape(6, 4, 5)),
    "upsampling": ("UpSampling", {"scale": "2", "sample_type": "nearest", "num_args": "1"}, 1, X.repeat(2, 2).repeat(2, 3)),
    "number as a list": ("_plus_scalar", {"scalar": "1.5"}, 1, X + np.float32(1.5)),
    "number as a constant": ("_mul_scalar", {"scalar": "2"}, 1, X * 2),
    "softmax": ("softmax", {"axis": "-1"}, 1, np.exp(X) / np.exp(X).sum(1, keepdims=True)),
    "softmax by a text": ("softmax", {"axis": "2"}, 1, np.exp(X) / np.exp(X).sum(1, keepdims=True)),
    "InstanceNorm": ("InstanceNorm", {"eps": "0.1"}, 1, (X - X.mean((2, 3), keepdims=True)) / np.sqrt(X.var((2, 3), keepdims=True) + 0.1)),
    "zeros": ("_zeros", {"shape": "(1, 3, 1, 1)"}, 0, X),
}


@pytest.mark.parametrize("name", KINDS)
def test_forms_that_later_transformations_replaced(name: str, tmp_path: Path) -> None:
    kind, attributes, count, expected = KINDS[name]
    operands = [[0, 0, 0]] * count + ([[1, 0, 0], [2, 0, 0]] if kind == "InstanceNorm" else [])
    nodes = [
        {"op": "null", "name": "x", "attrs": {"__shape__": str(X.shape)}, "inputs": []},
        {"op": "null", "name": "w", "inputs": []},
        {"op": "null", "name": "b", "inputs": []},
        {"op": kind, "name": "y", "attrs": attributes, "inputs": operands},
    ]
    if count == 0:
        nodes.append({"op": "broadcast_add", "name": "y", "inputs": [[0, 0, 0], [3, 0, 0]]})
        nodes[3]["name"] = "made"
    symbol = {"nodes": nodes, "arg_nodes": [0, 1, 2], "heads": [[len(nodes) - 1, 0, 0]]}
    path = write_model(tmp_path, symbol, {"w": np.ones(3, np.float32), "b": np.zeros(3, np.float32)})
    actual = results(moir.to_openvino(moir.convert_model(path, extensions=write(tmp_path / "extensions", FORMS))), {"x": X})
    np.testing.assert_allclose(actual["y_output"], expected, rtol=1e-4, atol=1e-5)
